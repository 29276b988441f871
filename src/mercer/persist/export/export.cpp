#include <algorithm>
#include <cctype>

#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/persist/export/detail/formats.hpp"

namespace mercer {
namespace {

std::string libsvm_text(const Model& model, const ExportSettings&) {
    return export_libsvm_to_memory(model);
}

std::string names_of_formats() {
    std::string names;
    for (const ExportFormat& format : export_formats()) {
        names += (names.empty() ? "" : ", ") + format.name;
    }
    return names;
}

const ExportFormat& format_for(const std::string& path, const std::string& name) {
    for (const ExportFormat& format : export_formats()) {
        if (name.empty() ? path.ends_with(format.ending) : name == format.name) return format;
    }
    if (!name.empty()) {
        throw InvalidInput("there is no format " + quoted(name) + " to export to; there are " +
                           names_of_formats());
    }
    std::string endings;
    for (const ExportFormat& format : export_formats()) {
        endings += (endings.empty() ? "" : ", ") + format.ending + " (" + format.name + ")";
    }
    throw InvalidInput("what " + quoted(path) +
                       " is to be cannot be told from its name, which ends with none of " +
                       endings + "; name the format");
}

/// Also a name in C, which knows some words of its own.
void check_name(const std::string& name) {
    static const char* const taken[] = {
        "auto",    "break",  "case",     "char",   "const",    "continue", "default",
        "do",      "double", "else",     "enum",   "extern",   "float",    "for",
        "goto",    "if",     "inline",   "int",    "long",     "register", "restrict",
        "return",  "short",  "signed",   "sizeof", "static",   "struct",   "switch",
        "typedef", "union",  "unsigned", "void",   "volatile", "while",    "main"};
    const bool letters = std::ranges::all_of(
        name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    const bool begins = !name.empty() && name[0] >= 'a' && name[0] <= 'z';
    if (letters && begins && std::ranges::find(taken, name) == std::end(taken)) return;
    throw InvalidInput(
        "the name of an exported model is a word of a-z, 0-9 and _ that begins with "
        "a letter and means nothing in C, found " +
        quoted(name));
}

}  // namespace

const std::vector<ExportFormat>& export_formats() {
    static const std::vector<ExportFormat> formats{
        {"onnx", ".onnx", "a graph of standard operators, for onnxruntime and others", true,
         exports::onnx_bytes},
        {"c", ".c", "one file of C99 without malloc, which tests itself", true, exports::c_source},
        {"libsvm", ".model", "LIBSVM's model file, for its four kernels", false, libsvm_text}};
    return formats;
}

std::string export_to_memory(const Model& model, const ExportSettings& settings) {
    check_name(settings.name);
    return format_for("", settings.format).write(model, settings);
}

void export_model(const Model& model, const std::string& path, const ExportSettings& settings) {
    check_name(settings.name);
    const std::string bytes = format_for(path, settings.format).write(model, settings);
    write_whole(path, [&](Output& out) { out.write(bytes); });
}

}  // namespace mercer
