// A run as commands and programs that repeat it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "studio/workbench.hpp"

namespace mercer::studio {
namespace {

/// A word that a shell takes as it is, whatever it holds.
std::string shell_word(const std::string& text) {
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("@%_+=:,./-").find(c) != std::string_view::npos;
    };
    if (!text.empty() && std::ranges::all_of(text, plain)) return text;
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

/// A text in double quotes, as Python and C++ read it.
std::string literal(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c == '\n' ? ' ' : c;
    }
    return result + '"';
}

std::string flag_of(const MachineEntry& entry, const std::string& name) {
    const Setting* const setting = entry.find(name);
    const std::string flags = setting == nullptr ? "" : setting->command_line_flag();
    return flags.substr(0, flags.find(','));
}

/// What a machine is called in Python, and what it needs to be the same one.
struct PythonForm {
    std::string_view task;
    std::string_view name;
    std::string_view from{};  ///< a setting that has another name there
    std::string_view to{};
    std::string_view more{};  ///< further arguments
    bool labels = true;
};
constexpr std::array<PythonForm, 11> python_forms{
    {{"svc", "SVC"},
     {"nu-svc", "NuSVC"},
     {"svr", "SVR"},
     {"nu-svr", "NuSVR"},
     {.task = "one-class", .name = "OneClassSVM", .labels = false},
     {.task = "svdd", .name = "SVDD", .labels = false},
     {"ridge", "KernelRidge", "lambda", "alpha", ", fit_intercept=True"},
     {"logistic", "KernelLogisticRegression", "lambda", "alpha"},
     {"gp", "GaussianProcessRegressor", "noise", "alpha", ", optimizer=None"},
     {"adatron", "Adatron"},
     {"perceptron", "KernelPerceptron"}}};

/// The lines that scale X as the run did.
std::string scaling_lines(const std::string& scale) {
    if (scale == "standard") {
        return "spread = X.std(axis=0)\n"
               "X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)\n";
    }
    if (scale == "minmax") {
        return "width = X.max(axis=0) - X.min(axis=0)\n"
               "X = (X - X.min(axis=0)) / np.where(width > 0, width, 1)\n";
    }
    return {};
}

std::string python_of(const TrainedRun& run) {
    const Recipe& r = run.recipe;
    const auto form = std::ranges::find(python_forms, r.task, &PythonForm::task);
    const std::string scaling = scaling_lines(r.scale);
    if (form == python_forms.end() || (scaling.empty() && r.scale != "none")) return {};
    std::string settings;
    for (const auto& [name, value] : r.settings) {
        const std::string_view own = name == form->from ? form->to : std::string_view(name);
        settings += fmt::format(", {}={}", name == "tolerance" ? "tol" : own, format_number(value));
    }
    return fmt::format(
        "import mercer\n{}\n{}X, y = mercer.data.read({})\n{}"
        "machine = mercer.{}(kernel=mercer.Kernel({}){}{}).fit(X{})\n"
        "print(machine.report_.dual)\n",
        scaling.empty() ? "" : "import numpy as np\n",
        run.table->make.empty() ? "" : "# " + run.table->make + "\n", literal(run.table->file),
        scaling, form->name, literal(r.kernel), settings, form->more, form->labels ? ", y" : "");
}

std::string cpp_of(const TrainedRun& run) {
    const Recipe& r = run.recipe;
    std::string settings;
    for (const auto& [name, value] : r.settings) {
        settings += fmt::format("{}{{\"{}\", {:#}}}", settings.empty() ? "" : ", ", name, value);
    }
    const std::string scaling =
        r.scale == "none" ? ""
                          : fmt::format(", .scaling = ScalingRule::parse({})", literal(r.scale));
    return fmt::format(
        "#include <mercer/mercer.hpp>\n\nusing namespace mercer;\n{}\n"
        "int main() {{\n    const Dataset data = mercer::read({});\n"
        "    const Machine machine = machine_entry(\"{}\").make(\n"
        "        {{.kernel = Kernel::parse({}){}}}, {{{}}});\n"
        "    save(machine.fit(data), \"model.mercer\");\n}}\n",
        run.table->make.empty() ? "" : "// " + run.table->make + "\n", literal(run.table->file),
        r.task, literal(r.kernel), scaling, settings);
}

}  // namespace

Json copies_of(const TrainedRun& run) {
    const Recipe& r = run.recipe;
    if (!run.table) throw InvalidInput("there are no rows that this model was trained on here");
    const MachineEntry& entry = machine_entry(r.task);
    std::string command = run.table->make.empty() ? "" : run.table->make + " && ";
    command += fmt::format("mercer train {} model.mercer --task {} --kernel {}",
                           shell_word(run.table->file), r.task, shell_word(r.kernel));
    if (r.scale != "none") command += " --scale " + shell_word(r.scale);
    for (const auto& [name, value] : r.settings) {
        const std::string flag = flag_of(entry, name);
        if (!flag.empty()) command += fmt::format(" {} {}", flag, format_number(value));
    }
    return {{"command", command}, {"python", python_of(run)}, {"cpp", cpp_of(run)}};
}

}  // namespace mercer::studio
