// docs/kernels.md says what the code says: its table is the table of kernels, its examples parse.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "kernel/support.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"
#include "mercer/kernel/table.hpp"

namespace mercer {
namespace {

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '|' ? "\\|" : std::string(1, c);
    return result;
}

std::string list(const std::vector<std::string>& names) {
    std::string result;
    for (const std::string& name : names) result += (result.empty() ? "`" : ", `") + name + "`";
    return result;
}

std::string range(const ParameterForm& form) {
    if (!form.words.empty()) return one_of(form.words);
    std::string result = form.integer ? "whole, " : "";
    if (std::isfinite(form.high)) {
        result += (form.low_open ? "above " : "") + format_number(form.low) + " to " +
                  format_number(form.high);
    } else if (std::isfinite(form.low)) {
        result += (form.low_open ? "> " : ">= ") + format_number(form.low);
    } else {
        result += "any";
    }
    return result + (form.rule_allowed ? ", scale, auto" : "");
}

std::string fallback(const ParameterForm& form) {
    if (!form.fallback) return form.name == form.canonical ? ", required" : "";
    if (const double* number = std::get_if<double>(&*form.fallback)) {
        if (form.words.empty()) return ", default " + format_number(*number);
        return ", default " + form.words.at(static_cast<std::size_t>(*number));
    }
    return std::get<Rule>(*form.fallback) == Rule::scale ? ", default scale" : ", default auto";
}

std::string table_text() {
    std::string result = "| kernel | also | value | parameters | notes |\n|---|---|---|---|---|\n";
    for (const KernelEntry* known : kernel_table()) {
        const KernelEntry& entry = *known;
        std::string parameters;
        for (const ParameterForm& form : entry.parameters) {
            parameters += (parameters.empty() ? "`" : "; `") + form.name + "`";
            if (!form.aliases.empty()) parameters += " (" + list(form.aliases) + ")";
            if (form.name != form.canonical) parameters += " sets " + form.canonical;
            parameters += ": " + range(form) + fallback(form);
        }
        result += "| `" + entry.name + "` | " + list(entry.aliases) + " | " +
                  escaped(entry.formula) + " | " + parameters + " | " + escaped(entry.about) +
                  " |\n";
    }
    return result;
}

std::string document() {
    // Tests run from the root of the project.
    std::ifstream file("docs/kernels.md");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(KernelDocument, HoldsTheTableOfKernels) {
    const std::string text = document();
    if (text.empty()) GTEST_SKIP() << "docs/kernels.md is not in the working directory";
    EXPECT_NE(text.find(table_text()), std::string::npos)
        << "docs/kernels.md should hold this table:\n"
        << table_text();
}

TEST(KernelDocument, ExamplesParseToWhatIsSaid) {
    std::istringstream text(document());
    if (text.str().empty()) GTEST_SKIP() << "docs/kernels.md is not in the working directory";
    function("my_similarity", [](auto, auto) { return 1.0; });
    bool inside = false;
    int examples = 0;
    for (std::string line; std::getline(text, line);) {
        if (line.rfind("```", 0) == 0) {
            inside = line == "```kernel";
            continue;
        }
        if (!inside || line.empty()) continue;
        // "expression" or "expression  ->  what it prints as"
        const std::size_t arrow = line.find("->");
        const std::string written = line.substr(0, arrow);
        std::string printed;
        ASSERT_NO_THROW(printed = Kernel::parse(written).text()) << written;
        if (arrow != std::string::npos) {
            EXPECT_EQ(line.substr(line.find_first_not_of(' ', arrow + 2)), printed);
        }
        ++examples;
    }
    EXPECT_GT(examples, 20);
}

}  // namespace
}  // namespace mercer
