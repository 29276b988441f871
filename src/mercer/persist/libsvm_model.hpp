// LIBSVM's model files, in both directions, so that its programs and this library read one
// another's models and predict the same.
//
//     export_libsvm(model, "a9a.model");                  // svm-predict a9a.t a9a.model out
//     const Model theirs = import_libsvm("svmguide1.model");
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mercer/base/export.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

/// Writes a model as LIBSVM 3 does, whole or not at all. The labels stand in the order of the
/// model's classes; classes that are names become their positions 0, 1, … because LIBSVM knows
/// whole numbers only. A hard margin is written as c_svc, whose decision it is.
///
/// Throws InvalidInput for what LIBSVM has no file for: SVDD, several targets, one-vs-rest, other
/// kernels than linear, polynomial, rbf, sigmoid, precomputed and multiples of them, scaling, and
/// classes that are not whole numbers of 32 bits.
void export_libsvm(const Model& model, const std::string& path);

/// Reads a model written by LIBSVM's svm-train or by `export_libsvm`. Classes keep the order of the
/// file, on which LIBSVM's votes between equals depend. The points are in double precision and the
/// model computes in it, as LIBSVM does. What such files do not hold stays empty: reports, C, ν,
/// origins (but for precomputed kernels). A regression's probA, the scale of its noise, becomes
/// sigmoids[0].a.
///
/// Such a file does not say how many columns the data had, only which the support vectors use;
/// `columns` makes room for at least so many, for data that is wider than that.
///
/// Throws InvalidInput naming file, line and column.
Model import_libsvm(const std::string& path, std::size_t columns = 0);

/// The same to and from memory; `name` stands for the file in messages.
std::string export_libsvm_to_memory(const Model& model);
Model import_libsvm_from_memory(std::string_view text, const std::string& name = "model",
                                std::size_t columns = 0);

/// True for bytes that begin as LIBSVM's model files do.
bool is_libsvm_model(std::string_view bytes);

}  // namespace mercer
