// Models from files, and data for them.
#pragma once

#include <cstddef>
#include <string>

#include "cli/session.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::cli {

/// A model file of this program, or of LIBSVM: the content tells. `columns`: at least so many, for
/// LIBSVM's files, which do not say how wide the data was.
Model read_model(const std::string& path, std::size_t columns = 0);

/// Adds the positionals MODEL and INPUT and the options of reading.
std::shared_ptr<InputOptions> add_model_and_input(CLI::App& command, Session& session,
                                                  std::string& model);

struct ModelAndData {
    Model model;
    Dataset data;
};

/// Reads both. Columns are matched by their names where model and data have some, numbers held as
/// precisely as the model's, and a table that is one column short is taken to have no labels unless
/// --label says where they are.
ModelAndData read_model_and_data(const std::string& model, const InputOptions& input,
                                 const Session& session);

}  // namespace mercer::cli
