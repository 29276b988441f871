// Data formats: all that is known of one stands in one entry, in the file of that format. The words
// of `--format` and of Python, detection, messages that list formats and the table in the documents
// are read from the entries (docs/formats.md says how to add one).
//
//     for (const Format* format : all_formats()) format->name;
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/write.hpp"

namespace mercer MERCER_API {

class Output;
class PlainFile;

namespace formats {

class TextWindows;

/// What a reader is given. Text has no byte order mark and ends with a newline, so that scanning
/// needs no other check; of a folder there are no bytes.
struct Input {
    std::string_view bytes;
    const std::string& name;  ///< for messages
    const ReadOptions& options;
    std::string path{};  ///< for what lies beside the file, or in the folder; may be empty
    std::size_t lines_before = 0;  ///< of the text, where the bytes are a part of it

    const char* begin() const { return bytes.data(); }
    const char* end() const { return bytes.data() + bytes.size(); }
};

}  // namespace formats

/// How sure a format is that a file is written in it.
enum class Certainty {
    none,
    possible,  ///< nothing speaks against it
    likely,    ///< a line is as this format has them
    certain,   ///< the file says so
};

/// The file belongs to the format that is the surest, then to the one told by the earliest line,
/// then to the first in the list.
struct Match {
    Certainty certainty = Certainty::none;
    std::size_t line = 0;
};

/// Which of those ReadOptions have an effect that do not have one in every format. The others of
/// them are refused. `header` and `first_index` count for writing too.
struct OptionUses {
    bool label = false;        ///< a column of the file; "none" has a meaning everywhere
    bool text_labels = false;  ///< as has this for labels from a file of their own
    bool header = false;
    bool missing = false;
    bool weight_column = false;
    bool text_columns = false;
    bool leave_out = false;
    bool first_index = false;
};

/// What of a data set a written file keeps.
struct Keeps {
    bool labels = true;
    bool weights = true;
    bool class_names = true;  ///< else their positions: 0, 1, …
    bool texts = false;       ///< columns of texts; else rows that have them are refused
    bool graphs = false;
    bool nodes = false;  ///< of one graph
};

struct Format {
    enum class Kind { text, bytes, folder };

    std::string name;   ///< "csv": the word for it
    std::string title;  ///< "CSV": as messages list it
    std::string about;  ///< one line; of a format without reader what a message says was found
    std::vector<std::string> suffixes{};  ///< of names it is written to, compressed or not
    Kind kind = Kind::text;

    /// Binary files are shown to the formats of bytes first, and the others to those of text. A
    /// format that is only recognised is one to be refused, with the advice that is its remedy.
    Match (*recognise)(const formats::Input& input) = nullptr;
    std::string remedy{};

    Dataset (*read)(const formats::Input& input) = nullptr;
    /// From a large file whose text need not be in memory all at once; the input has its beginning.
    /// Nothing when there is a mistake in it: then `read` says where.
    std::optional<Dataset> (*read_pieces)(const formats::Input& input,
                                          const PlainFile& file) = nullptr;
    /// From text of any length, which need not be in memory, nor the rows
    /// (ReadOptions::most_bytes). Nothing when that cannot be done with these options: then `read`
    /// is asked.
    std::optional<Dataset> (*read_windows)(formats::TextWindows& windows) = nullptr;
    /// Labels or weights alone. Text need not say: one a line is its way.
    Labels (*read_labels)(const formats::Input& input) = nullptr;
    OptionUses uses{};
    /// Rows list what is not zero, so that a file may be narrower than those before it.
    bool any_width = false;

    void (*write)(const Dataset& data, const std::string& path, const WriteOptions& options,
                  Output& output) = nullptr;
    /// Of a format that is a folder, in the place of `write`: its files, into a folder that is
    /// there and empty, and will be called `name` when all are written.
    void (*write_files)(const Dataset& data, const std::string& name,
                        const std::string& folder) = nullptr;
    bool can_be_written() const { return write != nullptr || write_files != nullptr; }
    /// Rows that are made one block after another, where the format lets them.
    void (*write_blocks)(const RowBlocks& blocks, const WriteOptions& options,
                         Output& output) = nullptr;
    void (*write_labels)(const Labels& labels, Output& output) = nullptr;
    Keeps keeps{};
    /// Where labels lie that belong to a file of this name; empty when the name does not say.
    std::string (*labels_beside)(const std::string& path) = nullptr;
};

/// All formats. The first that can be written is written where nothing tells another.
const std::vector<const Format*>& all_formats();

/// One more. Not while another thread reads or writes data. Throws InvalidInput when there is one
/// of this name, or when it can neither be recognised nor be read nor be written.
void add_format(Format format);
/// Takes one away again; nothing happens when there is none of this name.
void remove_format(std::string_view name);

enum class FormatUse { reading, writing };

/// The words for the formats that can be read, or written.
std::vector<std::string> format_names(FormatUse use);

/// The format of this name. Throws InvalidInput when there is none that can be used so.
const Format& find_format(std::string_view name, FormatUse use);

/// "a, b or c": the formats for which `holds`, by name, or by title.
std::string listed_formats(const std::function<bool(const Format&)>& holds,
                           std::string Format::*text = &Format::name);

/// The format whose files are named like this, or nullptr.
const Format* format_of_name(const std::string& path);

/// The format in which a file of this name will be written.
const Format& written_format(const std::string& path, const WriteOptions& options = {});

}  // namespace mercer
