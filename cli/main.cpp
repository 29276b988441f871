// The program `mercer`. Exit codes: 0 success, 1 failure, 2 bad input or usage, 130 interrupted.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/failure.hpp"
#include "cli/common/files.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/output.hpp"
#include "cli/common/ranks.hpp"
#include "cli/common/tell.hpp"
#include "cli/libsvm/libsvm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/source.hpp"
#include "mercer/version.hpp"

namespace mercer::cli {
namespace {

int complain(int code, std::string_view message) {
    clear_progress_line();
    tell("mercer: error: {}\n", message);
    return code;
}

/// The commands as 'mercer --help' lists them, by what people want to do.
struct Group {
    const char* title;
    std::vector<void (*)(CLI::App&, Session&)> commands;
};
const std::vector<Group> groups{
    {"Look at data and prepare it",
     {add_info, add_convert, add_scale, add_make, add_split, add_virtual, add_tangent}},
    {"Choose a kernel", {add_kernel, add_gram, add_map, add_align}},
    {"Learn, predict and judge",
     {add_learn, add_train, add_plan, add_tune, add_predict, add_judge, add_compare, add_show,
      add_plot, add_studio, add_verify, add_export, add_reduce, add_cascade, add_detect,
      add_multilabel}},
    {"Know how far to trust it",
     {add_calibrate, add_conformal, add_bounds, add_margin, add_structure, add_equivalent,
      add_features, add_query, add_spread}},
    {"Find structure",
     {add_transform, add_denoise, add_superres, add_cca, add_ica, add_depend, add_answer, add_vq}},
    // Named in one line at the end of the list.
    {"", {add_completion, add_man}},
};

/// The list of commands, on one screen.
std::string overview(const CLI::App& program) {
    std::string text =
        fmt::format("{}\nUsage: mercer COMMAND [OPTIONS]\n", program.get_description());
    for (const Group& group : groups) {
        if (*group.title == '\0') continue;
        text += fmt::format("\n{}:\n", group.title);
        for (const CLI::App* command : program.get_subcommands({})) {
            if (command->get_group() != group.title) continue;
            text += fmt::format("  {:<12}{}\n", command->get_name(), command->get_description());
        }
    }
    return text + "\n" + program.get_footer() + "\n";
}

void describe(CLI::App& program, Session& session) {
    program.description("Kernel machines: data, kernels, training with certificates.");
    program.set_version_flag("--version", fmt::format("mercer {}", version),
                             "print the version and exit");
    program.require_subcommand(1);
    program.footer(
        "'mercer COMMAND --help' explains a command; --version, completion and man are for "
        "shells,\n"
        "svm-train, svm-predict and svm-scale stand in for LIBSVM's. Exit codes: 0 success,\n"
        "1 failure, 2 bad input or usage, 130 interrupted.");
    program.get_formatter()->column_width(28);
    for (const Group& group : groups) {
        for (const auto add : group.commands) {
            const std::size_t before = program.get_subcommands({}).size();
            add(program, session);
            program.get_subcommands({})[before]->group(group.title);
        }
    }
    for (CLI::App* command : program.get_subcommands({})) add_general_options(*command, session);
    add_libsvm_programs(program);
    program.set_help_flag("-h,--help", "print this help and exit");
}

/// The first word is a command, or one of the program's own options; anything else deserves better
/// than the parser's "a subcommand is required".
void check_first_word(const CLI::App& program, const std::string& word) {
    for (const CLI::Option* option : program.get_options()) {
        if (option->check_name(word)) return;
    }
    std::vector<std::string> names;
    for (const CLI::App* command : program.get_subcommands({})) {
        names.push_back(command->get_name());
        if (names.back() == word) return;
    }
    throw InvalidInput(fmt::format("there is no {} {}{} ('mercer --help' lists the commands)",
                                   word[0] == '-' ? "option" : "command", mercer::quoted(word),
                                   suggestion(word, names)));
}

/// The parser's complaint; in our words where it can say more.
std::string complaint(const CLI::ParseError& error, const CLI::App& command) {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what();
    for (const std::string& word : command.remaining()) {
        if (!word.starts_with('-') || word == "-" || mercer::parse_number(word)) continue;
        const std::string name = word.substr(0, word.find('='));
        return fmt::format("there is no option {}{}", mercer::quoted(name),
                           suggestion(name, option_names(command)));
    }
    return error.what();
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
    if (words.empty()) {
        say("{}", overview(program));
        return exit_bad_input;
    }
    check_first_word(program, words[0]);
    try {
        std::vector<std::string> reversed(words.rbegin(), words.rend());
        program.parse(std::move(reversed));
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {  // --help, --version
            for (const CLI::App* command : program.get_subcommands()) {
                const auto prepare = session.before_help.find(command);
                if (prepare != session.before_help.end()) prepare->second();
            }
            const bool whole = program.get_subcommands().empty();
            if (!whole || dynamic_cast<const CLI::CallForHelp*>(&error) == nullptr) {
                return program.exit(error);
            }
            say("{}", overview(program));
            return 0;
        }
        const CLI::App& command =
            program.get_subcommands().empty() ? program : *program.get_subcommands()[0];
        const std::string place = &command == &program ? "mercer" : "mercer " + command.get_name();
        return complain(exit_bad_input,
                        fmt::format("{}\nTry '{} --help'.", complaint(error, command), place));
    }
    session.command = program.get_subcommands()[0];
    if (session.command->get_name() != "train") {
        require_one_rank("mercer " + session.command->get_name());
    }
    check_files(files_named(*session.command, session));
    check_uses(session.uses);
    set_threads(session.threads);
    set_memory_limit(session.memory_limit << 20);
    session.action();
    clear_progress_line();
    finish_standard_output();
    return session.exit_code;
}

}  // namespace
}  // namespace mercer::cli

int main(int argc, char** argv) {
    using namespace mercer::cli;
    open_standard_streams();
    install_interrupt_handler();
    // OpenBLAS starts a thread for each processor as it is loaded, and those look for work at full
    // speed for 20 ms, just when ours have some. Told of one processor it starts none; those that
    // the library asks for come later. What the user has set stands.
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    const auto work = [&] {
        std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
        std::string program = argc > 0 ? libsvm_program(argv[0]) : "";
        if (program.empty() && !words.empty() && words[0] == libsvm_program(words[0])) {
            program = words[0];
            words.erase(words.begin());
        }
        if (program.empty()) return run(std::move(words));
        require_one_rank(program);
        return run_libsvm_program(program, words);
    };
    return run_on_all_ranks(
        work, [](const Complaint& found) { return complain(found.code, found.message); });
}
