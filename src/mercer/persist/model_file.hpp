// Model files: versioned, checksummed, and readable by others, since they are safetensors files
// (docs/model-format.md).
//
//     save(model, "a9a.mercer");
//     const Model same = load("a9a.mercer");
//
// Such a file is safe to open whoever wrote it: numbers and texts only, no code.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace mercer
