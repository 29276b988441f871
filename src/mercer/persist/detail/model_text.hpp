// Everything of a model that is not an array, as the metadata of its file. For the .cpp files of
// this room only.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "mercer/learn/model.hpp"
#include "mercer/persist/detail/json_text.hpp"

namespace mercer::persist {

using Metadata = std::map<std::string, std::string>;

/// Format, version, kernel, task, names, scaling, numbers trained with, reports; not the checksum.
Metadata metadata_of(const Model& model);

/// Fills all of the model but the arrays. The hull weights of each report get their length only;
/// together they must be `hull_weights`, so many as the file has. Throws InvalidInput, beginning
/// with `place`.
void read_metadata(const Metadata& metadata, std::size_t hull_weights, ModelParts& model,
                   const std::string& place);

// Parts of it that cells have one by one.

std::string trained_text(const TrainedWith& trained);
std::string reports_text(const std::vector<Report>& reports);
void read_trained(const Json& json, TrainedWith& trained, const std::string& place);
/// At most `most_weights` hull weights, of which the report gets the number only.
Report read_report(const Json& json, std::size_t most_weights, const std::string& place);
Kernel read_kernel(const std::string& text, const std::string& place);

/// A count among the metadata.
std::size_t metadata_count(const Metadata& metadata, const std::string& key,
                           const std::string& place);
/// A text among the metadata.
const std::string& metadata_text(const Metadata& metadata, const std::string& key,
                                 const std::string& place);

}  // namespace mercer::persist
