// Prediction of a voted perceptron, whose vectors all vote [Freund and Schapire 1999].
#pragma once

#include <string>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"

namespace mercer {

struct Model;

/// The array "votes" of a voted perceptron has one row an update of the training, in order:
///     point of the expansion, output that grew (or −1), output that fell (or −1), by how much,
///     number of rows the vector after this update stood for
/// so that the vectors are the partial sums over its rows.
bool is_voted(const Model& model);

/// Throws InvalidInput, beginning with `place`, for an array that is not of this kind.
void check_votes(const Model& model, const std::string& place);

/// Shares of the votes: for two classes those for the first less those for the second, otherwise
/// one column a class. `x` must have been scaled. Throws Cancelled.
Matrix<double> voted_decision(const Model& model, const Rows& x, const Progress& progress);

}  // namespace mercer
