// Tables with columns of several kinds, as train, tune, learn and what asks their models read them.
#pragma once

#include <string>
#include <vector>

#include "cli/common/session.hpp"
#include "mercer/data/recipe.hpp"

namespace mercer::cli {

/// Adds --column and --id.
void add_column_options(CLI::App& command, Session& session, InputOptions& input);

/// The table itself, whatever its columns hold. `known_names` tell a header.
Table read_cells(const InputOptions& input, const Session& session,
                 std::vector<std::string> known_names = {});

/// What the options say about its columns.
ColumnWishes wishes_of(const InputOptions& input);

/// Rows of a table that a recipe will be fitted on; says on standard error what was made of it.
Dataset read_mixed(const InputOptions& input, const Session& session);

/// Data to learn from with this kernel: as `read_input` reads it where that gives what the kernel
/// can take, else as a table with columns of several kinds. An empty kernel: always as a table,
/// where it is one.
Dataset read_for_learning(const InputOptions& input, const Session& session,
                          const std::string& kernel);

/// Rows of a table for a model that has such a recipe.
Dataset read_by_recipe(const Recipe& recipe, const InputOptions& input, const Session& session);

}  // namespace mercer::cli
