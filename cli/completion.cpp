// mercer completion: a script for the shell, made from the description of the commands itself.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"

namespace mercer::cli {
namespace {

/// "--format", "-q --quiet": the spellings of an option.
std::string spellings(const CLI::Option& option) {
    std::string text;
    for (const std::string& name : option.get_snames()) text += " -" + name;
    for (const std::string& name : option.get_lnames()) text += " --" + name;
    return text.empty() ? text : text.substr(1);
}

std::string pattern(std::string words) {
    for (std::size_t at = 0; (at = words.find(' ', at)) != std::string::npos; ++at) words[at] = '|';
    return words;
}

/// The part of the script for one command.
std::string command_case(const CLI::App& command, const Session& session) {
    std::string values;
    std::string options;
    std::string files;
    for (const CLI::Option* option : command.get_options()) {
        const std::string names = spellings(*option);
        if (names.empty()) {
            // A positional argument with a list of words.
            const auto words = session.choices.find(option);
            if (words != session.choices.end()) {
                options += fmt::format(" {}", fmt::join(words->second, " "));
            }
            continue;
        }
        options += " " + names;
        const auto words = session.choices.find(option);
        if (words != session.choices.end()) {
            values += fmt::format("                {}) words=\"{}\" ;;\n", pattern(names),
                                  fmt::join(words->second, " "));
        } else if (option->get_items_expected_max() > 0) {
            files += (files.empty() ? "" : "|") + pattern(names);
        }
    }
    if (!files.empty()) values += fmt::format("                {}) words= ;;\n", files);
    return fmt::format(
        "        {})\n            words=\"{} @digits @iris\"\n            case $previous in\n{}"
        "            esac\n            ;;\n",
        command.get_name(), options.empty() ? options : options.substr(1), values);
}

std::string bash_script(const CLI::App& program, const Session& session) {
    std::string names;
    std::string cases;
    for (const CLI::App* command : program.get_subcommands({})) {
        names += command->get_name() + " ";
        cases += command_case(*command, session);
    }
    return fmt::format(R"(# bash completion for mercer; made by 'mercer completion bash'
_mercer() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{}--help --version" -- "$current"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{}    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [[ $current != -* ]]; then
        COMPREPLY+=($(compgen -f -- "$current"))
        compopt -o filenames 2>/dev/null
    fi
}}
complete -F _mercer mercer
)",
                       names, cases);
}

}  // namespace

void add_completion(CLI::App& program, Session& session) {
    CLI::App& command =
        add_command(program, "completion", "print a script that completes commands in a shell",
                    "  source <(mercer completion bash)\n"
                    "  mercer completion bash > "
                    "~/.local/share/bash-completion/completions/mercer");
    const auto shell = std::make_shared<std::string>("bash");
    add_choice(command, session, "SHELL", *shell, {"bash"}, "the shell")->required();
    // The parser writes into *shell: it has to live as long as the command.
    command.callback([&program, &session, shell] {
        session.action = [&program, &session] { say("{}", bash_script(program, session)); };
    });
}

}  // namespace mercer::cli
