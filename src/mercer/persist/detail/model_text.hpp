// Everything of a model that is not an array, as the metadata of its file. For the .cpp files of
// this room only.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "mercer/learn/model.hpp"

namespace mercer::persist {

using Metadata = std::map<std::string, std::string>;

/// Format, version, kernel, task, names, scaling, numbers trained with, reports; not the checksum.
Metadata metadata_of(const Model& model);

/// Fills all of the model but the arrays. The hull weights of each report get their length only;
/// together they must be `hull_weights`, so many as the file has. Throws InvalidInput, beginning
/// with `place`.
void read_metadata(const Metadata& metadata, std::size_t hull_weights, ModelParts& model,
                   const std::string& place);

/// A count among the metadata.
std::size_t metadata_count(const Metadata& metadata, const std::string& key,
                           const std::string& place);
/// A text among the metadata.
const std::string& metadata_text(const Metadata& metadata, const std::string& key,
                                 const std::string& place);

}  // namespace mercer::persist
