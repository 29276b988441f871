// A model taken apart into programs: from a row to decision values, and from those to what is said
// of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mercer/feature/expansion.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/persist/export/detail/program.hpp"

namespace mercer::exports {

/// A column of the rows that an exported model is given.
struct InputColumn {
    std::string name{};   ///< empty: none
    std::string about{};  ///< what its numbers stand for, where that is not the number itself
};

struct Compiled {
    Program decision;                        ///< row → decision values
    std::optional<Program> votes{};          ///< decision values → one a label; the largest wins
    std::optional<Program> probabilities{};  ///< decision values → one a class
    std::optional<Program> sets{};           ///< decision values → 0 or 1 a label
    std::vector<std::string> labels{};       ///< of the votes
    std::vector<double> label_values{};      ///< the same as numbers; empty: they are names
    std::vector<std::string> probability_names{};
    std::vector<std::string> output_names{};  ///< of decision values, as far as they have names
    std::vector<InputColumn> columns{};
    bool double_rows = false;  ///< rows are to be given in double precision
};

/// Throws InvalidInput that names the part for which there are no operations, or digits.
Compiled compile(const Model& model, bool single_precision);

/// The kernel's numbers of the row `row` and the points of the expansion, and of the row and
/// itself.
struct CompiledKernel {
    Value with_points{};
    std::optional<Value> with_itself{};  ///< where the expansion has a weight for it
};
CompiledKernel compile_kernel(Program& program, Value row, const Expansion& expansion);

/// What the recipe and the scaling make of the row.
Value compile_rows(Program& program, const Model& model);

/// Appends sine and cosine of the year, the week and, with `has_time`, the hour of days since 1970.
void compile_date_parts(Program& program, Value days, bool has_time, std::vector<Value>& out);

/// Rows for which an exported model can be tried, in the form it is given them, one row each.
Matrix<double> trial_rows(const Model& model, std::size_t most);

/// The decision values become these.
std::optional<Program> compile_votes(const Model& model);
std::optional<Program> compile_probabilities(const Model& model);
std::optional<Program> compile_sets(const Model& model);

[[noreturn]] void refuse_export(const std::string& why);

}  // namespace mercer::exports
