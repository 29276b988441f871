// Which columns matter: by taking away the least of them again and again, by rescaling them until
// few are left, or by shuffling one at a time. And which rows to label next [Tong and Koller 2000;
// Warmuth et al. 2002; 001 refs 67 and 77].
//
//   const Elimination e = eliminate_features({.svm = {.common = {.kernel = linear()}}}, data);
//   e.ranking.front();                                  // the column that stayed to the end
//   zero_norm_features({.svm = {.common = {.kernel = linear()}}}, data).selected;
//   permutation_importance(model, test).front().drop;   // what the score loses without column 0
//   for (const Query& q : query_simple(model, pool.x, 10)) q.row;       // nearest to the plane
//   query_max_min({.common = {.kernel = rbf()}, .C = 100}, labelled, pool.x, 1);  // halves them
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/select/metrics.hpp"

namespace mercer MERCER_API {

struct EliminationSettings {
    SvmSettings svm{};      ///< a classifier: svc or nu-svc
    std::size_t keep = 1;   ///< stop when so many are left
    double share = 0;       ///< of the columns left, taken away at a time; 0: one
    std::size_t folds = 0;  ///< cross-validate each round over so many; 0: not
    std::uint64_t seed = 1;
    Progress progress{};
};

struct EliminationRound {
    std::size_t features = 0;             ///< learnt from
    double training_accuracy = 0;         ///< of the machine
    std::optional<double> cv_accuracy{};  ///< where folds were asked for
};

struct Elimination {
    std::vector<std::size_t> ranking{};  ///< columns, the last to go first
    std::vector<EliminationRound> rounds{};
};

/// Recursive feature elimination [Guyon, Weston, Barnhill and Vapnik 2002]: train, take away the
/// columns whose loss changes ‖w‖² least at fixed α, and again. For linear kernels the change is
/// w_j²; for others α'Qα − α'Q(−j)α with column j of the support vectors set to 0. Columns taken
/// away are set to 0 and keep their places, so that kernels of some columns mean what they say.
/// Throws InvalidInput for other tasks, keep outside 1 … columns, share outside [0, 1), and data of
/// more than 100000 columns. Throws Cancelled.
Elimination eliminate_features(const EliminationSettings& settings, const Dataset& data);

struct ZeroNormSettings {
    SvmSettings svm{};        ///< a classifier, svc or nu-svc, with a linear kernel
    std::size_t keep = 1;     ///< never fewer than so many
    std::size_t rounds = 50;  ///< at most
    std::size_t folds = 0;    ///< cross-validate each round over so many; 0: not
    std::uint64_t seed = 1;
    Progress progress{};
};

struct ZeroNorm {
    std::vector<double> scale{};          ///< of each column, the largest 1; 0: it is gone
    std::vector<std::size_t> selected{};  ///< columns left, the heaviest first
    std::vector<std::size_t> ranking{};  ///< all columns: those selected, then the last to go first
    std::vector<EliminationRound> rounds{};
    bool converged = false;  ///< the scale stood still
};

/// Few columns by their zero norm, ‖w‖₀ [Weston, Elisseeff, Schölkopf and Tipping 2003]: train,
/// multiply each column by |w_j|, and again. What stands still is a local minimum of Σ ln |w_j|
/// over planes that do as well, which drives most weights to 0 where ½‖w‖² only makes them small. A
/// column counts as gone below 1e-6 of the heaviest. With several outputs |w_j| is the length over
/// them. Only linear kernels have a weight a column: others are an InvalidInput, as are other
/// tasks, keep outside 1 … columns and more than 100000 columns. Throws Cancelled.
ZeroNorm zero_norm_features(const ZeroNormSettings& settings, const Dataset& data);

struct Importance {
    double drop = 0;  ///< mean of score − score with the column shuffled; of losses, the rise
    double deviation = 0;  ///< over the repeats
};
struct ImportanceSettings {
    std::optional<Metric> measure{};  ///< none: the usual one of the task
    std::string positive{};           ///< f1 of two classes: of this one; empty: of the last
    std::size_t repeats = 5;
    std::uint64_t seed = 1;
    Progress progress{};
};
/// Permutation importance (Breiman 2001; Fisher, Rudin and Dominici 2019) of each column for a
/// trained machine on labelled rows, best ones it has not seen. Throws InvalidInput and Cancelled.
std::vector<Importance> permutation_importance(const Model& model, const Dataset& data,
                                               const ImportanceSettings& settings = {});

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
