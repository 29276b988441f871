// Texts and graphs among the arrays of a model file: column k of the rows "points" is
//
//     points.object<k>.bytes, .starts                                    texts
//     points.object<k>.nodes, .starts, .neighbours                       graphs, and where there
//     are any points.object<k>.node_labels, .edge_labels, .attributes, .weights
//     the same of one graph, and points.object<k>.rows                   nodes of one graph
//
// with names and kinds in the metadata, points.objects: ["text","sequence",…].
#pragma once

#include <deque>
#include <string>

#include "mercer/data/rows.hpp"
#include "mercer/persist/detail/container.hpp"

namespace mercer::persist {

/// What the arrays of objects point to while they are written.
struct ObjectArrays {
    std::deque<Texts> texts{};
    std::deque<Graphs> graphs{};
    std::deque<std::vector<std::size_t>> nodes{};
};

void add_objects(const Rows& rows, const std::string& name, Container& out, ObjectArrays& kept);

/// The rows with the objects that the container has for them; `taken` counts the arrays read.
/// Throws InvalidInput, beginning with `place`, for arrays that do not fit together.
Rows with_objects(const Rows& rows, const std::string& name, const Container& container,
                  const std::string& place, std::size_t& taken);

}  // namespace mercer::persist
