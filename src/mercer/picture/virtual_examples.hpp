// Virtual support vectors (001, MNIST "Translation invariant SVM"; DeCoste and Schölkopf 2002):
// what is known of the rows, that a digit moved by a pixel is the same digit, is put in by
// examples. A machine is trained, its support vectors are changed in the known ways, and the
// machine is trained again on them and their images: the other rows would not have counted.
//
//   const auto ways = parse_transforms("shift(1)", {28, 28});
//   VirtualFit fit = fit_virtual(svm({.common = {.kernel = k}, .C = 2}), data, ways);
//   fit.plain; fit.model;                             // before and after
#pragma once

#include <cstddef>
#include <span>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer MERCER_API {

/// The rows and, after them, all of them changed in the first way, in the second, …; labels and
/// weights go with their rows.
Dataset with_virtual_examples(const Dataset& data, std::span<const NamedTransform> ways,
                              const Progress& progress = {});

/// The rows of the data that a model's expansion uses. Throws InvalidInput when the model does not
/// know where its points came from, or from other data.
Dataset support_rows(const Model& model, const Dataset& data);

struct VirtualFit {
    Model plain{};             ///< of the rows as they are
    Model model{};             ///< of its support vectors and their images
    std::size_t support = 0;   ///< support vectors of the first
    std::size_t examples = 0;  ///< rows of the second training
};

/// Trains, makes the examples, trains again. The machine may be any whose model knows the rows it
/// uses. A first training that was stopped early is handed back with an empty second model.
VirtualFit fit_virtual(const Machine& machine, const Dataset& data,
                       std::span<const NamedTransform> ways, const Progress& progress = {});

}  // namespace mercer
