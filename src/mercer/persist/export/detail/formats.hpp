// The formats a compiled model is written in, one function each.
#pragma once

#include <string>

#include "mercer/persist/export/detail/compile.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::exports {

std::string onnx_bytes(const Model& model, const ExportSettings& settings);
std::string c_source(const Model& model, const ExportSettings& settings);

}  // namespace mercer::exports
