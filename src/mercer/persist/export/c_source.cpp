// C99: one file, no malloc, nothing but <math.h>.
#include <algorithm>

#include "mercer/learn/calibration.hpp"
#include "mercer/persist/export/detail/c_program.hpp"
#include "mercer/persist/export/detail/formats.hpp"
#include "mercer/version.hpp"

namespace mercer::exports {
namespace {

class CFile {
   public:
    CFile(const Model& model, const ExportSettings& settings)
        : model_(model),
          name_(settings.name),
          single_(settings.single_precision),
          real_(single_ ? "float" : "double"),
          compiled_(compile(model, settings.single_precision)),
          tables_(name_, single_),
          helpers_(name_, real_, single_ ? "f" : "") {
        for (const char c : name_) {
            capital_ += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        }
    }

    std::string text();

   private:
    std::string heading() const;
    std::string sizes() const;
    std::string array_function(const std::string& what, const Program& program,
                               const std::string& from, const std::string& to);
    std::string class_function();
    std::string names_table(const std::string& what, const std::vector<std::string>& names) const;
    std::string test() const;
    std::string test_table(const std::string& what, const Matrix<double>& m) const;
    std::string compared(const std::string& what, const std::string& limit) const;

    const Model& model_;
    std::string name_, capital_{};
    bool single_;
    std::string real_;
    Compiled compiled_;
    CTables tables_;
    CHelpers helpers_;
};

std::string CFile::heading() const {
    std::string text =
        "/* " +
        in_comment("A " + task_name(model_.task()) + " model, written by mercer " + version) +
        ".\n   Kernel: " + in_comment(model_.expansion().kernel.text()) + ".\n";
    text += "\n   Columns of a row:\n";
    constexpr std::size_t most_listed = 200;
    for (std::size_t j = 0; j < std::min(compiled_.columns.size(), most_listed); ++j) {
        const InputColumn& column = compiled_.columns[j];
        if (column.name.empty()) continue;
        text += "   " + std::to_string(j) + "  " + in_comment(column.name) +
                (column.about.empty() ? "" : ": " + in_comment(column.about)) + "\n";
    }
    text += "   " + std::to_string(compiled_.columns.size()) + " in all" +
            (model_.recipe() ? "; NAN where one is missing" : "") + ".\n";
    text +=
        "\n   Compile it with a C99 compiler and link the mathematical library (-lm). With\n"
        "   -DMERCER_TEST it is a program that tests itself: its exit code is 0 when all is "
        "well. */\n";
    return text;
}

std::string CFile::sizes() const {
    std::string text = "enum {\n    " + capital_ +
                       "_COLUMNS = " + std::to_string(compiled_.columns.size()) + ",\n    " +
                       capital_ + "_SCORES = " + std::to_string(compiled_.decision.result.width);
    if (!compiled_.labels.empty()) {
        text += ",\n    " + capital_ + "_CLASSES = " + std::to_string(compiled_.labels.size());
    }
    if (compiled_.probabilities) {
        text += ",\n    " + capital_ +
                "_PROBABILITIES = " + std::to_string(compiled_.probabilities->result.width);
    }
    return text + "\n};\n\n";
}

std::string CFile::array_function(const std::string& what, const Program& program,
                                  const std::string& from, const std::string& to) {
    CWriter write(tables_, helpers_, single_);
    const std::string head = "void " + name_ + "_" + what + "(const " + real_ + " in[" + capital_ +
                             from + "], " + real_ + " out[" + capital_ + to + "])";
    return head + ";\n" + head + " {\n" + write(program) + "}\n\n";
}

std::string CFile::class_function() {
    CWriter write(tables_, helpers_, single_);
    const std::string count = std::to_string(compiled_.labels.size());
    std::string text = "static void " + name_ + "_votes(const " + real_ + " in[" + capital_ +
                       "_SCORES], " + real_ + " out[" + capital_ + "_CLASSES]) {\n" +
                       write(*compiled_.votes) + "}\n\n";
    const std::string head =
        "int " + name_ + "_class(const " + real_ + " scores[" + capital_ + "_SCORES])";
    return text + "/* The position of the class of a row with these scores. */\n" + head + ";\n" +
           head + " {\n    " + real_ + " votes[" + capital_ + "_CLASSES];\n" +
           "    int k, best = 0;\n    " + name_ + "_votes(scores, votes);\n    for (k = 1; k < " +
           count + "; ++k) {\n        if (votes[k] > votes[best]) best = k;\n    }\n" +
           "    return best;\n}\n\n";
}

std::string CFile::names_table(const std::string& what,
                               const std::vector<std::string>& names) const {
    const std::string head =
        "const char *const " + name_ + "_" + what + "[" + std::to_string(names.size()) + "]";
    std::string text = "extern " + head + ";\n" + head + " = {\n";
    for (const std::string& name : names) text += "    " + c_string(name) + ",\n";
    return text + "};\n\n";
}

/// A part of the test: what a function makes of the expected scores, beside what it should.
std::string CFile::compared(const std::string& what, const std::string& limit) const {
    return "        " + name_ + "_" + what + "(scores[i], found_" + what + ");\n" +
           "        wrong |= differ(found_" + what + ", " + what + "[i], (int)(sizeof found_" +
           what + " / sizeof *found_" + what + "), " + limit + ");\n";
}

/// A main that compares a few rows with what the model says of them.
std::string CFile::test() const {
    constexpr std::size_t most = 8;
    const Matrix<double> rows = trial_rows(model_, most);
    if (rows.rows() == 0) return "";
    ModelParts parts = model_.parts();
    parts.double_precision = true;
    const Model exact(std::move(parts));
    const Matrix<double> scores = exact.decision(Rows::dense(rows.values(), rows.columns()));
    std::string tables = test_table("rows", rows) + test_table("scores", scores);
    const std::string limit = single_ ? "1e-3" : "1e-6";
    std::string checks = "        " + name_ + "_scores(rows[i], found);\n" +
                         "        wrong |= differ(found, scores[i], " + capital_ + "_SCORES, " +
                         limit + ");\n";
    if (compiled_.votes) {
        Matrix<double> classes(rows.rows(), 1);
        const std::vector<double> answers = exact.classify(scores.view());
        const bool positions = is_classifier(model_.task()) || is_clustering(model_.task());
        for (std::size_t i = 0; i < answers.size(); ++i) {
            classes(i, 0) = positions ? answers[i] : (answers[i] > 0 ? 0 : 1);
        }
        tables += test_table("classes", classes);
        checks += "        if (" + name_ + "_class(scores[i]) != (int)classes[i][0]) wrong = 1;\n";
    }
    if (compiled_.sets) {
        tables += test_table("labels", exact.sets_of(scores.view())) + "    " + real_ +
                  " found_labels[" + capital_ + "_SCORES];\n";
        checks += compared("labels", limit);
    }
    if (compiled_.probabilities) {
        tables += test_table("probabilities", probabilities_of(exact, scores.view())) + "    " +
                  real_ + " found_probabilities[" + capital_ + "_PROBABILITIES];\n";
        checks += compared("probabilities", limit);
    }
    return "#ifdef MERCER_TEST\n#include <stdio.h>\n\nstatic int differ(const " + real_ +
           " *found, const " + real_ + " *expected, int count, double limit) {\n" +
           "    int k, wrong = 0;\n    for (k = 0; k < count; ++k) {\n" +
           "        const double a = found[k], b = expected[k];\n" +
           "        if (fabs(a - b) <= limit * (1 + fabs(b))) continue;\n" +
           "        printf(\"%.9g instead of %.9g\\n\", a, b);\n        wrong = 1;\n    }\n" +
           "    return wrong;\n}\n\nint main(void) {\n" + tables + "    " + real_ + " found[" +
           capital_ + "_SCORES];\n    int i, wrong = 0;\n    for (i = 0; i < " +
           std::to_string(rows.rows()) + "; ++i) {\n" + checks +
           "    }\n    return wrong;\n}\n#endif\n";
}

std::string CFile::test_table(const std::string& what, const Matrix<double>& m) const {
    std::string text = "    static const " + real_ + " " + what + "[" + std::to_string(m.rows()) +
                       "][" + std::to_string(m.columns()) + "] = {\n";
    for (std::size_t i = 0; i < m.rows(); ++i) {
        text += "        {";
        for (const double v : m.row(i)) text += number_text(v, single_) + ", ";
        text += "},\n";
    }
    return text + "    };\n";
}

std::string CFile::text() {
    std::string functions = "/* The scores of a row: " +
                            std::string(compiled_.votes ? "the decision values of the classes, "
                                                          "pair by pair or one by one"
                                                        : "the values predicted") +
                            ". */\n" +
                            array_function("scores", compiled_.decision, "_COLUMNS", "_SCORES");
    if (compiled_.votes) functions += class_function();
    if (compiled_.sets) {
        functions += "/* 1 for each label that a row with these scores has, else 0. */\n" +
                     array_function("labels", *compiled_.sets, "_SCORES", "_SCORES");
    }
    if (compiled_.probabilities) {
        functions +=
            "/* The probabilities of the classes of a row with these scores. */\n" +
            array_function("probabilities", *compiled_.probabilities, "_SCORES", "_PROBABILITIES");
    }
    std::string names;
    if (!compiled_.labels.empty()) names += names_table("class_names", compiled_.labels);
    return heading() + "#include <math.h>\n\n" + sizes() + names + tables_.text() + "\n" +
           helpers_.text() + functions + test();
}

}  // namespace

std::string c_source(const Model& model, const ExportSettings& settings) {
    return CFile(model, settings).text();
}

}  // namespace mercer::exports
