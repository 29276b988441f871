// The program `mercer`. Exit codes: 0 success, 1 failure, 2 bad input or usage, 130 interrupted.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
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

/// A command by the name that it gives itself, so that it need not be described to be found.
struct Command {
    std::string_view name;
    void (*add)(CLI::App&, Session&);
};
/// The commands as 'mercer --help' lists them, by what people want to do.
struct Group {
    const char* title;
    std::vector<Command> commands;
};
#define MERCER_COMMAND(name) \
    { #name, add_##name }
const std::vector<Group> groups{
    {"Look at data and prepare it",
     {MERCER_COMMAND(info), MERCER_COMMAND(convert), MERCER_COMMAND(scale), MERCER_COMMAND(make),
      MERCER_COMMAND(split), MERCER_COMMAND(virtual), MERCER_COMMAND(tangent)}},
    {"Choose a kernel",
     {MERCER_COMMAND(kernel), MERCER_COMMAND(gram), MERCER_COMMAND(map), MERCER_COMMAND(align)}},
    {"Learn, predict and judge",
     {MERCER_COMMAND(learn), MERCER_COMMAND(train), MERCER_COMMAND(plan), MERCER_COMMAND(tune),
      MERCER_COMMAND(predict), MERCER_COMMAND(judge), MERCER_COMMAND(compare), MERCER_COMMAND(show),
      MERCER_COMMAND(plot), MERCER_COMMAND(studio), MERCER_COMMAND(verify), MERCER_COMMAND(export),
      MERCER_COMMAND(reduce), MERCER_COMMAND(cascade), MERCER_COMMAND(detect),
      MERCER_COMMAND(multilabel)}},
    {"Know how far to trust it",
     {MERCER_COMMAND(calibrate),
      MERCER_COMMAND(conformal),
      MERCER_COMMAND(bounds),
      MERCER_COMMAND(margin),
      {"srm", add_structure},
      MERCER_COMMAND(equivalent),
      MERCER_COMMAND(features),
      MERCER_COMMAND(query),
      MERCER_COMMAND(spread)}},
    {"Find structure",
     {MERCER_COMMAND(transform), MERCER_COMMAND(denoise), MERCER_COMMAND(superres),
      MERCER_COMMAND(cca), MERCER_COMMAND(ica), MERCER_COMMAND(depend), MERCER_COMMAND(answer),
      MERCER_COMMAND(vq)}},
    // Named in one line at the end of the list.
    {"", {MERCER_COMMAND(completion), MERCER_COMMAND(man)}},
};
#undef MERCER_COMMAND

/// Whether one command is all that these words need, which is described in a fifth of the time of
/// all; completion and man speak of the others.
bool needs_one_command(const std::vector<std::string>& words) {
    if (words.empty()) return false;
    if (words[0] == "--version") return true;  // or none
    return std::ranges::any_of(groups, [&](const Group& group) {
        return *group.title != '\0' &&
               std::ranges::find(group.commands, words[0], &Command::name) != group.commands.end();
    });
}

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

/// Describes the command of that name, or all when there is no name, to the parser.
void describe(CLI::App& program, Session& session, const std::optional<std::string>& name) {
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
        for (const Command& command : group.commands) {
            if (name && *name != command.name) continue;
            const std::size_t before = program.get_subcommands({}).size();
            command.add(program, session);
            CLI::App& added = *program.get_subcommands({})[before];
            if (added.get_name() != command.name) {
                throw std::logic_error("the list of commands says " + std::string(command.name) +
                                       " where the command is called " + added.get_name());
            }
            added.group(group.title);
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
    // "mercer help info" is what many people type first.
    if (!words.empty() && words[0] == "help") {
        words.erase(words.begin());
        words.emplace_back("--help");
    }
    describe(program, session, needs_one_command(words) ? std::optional(words[0]) : std::nullopt);
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
    const std::string name = session.command->get_name();
    if (!shared_by_ranks(name)) require_one_rank("mercer " + name);
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
