// The documents' tables of tasks and settings are what the registry says. A page holds
//
//   <!-- settings: ridge -->
//   … the table …
//   <!-- end -->
//
// and `<!-- tasks -->` likewise for the list of all tasks; several names after `settings:` make one
// table. MERCER_WRITE_TABLES=1 writes the tables into the pages instead of comparing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "mercer/learn/registry.hpp"
#include "repository/tree.hpp"

namespace mercer::test {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

std::string code(const std::string& text) {
    return text.empty() ? text : '`' + text + '`';
}

/// Bars would end a cell.
std::string cell(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
        text.insert(at, "\\");
    }
    return text;
}

/// Its option of `mercer train`, if it has one: "-C,--cost".
std::string option_of(const MachineEntry& machine, const Setting& setting) {
    return machine.command.empty() ? setting.command_line_flag() : "";
}

/// As it is written: the option, or the setting's own name where there is none.
std::string written(const MachineEntry& machine, const Setting& setting) {
    std::string flags = option_of(machine, setting);
    if (flags.empty()) return code(setting.name);
    for (std::size_t at = 0; (at = flags.find(',', at)) != std::string::npos; at += 4) {
        flags.replace(at, 1, "`, `");
    }
    return code(flags);
}

/// A word that is given or not has neither values nor a default.
bool is_switch(const MachineEntry& machine, const Setting& setting) {
    return std::holds_alternative<bool>(setting.fallback) && !option_of(machine, setting).empty();
}

/// What the word does: one that turns off what is on by default says what is left out.
std::string meaning_of(const MachineEntry& machine, const Setting& setting) {
    const bool off = is_switch(machine, setting) && std::get<bool>(setting.fallback);
    return (off ? "do not " : "") + setting.about;
}

std::string values_of(const Setting& setting) {
    if (!setting.words.empty()) return code(joined(setting.words, "`, `"));
    if (std::holds_alternative<bool>(setting.fallback)) return "yes, no";
    const bool count = std::holds_alternative<std::size_t>(setting.fallback);
    const bool number = std::holds_alternative<double>(setting.fallback) ||
                        std::holds_alternative<std::vector<double>>(setting.fallback);
    if (!count && !number) return "text";
    const Range any{};
    const bool bounded = setting.range.low != any.low || setting.range.high != any.high;
    if (count) return bounded ? "a count, " + setting.range.text() : "a count";
    return setting.range.text();
}

std::string default_of(const Setting& setting) {
    if (const auto* on = std::get_if<bool>(&setting.fallback)) return *on ? "yes" : "no";
    return code(value_text(setting.fallback));
}

/// The settings of these machines, each row once, with those that have it where not all do.
std::string settings_table(const std::vector<std::string>& tasks) {
    struct Row {
        std::string text;
        std::vector<std::string> tasks;
    };
    std::vector<Row> rows;
    bool own_command = false;
    for (const std::string& task : tasks) {
        const MachineEntry& machine = machine_entry(task);
        own_command = !machine.command.empty();
        for (const Setting& setting : machine.settings) {
            const bool valued = !is_switch(machine, setting);
            const std::string text = "| " + written(machine, setting) + " | " +
                                     cell(meaning_of(machine, setting)) + " | " +
                                     (valued ? cell(values_of(setting)) : "") + " | " +
                                     (valued ? default_of(setting) : "") + " |";
            auto same = std::ranges::find(rows, text, &Row::text);
            if (same == rows.end()) same = rows.insert(rows.end(), {text, {}});
            same->tasks.push_back(code(task));
        }
    }
    const bool many = tasks.size() > 1;
    std::string table = std::string(own_command ? "| setting" : "| option") +
                        " | meaning | values | default |" + (many ? " tasks |" : "") +
                        "\n|---|---|---|---|" + (many ? "---|" : "") + "\n";
    for (const Row& row : rows) {
        const bool all = row.tasks.size() == tasks.size();
        table += row.text + (many ? (all ? " all |" : " " + joined(row.tasks, ", ") + " |") : "");
        table += '\n';
    }
    return table;
}

struct Block {
    std::string kind;  ///< "tasks" or "settings"
    std::vector<std::string> tasks;
    std::size_t begin = 0;  ///< of the table in the page's text
    std::size_t end = 0;
};

/// The marked tables of a page.
std::vector<Block> blocks_of(const std::string& text) {
    std::vector<Block> blocks;
    const std::string finish = "<!-- end -->";
    for (std::size_t at = 0; (at = text.find("<!-- ", at)) != std::string::npos; ++at) {
        const std::size_t line = text.find(" -->\n", at);
        if (line == std::string::npos) break;
        std::istringstream words(text.substr(at + 5, line - at - 5));
        Block block;
        words >> block.kind;
        if (block.kind != "tasks" && block.kind != "settings:") continue;
        for (std::string task; words >> task;) block.tasks.push_back(task);
        block.begin = line + 5;
        block.end = text.find(finish, at);
        if (block.end == std::string::npos) {
            ADD_FAILURE() << "<!-- " << block.kind << " without " << finish;
            break;
        }
        blocks.push_back(block);
    }
    return blocks;
}

std::vector<fs::path> pages() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(source_root() / "docs")) {
        if (entry.path().extension() == ".md") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Which page has the settings of a task.
std::map<std::string, fs::path> homes() {
    std::map<std::string, fs::path> places;
    for (const fs::path& page : pages()) {
        for (const Block& block : blocks_of(contents(page))) {
            for (const std::string& task : block.tasks) {
                EXPECT_TRUE(places.emplace(task, page).second) << task << " has two tables";
            }
        }
    }
    return places;
}

std::string tasks_table(const fs::path& page, const std::map<std::string, fs::path>& homes) {
    std::string table = "| `--task` | learns | options |\n|---|---|---|\n";
    for (const MachineEntry* machine : machines()) {
        if (!machine->command.empty()) continue;
        std::vector<std::string> options;
        for (const Setting& setting : machine->settings) {
            const std::string option = option_of(*machine, setting);
            if (setting.of_solver || option.empty()) continue;
            options.push_back(code(option.substr(0, option.find(','))));
        }
        std::string name = code(machine->name);
        const auto home = homes.find(machine->name);
        if (home != homes.end() && home->second != page) {
            name = '[' + name + "](" +
                   home->second.lexically_relative(page.parent_path()).string() + ')';
        }
        table +=
            "| " + name + " | " + cell(machine->about) + " | " + joined(options, ", ") + " |\n";
    }
    return table;
}

TEST(SettingsTables, AreWhatTheRegistrySays) {
    const bool write = std::getenv("MERCER_WRITE_TABLES") != nullptr;
    const auto places = homes();
    std::size_t lists = 0;
    for (const fs::path& page : pages()) {
        std::string text = contents(page);
        std::vector<Block> blocks = blocks_of(text);
        for (std::size_t b = blocks.size(); b-- > 0;) {
            const Block& block = blocks[b];
            lists += block.kind == "tasks";
            const std::string table =
                block.kind == "tasks" ? tasks_table(page, places) : settings_table(block.tasks);
            if (!write) {
                EXPECT_EQ(text.substr(block.begin, block.end - block.begin), table)
                    << page << ": run build/bin/repository_tests with MERCER_WRITE_TABLES=1";
            }
            text.replace(block.begin, block.end - block.begin, table);
        }
        if (write && !blocks.empty()) std::ofstream(page, std::ios::binary) << text;
    }
    EXPECT_EQ(lists, 1U) << "docs/training.md has the list of tasks";
    for (const MachineEntry* machine : machines()) {
        if (machine->settings.empty()) continue;
        EXPECT_TRUE(places.contains(machine->name))
            << "no page of docs has <!-- settings: " << machine->name << " -->";
    }
}

TEST(SettingsTables, MarksAreReadAsWritten) {
    const auto blocks =
        blocks_of("a\n<!-- settings: ridge gp -->\nold\n<!-- end -->\n<!-- x -->\n");
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_EQ(blocks[0].tasks, (std::vector<std::string>{"ridge", "gp"}));
    const std::string table = settings_table({"ridge"});
    EXPECT_TRUE(table.starts_with("| option | meaning | values | default |\n|---|")) << table;
    EXPECT_NE(table.find("`--lambda`"), std::string::npos) << table;
    EXPECT_NE(settings_table({"svc", "svr"}).find("`svr` |"), std::string::npos);
}

}  // namespace
}  // namespace mercer::test
