// The program `mercer`. Exit codes: 0 success, 1 failure, 2 bad input or usage, 130 interrupted.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/libsvm.hpp"
#include "cli/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/version.hpp"

namespace mercer::cli {
namespace {

constexpr int exit_failure = 1;
constexpr int exit_bad_input = 2;
constexpr int exit_interrupted = 130;

int complain(int code, std::string_view message) {
    clear_progress_line();
    fmt::print(stderr, "mercer: error: {}\n", message);
    return code;
}

void describe(CLI::App& program, Session& session) {
    program.description("Kernel machines: data, kernels, training with certificates.");
    program.set_version_flag("--version", fmt::format("mercer {}", version),
                             "print the version and exit");
    program.require_subcommand(1);
    program.footer(
        "'mercer COMMAND --help' explains a command. Exit codes: 0 success, 1 failure,\n"
        "2 bad input or usage, 130 interrupted.");
    program.get_formatter()->column_width(28);
    add_info(program, session);
    add_convert(program, session);
    add_scale(program, session);
    add_make(program, session);
    add_kernel(program, session);
    add_gram(program, session);
    add_map(program, session);
    add_split(program, session);
    add_train(program, session);
    add_tune(program, session);
    add_predict(program, session);
    add_transform(program, session);
    add_denoise(program, session);
    add_superres(program, session);
    add_cca(program, session);
    add_ica(program, session);
    add_depend(program, session);
    add_answer(program, session);
    add_show(program, session);
    add_verify(program, session);
    add_reduce(program, session);
    add_cascade(program, session);
    add_vq(program, session);
    add_virtual(program, session);
    add_tangent(program, session);
    add_detect(program, session);
    add_bounds(program, session);
    add_structure(program, session);
    add_align(program, session);
    add_calibrate(program, session);
    add_conformal(program, session);
    add_equivalent(program, session);
    add_features(program, session);
    add_query(program, session);
    add_spread(program, session);
    add_multilabel(program, session);
    add_completion(program, session);
    for (CLI::App* command : program.get_subcommands({})) add_general_options(*command, session);
    add_libsvm_programs(program);
    program.set_help_flag("-h,--help", "print this help and exit");
}

/// The first word is a command, or one of the program's own options; anything else deserves better
/// than the parser's "a subcommand is required".
void check_first_word(const CLI::App& program, const std::vector<std::string>& words) {
    std::vector<std::string> names;
    for (const CLI::App* command : program.get_subcommands({})) {
        names.push_back(command->get_name());
    }
    const std::string choices = fmt::format("the commands are {}", fmt::join(names, ", "));
    if (words.empty()) throw InvalidInput("no command given; " + choices + ". Try 'mercer --help'");
    const std::string& word = words[0];
    for (const CLI::Option* option : program.get_options()) {
        if (option->check_name(word)) return;
    }
    if (std::find(names.begin(), names.end(), word) != names.end()) return;
    const auto near = nearest_word(word, names);
    throw InvalidInput(fmt::format("there is no {} {}; {}{}", word[0] == '-' ? "option" : "command",
                                   mercer::quoted(word), choices,
                                   near ? fmt::format(". Did you mean '{}'?", *near) : ""));
}

int run(std::vector<std::string> words) {
    CLI::App program;
    program.name("mercer");
    Session session;
    describe(program, session);
    // "mercer help info" is what many people type first.
    if (!words.empty() && words[0] == "help") {
        words.erase(words.begin());
        words.emplace_back("--help");
    }
    check_first_word(program, words);
    try {
        std::vector<std::string> reversed(words.rbegin(), words.rend());
        program.parse(std::move(reversed));
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
        std::string place = "mercer";
        for (const CLI::App* command : program.get_subcommands())
            place += ' ' + command->get_name();
        return complain(exit_bad_input, fmt::format("{}\nTry '{} --help'.", error.what(), place));
    }
    for (const CLI::App* command : program.get_subcommands()) {
        check_files(files_named(*command, session));
    }
    set_threads(session.threads);
    session.action();
    clear_progress_line();
    finish_standard_output();
    return session.exit_code;
}

}  // namespace
}  // namespace mercer::cli

int main(int argc, char** argv) {
    using namespace mercer::cli;
    install_interrupt_handler();
    // OpenBLAS starts a thread for each processor as it is loaded, and those look for work at full
    // speed for 20 ms, just when ours have some. Told of one processor it starts none; those that
    // the library asks for come later. What the user has set stands.
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    try {
        std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
        std::string program = argc > 0 ? libsvm_program(argv[0]) : "";
        if (program.empty() && !words.empty() && words[0] == libsvm_program(words[0])) {
            program = words[0];
            words.erase(words.begin());
        }
        return program.empty() ? run(std::move(words)) : run_libsvm_program(program, words);
    } catch (const mercer::InvalidInput& error) {
        return complain(exit_bad_input, error.what());
    } catch (const mercer::Cancelled&) {
        return complain(exit_interrupted, "interrupted");
    } catch (const std::bad_alloc&) {
        return complain(exit_failure, "out of memory");
    } catch (const std::exception& error) {
        return complain(exit_failure, error.what());
    }
}
