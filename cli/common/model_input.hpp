// Models from files, and data for them.
#pragma once

#include <cstddef>
#include <string>

#include "cli/common/session.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::cli {

/// A model file of this program, or of LIBSVM: the content tells. `columns`: at least so many, for
/// LIBSVM's files, which do not say how wide the data was.
Model read_model(const std::string& path, std::size_t columns = 0);

/// Rows of LIBSVM text as wide as the model: what they do not list is zero.
Rows as_wide_as(const Model& model, const Rows& x);

/// Adds the positionals MODEL and INPUT and the options of reading.
std::shared_ptr<InputOptions> add_model_and_input(CLI::App& command, Session& session,
                                                  std::string& model);

struct ModelAndData {
    Model model;
    Dataset data;
};

/// MiB of rows that are held, where no option says how many.
constexpr std::size_t usual_rows = 256;

/// Reads both, the data as the model's own was read: columns matched by name where both have some
/// and by position otherwise, label and weight where they were or absent, numbers held as
/// precisely. `label_sets` gets, for models of several labels per row, those the data has: 0 or 1,
/// no columns where it has none. Throws InvalidInput when a column is missing or no label is a
/// class of the model.
ModelAndData read_model_and_data(const std::string& model, const InputOptions& input,
                                 const Session& session, Matrix<double>* label_sets = nullptr);

}  // namespace mercer::cli
