// Model files: versioned, checksummed, and readable by others, since they are safetensors files
// (docs/model-format.md).
//
//     save(model, "a9a.mercer");
//     const Model same = load("a9a.mercer");
//
// Such a file is safe to open whoever wrote it: numbers and texts only, no code.
//
// LIBSVM's model files, in both directions, so that its programs and this library read one
// another's models and predict the same.
//
//     export_libsvm(model, "a9a.model");                  // svm-predict a9a.t a9a.model out
//     const Model theirs = import_libsvm("svmguide1.model");
//
// And out, for those who predict without us (docs/export.md): ONNX for runtimes in other languages,
// C99 for machines without any.
//
//     export_model(model, "digits.onnx");
//     export_model(model, "digits.c", {.format = "c", .name = "digits"});
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

/// Writes a model, whole or not at all; "-" is standard output, a suffix .gz, .bz2, .xz or .zst
/// compresses. Equal models give equal bytes. Throws InvalidInput when the parts of the model do
/// not fit together or the place cannot be written to.
void save(const Model& model, const std::string& path);

/// Reads what `save` wrote, unpacking it if it is compressed; "-" is standard input. Throws
/// InvalidInput that names the file and what is wrong with it: not a model, damaged, cut short, of
/// a later version, parts that do not fit together, or a kernel function this program has not
/// registered (see `function`).
Model load(const std::string& path);

/// The same to and from memory; `name` stands for the file in messages.
std::string save_to_memory(const Model& model);
Model load_from_memory(std::string_view bytes, const std::string& name = "model");

/// True when the bytes begin like a file that `save` wrote, without compression.
bool is_model_file(std::string_view bytes);

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

struct ExportSettings {
    std::string format{};  ///< one of export_formats(); empty: what the name of the file ends with
    /// What the functions of C begin with, and the name of ONNX's graph: a word of a-z, 0-9 and _.
    std::string name = "model";
    /// Computes in single precision, for processors without double; the scores then have six digits
    /// or fewer. Otherwise everything is computed in double precision.
    bool single_precision = false;
};

/// A way to write a model for other programs.
struct ExportFormat {
    std::string name;    ///< "onnx"
    std::string ending;  ///< ".onnx"
    std::string about;   ///< one line for people
    bool computes;       ///< as a program, by the settings; false: numbers for another's programs
    std::string (*write)(const Model& model, const ExportSettings& settings);
};
/// All of them: onnx, c, libsvm.
const std::vector<ExportFormat>& export_formats();

/// Writes a model for other programs, whole or not at all; "-" is standard output. Scaling, recipe,
/// classes and probabilities go with it. Throws InvalidInput that names the part of the model for
/// which the format has no words: kernels that are programs and no formulas (texts, graphs, series,
/// user functions), machines that decide by more than their expansion, dates.
void export_model(const Model& model, const std::string& path, const ExportSettings& settings = {});
/// The same to memory; the format must be given.
std::string export_to_memory(const Model& model, const ExportSettings& settings);

}  // namespace mercer
