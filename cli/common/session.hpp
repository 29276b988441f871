// What all commands share: the general options, the choice lists that help and completion show,
// reading of input, and the line of progress.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/common/uses.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/scaling.hpp"

namespace mercer::cli {

/// How the program ends; 0 is success, and a command adds its own (model_output.hpp).
constexpr int exit_failure = 1;
constexpr int exit_bad_input = 2;
constexpr int exit_interrupted = 130;  // as shells count a program ended by Ctrl-C

/// What a file on the command line is for. All but the first are outputs; a journal is read and
/// gone on with, a column is a file of labels or weights, or the word none.
enum class FileUse { input, model, picture, data, journal, column };

/// One run of the program. Commands put what they will do into `action`; main runs it once the
/// whole command line has been understood.
struct Session {
    std::size_t threads = 0;
    std::size_t memory_limit = 0;  ///< MiB for reading; 0: the library's own
    bool json = false;
    bool quiet = false;
    std::function<void()> action;
    int exit_code = 0;  ///< of an action that has something to say by it
    /// Values that completion offers, by option.
    std::map<const CLI::Option*, std::vector<std::string>> choices;
    std::vector<Use> uses;              ///< what options need to have an effect
    const CLI::App* command = nullptr;  ///< the one that was parsed
    /// Options that name files, all of which cli/common/files.hpp looks at.
    std::map<const CLI::Option*, FileUse> files;
    /// What is written beside the file that an option names; empty when nothing is.
    std::map<const CLI::Option*, std::function<std::string()>> beside;
    /// What a command does to its options before they are explained, once it was parsed.
    std::map<const CLI::App*, std::function<void()>> before_help;
};

/// A command. `examples` are lines shown under its help.
CLI::App& add_command(CLI::App& program, const std::string& name, const std::string& about,
                      const std::string& examples);

/// --threads, --memory-limit, --json, --quiet and --help, which main adds to every command after
/// its own.
void add_general_options(CLI::App& command, Session& session);

/// An option that takes a whole number from `low` to `high`.
CLI::Option* add_count(CLI::App& command, const std::string& names, std::size_t& out,
                       std::size_t low, std::size_t high, const std::string& about);

/// MiB for kernel values unless --memory says otherwise: 1024, and no more than a quarter of what
/// this process may have.
std::size_t usual_memory();

/// --seed, which any whole number from 0 to 2⁶⁴ − 1 can be.
CLI::Option* add_seed(CLI::App& command, std::uint64_t& out, const std::string& about);

/// What options that count must be: CLI11 would take -1 for 2⁶⁴ − 1.
CLI::Validator whole_number();

/// ". Did you mean 'train'?", for a word that is none of these; empty where nothing is near.
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates);

/// Every spelling of every option of a command: "--cost", "-C".
std::vector<std::string> option_names(const CLI::App& command);

/// A message of the library in the words of the command line: its `probability=true` is
/// --probability here, and `task=one-class` is --task one-class.
std::string in_flags(const std::string& message);

/// An option that takes one of these words; `out` keeps its value when the option is not given.
CLI::Option* add_choice(CLI::App& command, Session& session, const std::string& names,
                        std::string& out, std::vector<std::string> words, const std::string& about);

/// What --format, or --to, may say, "auto" first; and what that is to the library.
std::vector<std::string> format_words(FormatUse use);
std::string format_word(const std::string& word);

/// An option that names a file, or files where `out` is a list.
template <class Value>
CLI::Option* add_file(CLI::App& command, Session& session, const std::string& names, Value& out,
                      FileUse use, const std::string& about) {
    CLI::Option* const option = command.add_option(names, out, about);
    option->type_name(names[0] == '-' ? "FILE" : "");
    session.files[option] = use;
    return option;
}

/// The options of reading, as they stand on a command line.
struct InputOptions {
    std::string path;
    std::string format = "auto";
    std::string header = "auto";
    std::string missing = "refuse";
    std::string form = "auto";
    std::vector<std::string> kinds{};  ///< NAME=KIND, of columns of a table
    std::string id{};                  ///< columns that only tell rows apart
    ReadOptions read;
    std::vector<CLI::Option*> options{};  ///< those of reading, without the path
};

/// Adds the positional INPUT and the options of reading.
std::shared_ptr<InputOptions> add_input(CLI::App& command, Session& session,
                                        const std::string& about =
                                            "data file; - is standard "
                                            "input, @digits and @iris are "
                                            "built in");
/// The options of reading alone, for a command whose input is named by an option.
void add_reading_options(CLI::App& command, Session& session, InputOptions& input);

Dataset read_input(const InputOptions& input, const Session& session);
/// "in memory", "left in their file" or "in a temporary file in …", and why: rows that take more
/// than so many MiB are not held.
std::string held_text(const Rows& rows, std::size_t mebibytes, const std::string& spool);
/// The folder of that file, for commands that go over rows they do not hold.
CLI::Option* add_spool(CLI::App& command, InputOptions& input);
/// The options for a file beside the input, which may be in another format.
InputOptions for_file(InputOptions input, const std::string& path);
/// One of two files whose rows belong together. It has no labels unless --label names their column.
Dataset read_side(const InputOptions& input, const std::string& path, const Session& session);
/// Another file with the same options, its columns matched with those of the data read before.
Dataset read_another(const std::string& path, const Dataset& like, const InputOptions& input,
                     const Session& session);

/// The rows scaled. Says so on standard error when sparse rows had to become dense: a small file
/// may turn into a large one.
Rows apply_scaling(const Scaling& scaling, const Rows& rows, const Session& session);

/// Draws one line on standard error while work goes on; empty when that is no terminal or the user
/// wants quiet.
Progress progress_line(const Session& session);
/// Wipes that line, if one is there.
void clear_progress_line();

}  // namespace mercer::cli
