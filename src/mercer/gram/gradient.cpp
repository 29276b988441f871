#include "mercer/gram/gradient.hpp"

#include <algorithm>
#include <optional>

#include "mercer/base/detail/slices.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/gram/detail/gradient_walk.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/parameters.hpp"

namespace mercer {
namespace {

/// Rows of a tile walked at once: what fits the second-level cache with some parts of it.
constexpr std::size_t strip_rows = 16;

std::size_t bands(std::size_t n) {
    return (n + gradient_tile - 1) / gradient_tile;
}

/// Tile number `task` of the lower triangle, row by row: (0,0), (1,0), (1,1), (2,0), …
PairWindow lower_tile(std::size_t task, std::size_t n) {
    std::size_t i = 0;
    while ((i + 1) * (i + 2) / 2 <= task) ++i;
    const std::size_t j = task - i * (i + 1) / 2;
    const auto extent = [n](std::size_t band) {
        return std::min(gradient_tile, n - band * gradient_tile);
    };
    return {i * gradient_tile, extent(i), j * gradient_tile, extent(j)};
}

}  // namespace

struct GramGradient::State {
    Kernel kernel;
    std::vector<KernelParameter> parameters{};
    std::size_t size = 0;
    PairSources sources{};
    std::vector<RowSide> sides{};
    GradientPart root{};

    std::size_t tiles() const { return bands(size) * (bands(size) + 1) / 2; }
    /// About how many operations a tile takes: products of rows, and a pass for each operation.
    double tile_work() const {
        const auto columns = static_cast<double>(sources.samples.front().columns());
        return static_cast<double>(gradient_tile * gradient_tile) * (100 + 2 * columns);
    }

    /// Keeps the numbers of all sources when they fit.
    void keep(std::size_t memory_bytes, const Progress& progress) {
        const std::size_t numbers = size * (size + gradient_tile) / 2;
        if (sources.sources.empty() ||
            numbers > memory_bytes / sizeof(double) / sources.sources.size()) {
            return;
        }
        for (std::size_t s = 0; s < sources.sources.size(); ++s) {
            auto kept = std::make_shared<std::vector<std::vector<double>>>(tiles());
            const Moment moment{"pairs of rows", -1};
            parallel_slices(tiles(), tile_work(), progress, moment, [&](std::size_t task) {
                (*kept)[task] = sources.fill(s, {.window = lower_tile(task, size)});
            });
            sources.sources[s].kept = std::move(kept);
        }
    }

    /// Evaluates a part over a window strip by strip: f(window of the strip, its batch). `tile` is
    /// the window's number when it is a tile of the lower triangle.
    template <class F>
    void walk(const GradientPart& part, const PairWindow& w, std::optional<std::size_t> tile,
              bool slopes, F f) const {
        std::vector<std::vector<double>> filled(sources.sources.size());
        PairWindow strip = w;
        const auto numbers = [&](std::size_t s) -> std::span<const double> {
            const PairSource& source = sources.sources[s];
            const std::vector<double>* all = nullptr;
            if (tile && source.kept) {
                all = &(*source.kept)[*tile];
            } else {
                if (filled[s].empty()) filled[s] = sources.fill(s, {.window = w});
                all = &filled[s];
            }
            return std::span(*all).subspan((strip.first_row - w.first_row) * w.columns,
                                           strip.rows * w.columns);
        };
        const TangentWalker::Numbers provider = numbers;
        for (std::size_t i = 0; i < w.rows; i += strip_rows) {
            strip.first_row = w.first_row + i;
            strip.rows = std::min(strip_rows, w.rows - i);
            const Pairs pairs{.window = strip};
            f(strip, TangentWalker(sources, sides, pairs, provider, slopes)(part));
        }
    }

    // ---- what normalize, rbf_of and center need of single rows

    void fill_sides(const GradientPart& part) {
        for (const GradientPart& child : part.children) fill_sides(child);
        if (part.side == GradientPart::none) return;
        const GradientPart& inner = part.children.front();
        if (part.node->kind == KernelKind::center) {
            sides[part.side] = means(inner);
        } else {
            sides[part.side].rows = diagonal(inner);
        }
    }

    Batch diagonal(const GradientPart& part) const {
        const Pairs pairs{.window = {.first_row = 0, .rows = size}, .diagonal = true};
        std::vector<std::vector<double>> filled(sources.sources.size());
        const TangentWalker::Numbers provider = [&](std::size_t s) -> std::span<const double> {
            if (filled[s].empty()) filled[s] = sources.fill(s, pairs);
            return filled[s];
        };
        return TangentWalker(sources, sides, pairs, provider, true)(part);
    }

    /// Means over the sample of one row of pairs each, and the mean of the means.
    RowSide means(const GradientPart& part) const {
        const std::size_t count = part.parameter_count();
        RowSide side;
        side.rows.value.assign(size, 0.0);
        side.rows.slope.assign(count, std::vector<double>(size, 0.0));
        const auto n = static_cast<double>(size);
        parallel_for(bands(size), [&](std::size_t band) {
            const std::size_t first = band * gradient_tile;
            const std::size_t rows = std::min(gradient_tile, size - first);
            for (std::size_t j = 0; j < size; j += gradient_tile) {
                const PairWindow w{first, rows, j, std::min(gradient_tile, size - j)};
                walk(part, w, {}, true, [&](const PairWindow& strip, const Batch& batch) {
                    for (std::size_t i = 0; i < strip.rows; ++i) {
                        const std::size_t row = strip.first_row + i;
                        for (std::size_t e = i * w.columns; e < (i + 1) * w.columns; ++e) {
                            side.rows.value[row] += batch.value[e] / n;
                            for (std::size_t p = 0; p < count; ++p) {
                                side.rows.slope[p][row] += batch.slope[p][e] / n;
                            }
                        }
                    }
                });
            }
        });
        for (const double v : side.rows.value) side.mean += v / n;
        for (const auto& slope : side.rows.slope) {
            side.mean_slope.push_back(0);
            for (const double v : slope) side.mean_slope.back() += v / n;
        }
        return side;
    }
};

GramGradient::GramGradient(const Kernel& kernel, const Rows& reference,
                           std::span<const std::string> names, std::size_t memory_bytes,
                           const Progress& progress) {
    if (reference.size() == 0) throw InvalidInput("a Gram matrix needs at least one row");
    auto state = std::make_shared<State>(State{.kernel = resolve(kernel, reference, names)});
    state->parameters = mercer::parameters(state->kernel);
    state->size = reference.size();
    state->sources.samples.push_back(reference);
    state->root = build_part(state->kernel, state->sources, state->sides);
    state->keep(memory_bytes, progress);
    state->fill_sides(state->root);
    state_ = std::move(state);
}

GramGradient GramGradient::with(std::span<const double> values) const {
    auto state = std::make_shared<State>(State{.kernel = with_parameters(kernel(), values)});
    state->parameters = mercer::parameters(state->kernel);
    state->size = state_->size;
    state->sources = state_->sources;
    state->root = build_part(state->kernel, state->sources, state->sides);
    state->fill_sides(state->root);
    return GramGradient(std::move(state));
}

const Kernel& GramGradient::kernel() const {
    return state_->kernel;
}
const std::vector<KernelParameter>& GramGradient::parameters() const {
    return state_->parameters;
}
std::size_t GramGradient::size() const {
    return state_->size;
}

void GramGradient::block(std::size_t first_row, std::size_t first_column, MatrixView<double> value,
                         std::span<const MatrixView<double>> slopes) const {
    const std::size_t across = (value.columns + gradient_tile - 1) / gradient_tile;
    const std::size_t down = (value.rows + gradient_tile - 1) / gradient_tile;
    parallel_for(across * down, [&](std::size_t task) {
        const std::size_t i = task / across * gradient_tile;
        const std::size_t j = task % across * gradient_tile;
        const PairWindow w{first_row + i, std::min(gradient_tile, value.rows - i), first_column + j,
                           std::min(gradient_tile, value.columns - j)};
        const auto copy = [&](const PairWindow& strip, const std::vector<double>& from,
                              MatrixView<double> to) {
            for (std::size_t r = 0; r < strip.rows; ++r) {
                std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(r * w.columns), w.columns,
                            to.row(strip.first_row - first_row + r).begin() +
                                static_cast<std::ptrdiff_t>(j));
            }
        };
        state_->walk(state_->root, w, {}, !slopes.empty(),
                     [&](const PairWindow& strip, const Batch& batch) {
                         copy(strip, batch.value, value);
                         for (std::size_t p = 0; p < slopes.size(); ++p) {
                             copy(strip, batch.slope[p], slopes[p]);
                         }
                     });
    });
}

void GramGradient::matrix(MatrixView<double> out, const Progress& progress) const {
    const std::size_t n = size();
    parallel_slices(state_->tiles(), state_->tile_work(), progress, {"gram matrix", -1},
                    [&](std::size_t task) {
                        const PairWindow w = lower_tile(task, n);
                        state_->walk(state_->root, w, task, false,
                                     [&](const PairWindow& s, const Batch& batch) {
                                         for (std::size_t i = 0; i < s.rows; ++i) {
                                             for (std::size_t j = 0; j < s.columns; ++j) {
                                                 const double v = batch.value[i * s.columns + j];
                                                 out(s.first_row + i, s.first_column + j) = v;
                                                 // A tile on the diagonal holds both of a pair; the
                                                 // lower one counts.
                                                 if (s.first_row + i >= s.first_column + j) {
                                                     out(s.first_column + j, s.first_row + i) = v;
                                                 }
                                             }
                                         }
                                     });
                    });
}

std::vector<double> GramGradient::contract(MatrixView<const double> weights,
                                           const Progress& progress) const {
    const std::size_t n = size();
    const std::size_t count = parameters().size();
    Matrix<double> partial(state_->tiles(), count);
    const double work = state_->tile_work() * static_cast<double>(count + 1);
    parallel_slices(state_->tiles(), work, progress, {"slopes", -1}, [&](std::size_t task) {
        const PairWindow w = lower_tile(task, n);
        const auto sums = partial.row(task);
        state_->walk(state_->root, w, task, true, [&](const PairWindow& s, const Batch& batch) {
            for (std::size_t i = 0; i < s.rows; ++i) {
                const std::size_t row = s.first_row + i;
                const std::size_t columns = std::min(s.columns, row + 1 - s.first_column);
                const double* weight = &weights(row, s.first_column);
                const bool ends_on_diagonal = s.first_column + columns == row + 1;
                for (std::size_t p = 0; p < count; ++p) {
                    const double* slope = batch.slope[p].data() + i * s.columns;
                    double sum = 0;
                    for (std::size_t j = 0; j < columns; ++j) sum += weight[j] * slope[j];
                    sums[p] += 2 * sum;
                    if (ends_on_diagonal) sums[p] -= weight[columns - 1] * slope[columns - 1];
                }
            }
        });
    });
    std::vector<double> result(count, 0.0);
    for (std::size_t task = 0; task < partial.rows(); ++task) {
        for (std::size_t p = 0; p < count; ++p) result[p] += partial(task, p);
    }
    return result;
}

Matrix<double> input_gradients(const Kernel& kernel, std::span<const double> x, const Rows& z) {
    Matrix<double> result(z.size(), x.size());
    const Rows wide = z.columns() < x.size() ? z.widened(x.size()) : z;
    parallel_ranges(z.size(), 64, [&](std::size_t first, std::size_t last) {
        std::vector<double> row(wide.columns());
        for (std::size_t j = first; j < last; ++j) {
            wide.copy_row(j, row);
            std::ranges::copy(input_gradient(kernel, x, row), result.row(j).begin());
        }
    });
    return result;
}

}  // namespace mercer
