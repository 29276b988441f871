// mercer completion: a script for the shell, made from the description of the commands itself.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"

namespace mercer::cli {
namespace {

/// An option as the scripts need it.
struct CompletedOption {
    std::vector<std::string> names{};  ///< "-q", "--quiet"; none: a positional argument
    std::string about{};
    std::vector<std::string> words{};  ///< what may be said; empty: anything
    bool takes_value = false;
};

struct CompletedCommand {
    std::string name{};
    std::string about{};
    std::vector<CompletedOption> options{};

    /// Words of positional arguments.
    std::vector<std::string> words() const {
        std::vector<std::string> all;
        for (const CompletedOption& option : options) {
            if (option.names.empty()) {
                all.insert(all.end(), option.words.begin(), option.words.end());
            }
        }
        all.insert(all.end(), {"@digits", "@iris"});
        return all;
    }
};

std::vector<CompletedCommand> completed(const CLI::App& program, const Session& session) {
    std::vector<CompletedCommand> commands;
    for (const CLI::App* app : program.get_subcommands({})) {
        CompletedCommand command{.name = app->get_name(), .about = app->get_description()};
        for (const CLI::Option* option : app->get_options()) {
            CompletedOption entry{.about = option->get_description(),
                                  .takes_value = option->get_items_expected_max() > 0};
            for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
            for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
            const auto words = session.choices.find(option);
            if (words != session.choices.end()) entry.words = words->second;
            command.options.push_back(std::move(entry));
        }
        commands.push_back(std::move(command));
    }
    return commands;
}

// ---- bash

std::string bash_case(const CompletedCommand& command) {
    std::string values;
    std::vector<std::string> options;
    std::vector<std::string> files;
    for (const CompletedOption& option : command.options) {
        if (option.names.empty()) continue;
        options.insert(options.end(), option.names.begin(), option.names.end());
        const std::string pattern = fmt::format("{}", fmt::join(option.names, "|"));
        if (!option.words.empty()) {
            values += fmt::format("                {}) words=\"{}\" ;;\n", pattern,
                                  fmt::join(option.words, " "));
        } else if (option.takes_value) {
            files.push_back(pattern);
        }
    }
    if (!files.empty()) {
        values += fmt::format("                {}) words= ;;\n", fmt::join(files, "|"));
    }
    return fmt::format(
        "        {})\n            words=\"{} {}\"\n            case $previous in\n{}"
        "            esac\n            ;;\n",
        command.name, fmt::join(options, " "), fmt::join(command.words(), " "), values);
}

std::string bash_script(const std::vector<CompletedCommand>& commands) {
    std::string names;
    std::string cases;
    for (const CompletedCommand& command : commands) {
        names += command.name + " ";
        cases += bash_case(command);
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

// ---- zsh and fish, which show what an option is for

/// Between single quotes, with a backslash before each of `special`. Quotes are left out: the two
/// shells write them in different ways, and nothing depends on them.
std::string in_single_quotes(const std::string& text, std::string_view special) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\n') {
            result += c == '\n' ? " " : "";
            continue;
        }
        if (special.find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result + "'";
}

std::string zsh_value(const CompletedOption& option) {
    if (!option.takes_value) return "";
    if (option.words.empty()) return ":value:_files";
    return fmt::format(":value:({})", fmt::join(option.words, " "));
}

std::string zsh_case(const CompletedCommand& command) {
    std::string text = fmt::format("        {})\n            _arguments", command.name);
    for (const CompletedOption& option : command.options) {
        for (const std::string& name : option.names) {
            const std::string about = in_single_quotes(option.about, "[]:\\");
            text += fmt::format(" \\\n                '{}[{}]{}'", name,
                                about.substr(1, about.size() - 2), zsh_value(option));
        }
    }
    return text + fmt::format(" \\\n                '*:file:{{ compadd {}; _files }}' ;;\n",
                              fmt::join(command.words(), " "));
}

std::string zsh_script(const std::vector<CompletedCommand>& commands) {
    std::string names;
    std::string cases;
    for (const CompletedCommand& command : commands) {
        names += "        " + in_single_quotes(command.name + ":" + command.about, "\\") + "\n";
        cases += zsh_case(command);
    }
    return fmt::format(R"(#compdef mercer
# zsh completion for mercer; made by 'mercer completion zsh'
_mercer() {{
    local -a commands
    commands=(
{}    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{}    esac
}}
if [ "$funcstack[1]" = _mercer ]; then
    _mercer "$@"
else
    compdef _mercer mercer
fi
)",
                       names, cases);
}

std::string fish_script(const std::vector<CompletedCommand>& commands) {
    std::string text =
        "# fish completion for mercer; made by 'mercer completion fish'\n"
        "complete -c mercer -n __fish_use_subcommand -f -s h -l help -d 'list the commands'\n"
        "complete -c mercer -n __fish_use_subcommand -f -l version -d 'print the version'\n";
    for (const CompletedCommand& command : commands) {
        text += fmt::format("complete -c mercer -n __fish_use_subcommand -f -a {} -d {}\n",
                            command.name, in_single_quotes(command.about, "\\"));
    }
    for (const CompletedCommand& command : commands) {
        const std::string begin =
            fmt::format("complete -c mercer -n '__fish_seen_subcommand_from {}'", command.name);
        text += fmt::format("{} -a '{}'\n", begin, fmt::join(command.words(), " "));
        for (const CompletedOption& option : command.options) {
            if (option.names.empty()) continue;
            text += begin;
            for (const std::string& name : option.names) {
                text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            }
            if (option.takes_value) {
                text += option.words.empty()
                            ? " -r -F"
                            : fmt::format(" -x -a '{}'", fmt::join(option.words, " "));
            }
            text += " -d " + in_single_quotes(option.about, "\\") + "\n";
        }
    }
    return text;
}

struct Shell {
    const char* name;
    std::string (*script)(const std::vector<CompletedCommand>&);
};
constexpr Shell shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

}  // namespace

void add_completion(CLI::App& program, Session& session) {
    CLI::App& command =
        add_command(program, "completion", "print a script that completes commands in a shell",
                    "  source <(mercer completion bash)\n"
                    "  mercer completion zsh > ~/.zfunc/_mercer\n"
                    "  mercer completion fish > ~/.config/fish/completions/mercer.fish");
    const auto shell = std::make_shared<std::string>("bash");
    std::vector<std::string> names;
    for (const Shell& known : shells) names.emplace_back(known.name);
    add_choice(command, session, "SHELL", *shell, names, "the shell")->required();
    // The parser writes into *shell: it has to live as long as the command.
    command.callback([&program, &session, shell] {
        session.action = [&program, &session, shell] {
            for (const Shell& known : shells) {
                if (*shell == known.name) say("{}", known.script(completed(program, session)));
            }
        };
    });
}

}  // namespace mercer::cli
