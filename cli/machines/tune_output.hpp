// What a search found, as text, JSON, a table and a picture.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "mercer/chart/chart.hpp"
#include "mercer/select/search.hpp"

namespace mercer::cli {

/// The best ten points under a heading, and the one chosen.
std::string describe_search(const SearchSpace& space, const SearchResult& result);

nlohmann::ordered_json json_of(const SearchSpace& space, const SearchResult& result);

/// One line per point: its parameters, mean, deviation, score of each fold, seconds, rows, status.
std::string csv_of(const SearchSpace& space, const SearchResult& result);

/// Throws InvalidInput unless the search is a grid over at least two axes.
void check_heat_map(const SearchSpace& space, SearchMethod method);

/// The first two axes of a grid as a picture, the others at the values of the point chosen.
chart::Drawing heat_map_of(const SearchSpace& space, const SearchResult& result);

}  // namespace mercer::cli
