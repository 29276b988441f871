// mercer man: manual pages, made from the same description as the help.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/version.hpp"

namespace mercer::cli {
namespace {

std::string to_upper(std::string text) {
    for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return text;
}

/// Text as troff takes it: what begins like a request is none, dashes are those of options.
std::string troff(const std::string& text) {
    std::string result;
    bool begins = true;
    for (const char c : text) {
        if (begins && (c == '.' || c == '\'')) result += "\\&";
        if (c == '\\') {
            result += "\\e";
        } else if (c == '-') {
            result += "\\-";
        } else {
            result += c;
        }
        begins = c == '\n';
    }
    return result;
}

std::string page_head(const std::string& name, const std::string& about) {
    return fmt::format(".TH {} 1 \"\" \"mercer {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                       to_upper(name), version, troff(name), troff(about));
}

/// One entry of a list: its names and value, and what it is for.
std::string option_entry(const CLI::Option& option, const Session& session) {
    const std::string value = option.get_positional() || option.get_items_expected_max() == 0
                                  ? ""
                                  : option.get_type_name();
    std::string text = ".TP\n.B " + troff(option.get_name(option.get_positional()));
    if (!value.empty()) text += "\n.I " + troff(value) + "\n.br";
    text += "\n" + troff(option.get_description()) + "\n";
    const auto words = session.choices.find(&option);
    if (words != session.choices.end()) {
        text += fmt::format(".br\nOne of: {}.\n",
                            troff(fmt::format("{}", fmt::join(words->second, ", "))));
    }
    return text;
}

std::string command_page(const CLI::App& command, const Session& session) {
    const auto prepare = session.before_help.find(&command);
    if (prepare != session.before_help.end()) prepare->second();
    const std::string name = "mercer-" + command.get_name();
    std::string text = page_head(name, command.get_description());
    text += fmt::format(".SH SYNOPSIS\n.B mercer {}\n", troff(command.get_name()));
    std::string arguments;
    std::vector<std::string> titles;
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_positional()) {
            const bool needed = option->get_required();
            text += fmt::format(".RI {}{}{}\n", needed ? "" : "[ ", troff(option->get_name(true)),
                                needed ? "" : " ]");
            arguments += option_entry(*option, session);
            continue;
        }
        if (std::ranges::find(titles, option->get_group()) == titles.end() &&
            !option->get_group().empty()) {
            titles.push_back(option->get_group());
        }
    }
    text += "[options]\n";
    if (!arguments.empty()) text += ".SH ARGUMENTS\n" + arguments;
    for (const std::string& group : titles) {
        text += fmt::format(".SH {}\n", troff(to_upper(group)));
        for (const CLI::Option* option : command.get_options()) {
            if (option->get_positional() || option->get_group() != group) continue;
            text += option_entry(*option, session);
        }
    }
    if (!command.get_footer().empty()) {
        text += ".SH EXAMPLES\n.nf\n" + troff(command.get_footer()) + "\n.fi\n";
    }
    return text + ".SH SEE ALSO\n.BR mercer (1)\n";
}

std::string program_page(const CLI::App& program) {
    std::string text = page_head("mercer", program.get_description());
    text += ".SH SYNOPSIS\n.B mercer\n.I COMMAND\n[options]\n.SH COMMANDS\n";
    for (const CLI::App* command : program.get_subcommands({})) {
        text += fmt::format(".TP\n.BR mercer\\-{} (1)\n{}\n", troff(command->get_name()),
                            troff(command->get_description()));
    }
    return text +
           ".SH EXIT STATUS\n0 success, 1 failure, 2 bad input or usage, 3 a stationary point "
           "where "
           "no\ncertificate can be had, 130 interrupted.\n"
           ".SH ENVIRONMENT\n.TP\n.B MERCER_NUM_THREADS\nthreads to use where \\-\\-threads does "
           "not say.\n";
}

void write_pages(const CLI::App& program, const Session& session, const std::string& folder) {
    std::filesystem::create_directories(folder);
    const auto write = [&](const std::string& name, const std::string& text) {
        write_whole((std::filesystem::path(folder) / (name + ".1")).string(),
                    [&](Output& out) { out.write(text); });
    };
    write("mercer", program_page(program));
    for (const CLI::App* command : program.get_subcommands({})) {
        write("mercer-" + command->get_name(), command_page(*command, session));
    }
}

}  // namespace

void add_man(CLI::App& program, Session& session) {
    CLI::App& command = add_command(program, "man", "print the manual page of a command",
                                    "  mercer man train | man -l -\n"
                                    "  mercer man --folder ~/.local/share/man/man1");
    struct Wish {
        std::string command;
        std::string folder;
    };
    const auto wish = std::make_shared<Wish>();
    command.add_option("COMMAND", wish->command, "the command [mercer itself]")->type_name("");
    only(
        session,
        command
            .add_option("--folder", wish->folder, "write all pages there, mercer-train.1 and so on")
            ->type_name("FOLDER"),
        when([wish] { return wish->command.empty(); }, "with a COMMAND",
             "it takes the pages of all commands"));
    command.callback([&program, &session, wish] {
        session.action = [&program, &session, wish] {
            if (!wish->folder.empty()) return write_pages(program, session, wish->folder);
            if (wish->command.empty()) return say("{}", program_page(program));
            for (const CLI::App* known : program.get_subcommands({})) {
                if (known->get_name() != wish->command) continue;
                return say("{}", command_page(*known, session));
            }
            std::vector<std::string> names;
            for (const CLI::App* known : program.get_subcommands({})) {
                names.push_back(known->get_name());
            }
            throw InvalidInput(fmt::format("there is no command {}{}",
                                           mercer::quoted(wish->command),
                                           suggestion(wish->command, names)));
        };
    });
}

}  // namespace mercer::cli
