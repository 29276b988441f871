// Which rows to label next [Tong and Koller 2000; Warmuth et al. 2002; 001 refs 67 and 77].
//
//   for (const Query& q : query_simple(model, pool.x, 10)) q.row;       // nearest to the plane
//   query_max_min({.common = {.kernel = rbf()}, .C = 100}, labelled, pool.x, 1);  // halves them
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer MERCER_API {

struct Query {
    std::size_t row = 0;  ///< of the pool
    double score = 0;     ///< what the rule compares
};

/// Simple margin: the rows the machine is least sure of, those with the least |f(x)|, or with more
/// than two classes the least lead of the best class over the next. Nearest first. Throws
/// InvalidInput for models that are no classifiers and an empty pool.
std::vector<Query> query_simple(const Model& model, const Rows& pool, std::size_t count,
                                const Progress& progress = {});

/// MaxMin margin: each candidate is tried with either label, and the one whose smaller margin
/// (1/‖w‖) is the largest comes first: whatever the answer, much is learnt. Two classes, svc; tried
/// are the `shortlist` rows that `query_simple` puts first (0: all). Throws InvalidInput and
/// Cancelled.
std::vector<Query> query_max_min(const SvmSettings& settings, const Dataset& labelled,
                                 const Rows& pool, std::size_t count, std::size_t shortlist = 50,
                                 const Progress& progress = {});

}  // namespace mercer
