// Formats that are recognised so that a message can say what was found, and the way out.
#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {
namespace {

Match certain_if(bool so) {
    return {.certainty = so ? Certainty::certain : Certainty::none};
}

/// A file that another program keeps tables in.
Format refused(const char* name, const char* title, const char* about, const char* remedy,
               Match (*recognise)(const Input& input)) {
    return {.name = name,
            .title = title,
            .about = about,
            .kind = Format::Kind::bytes,
            .recognise = recognise,
            .remedy = remedy};
}

constexpr const char* save_sheet = "save the sheet as CSV in the program that made it";
/// What a zip archive begins with names its first member.
bool zip_holds(const Input& input, std::string_view member) {
    return input.bytes.starts_with("PK\x03\x04") &&
           input.bytes.substr(0, 4096).find(member) != std::string_view::npos;
}

}  // namespace

Format workbook() {
    return refused("xlsx", "Excel", "an Excel workbook (xlsx)", save_sheet, [](const Input& input) {
        return certain_if(zip_holds(input, "[Content_Types].xml") || zip_holds(input, "xl/"));
    });
}

Format opendocument() {
    return refused("ods", "OpenDocument", "an OpenDocument spreadsheet (ods)", save_sheet,
                   [](const Input& input) {
                       return certain_if(zip_holds(input, "application/vnd.oasis.opendocument"));
                   });
}

Format excel() {
    return refused(
        "xls", "old Excel", "an old Excel workbook (xls)", save_sheet,
        [](const Input& input) { return certain_if(input.bytes.starts_with("\xD0\xCF\x11\xE0")); });
}

Format arrow() {
    return refused(
        "arrow", "Arrow", "an Arrow or Feather file",
        "write it as CSV: python3 -c \"import pandas; "
        "pandas.read_feather('FILE').to_csv('FILE.csv', index=False)\"",
        [](const Input& input) {
            return certain_if(input.bytes.starts_with("ARROW1") || input.bytes.starts_with("FEA1"));
        });
}

Format sqlite() {
    return refused(
        "sqlite", "SQLite", "an SQLite database",
        "write a table as CSV: sqlite3 -header -csv FILE 'select * from TABLE'",
        [](const Input& input) { return certain_if(input.bytes.starts_with("SQLite format 3")); });
}

Format hdf5() {
    return refused(
        "hdf5", "HDF5", "an HDF5 file", "write its array with numpy.save, or its table as CSV",
        [](const Input& input) { return certain_if(input.bytes.starts_with("\x89HDF")); });
}

}  // namespace mercer::formats
