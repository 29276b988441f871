// Runs the real program and looks at what came out.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mercer::test {

using Words = std::vector<std::string>;
using nlohmann::json;

struct Outcome {
    int code = -1;  ///< exit code, or 128 + signal
    std::string out;
    std::string err;
};

/// A folder that disappears with its owner.
class Folder {
   public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string path(const std::string& name) const { return path_ + "/" + name; }
    /// Writes a file and returns its path.
    std::string file(const std::string& name, const std::string& content) const;
    /// Names of what is in the folder, sorted.
    std::vector<std::string> names() const;

   private:
    std::string path_;
};

std::string content_of(const std::string& path);

/// Runs `mercer` with these words; `input` is its standard input.
Outcome run(const std::vector<std::string>& words, const std::string& input = "");

/// What it says with --json; expects this exit code.
json json_of(Words words, int code = 0);
json json_of(Words words, const std::string& input);

/// The text has that part.
bool has(const std::string& text, const std::string& part);
Words lines_of(const std::string& text);

/// Runs it in a folder of its own.
Outcome run_in(const std::string& folder, const std::vector<std::string>& words);

/// The same with standard output going to a file such as /dev/full.
Outcome run_into(const std::string& output, const std::vector<std::string>& words);

/// Runs it with a standard input that never ends, sends the signal a moment after it has begun to
/// listen, and waits.
Outcome run_and_signal(const std::vector<std::string>& words, int signal, int milliseconds = 300);

/// Runs any program by its path.
Outcome run_program(const std::string& program, const std::vector<std::string>& words,
                    const std::string& input = "");

}  // namespace mercer::test
