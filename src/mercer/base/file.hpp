// Files out: whole or not at all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// Where bytes go. Buffered; throws when the bytes cannot be taken.
class Output {
   public:
    virtual ~Output() = default;
    virtual void write(std::string_view bytes) = 0;

   protected:
    Output() = default;
    Output(const Output&) = default;
    Output& operator=(const Output&) = default;
};

/// Calls `writer` and puts what it writes into the file `path`. The bytes go to a file of its own
/// in the same folder, which takes the place of `path` only when all is written and the disk has
/// it: an old file stays as it was when the writer throws, the disk is full or the power fails. A
/// suffix .gz, .bz2, .xz or .zst compresses.
/// "-" is standard output, and what is no regular file (a pipe, a device) is written to directly.
///
/// Throws InvalidInput when the place cannot be written to, std::runtime_error when writing fails.
void write_whole(const std::string& path, const std::function<void(Output&)>& writer);

/// Files that belong together. While one lives, what this thread writes by write_whole waits beside
/// its place; keep() puts all of it there, and where one file cannot be, none is. (Only a kill or a
/// loss of power between two names, microseconds apart, can part them.)
///
///     FilesTogether files;
///     write_whole("rows.txt", [](Output& out) { out.write("1 2\n3 4\n"); });
///     write_whole("labels.txt", [](Output& out) { out.write("a\nb\n"); });
///     files.keep();
class FilesTogether {
   public:
    /// One made while another lives joins that one, whose keep() counts; `apart` does not.
    enum class Nested { join, apart };
    explicit FilesTogether(Nested nested = Nested::join);
    FilesTogether(const FilesTogether&) = delete;
    FilesTogether& operator=(const FilesTogether&) = delete;
    ~FilesTogether();

    void keep();

   private:
    friend void write_whole(const std::string&, const std::function<void(Output&)>&);
    struct Waiting;
    std::unique_ptr<Waiting> waiting_{};
    FilesTogether* outer_;
};

/// Adds lines at the end of a file, which is made if it is not there: all of them or, when the disk
/// is full, none. The disk has them when this returns. Throws std::runtime_error.
void append_lines(const std::string& path, std::string_view lines);

}  // namespace mercer
