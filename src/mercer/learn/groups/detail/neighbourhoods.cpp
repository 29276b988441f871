#include "mercer/learn/groups/detail/neighbourhoods.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"

namespace mercer::quantising {
namespace {

constexpr std::size_t band_rows = 256;

}  // namespace

struct Distances::State {
    Rows rows;
    PairFunction distance;
    std::optional<Gram<double>> gram{};
    std::vector<double> own{};  ///< k(x, x)
};

Distances::Distances(const Rows& rows, const QuantiserSettings& settings) {
    auto state = std::make_unique<State>();
    state->rows = rows;
    state->distance = settings.distance;
    if (!settings.distance) {
        state->gram = make_gram<double>(settings.kernel, rows);
        state->own.resize(rows.size());
        state->gram->diagonal(state->gram->reference(), state->own);
    }
    state_ = std::move(state);
}
Distances::~Distances() = default;

void Distances::block(std::size_t first, std::span<const std::size_t> to,
                      MatrixView<double> out) const {
    const State& s = *state_;
    const auto target = [&](std::size_t j) { return to.empty() ? j : to[j]; };
    if (s.gram) {
        std::vector<std::size_t> which(out.rows);
        std::iota(which.begin(), which.end(), first);
        const Points<double>& all = s.gram->reference();
        s.gram->block(s.gram->select(all, which, false), to.empty() ? all : s.gram->select(all, to),
                      out);
        parallel_ranges(out.rows, 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                for (std::size_t j = 0; j < out.columns; ++j) {
                    const double squared = s.own[first + i] + s.own[target(j)] - 2 * out(i, j);
                    out(i, j) = first + i == target(j) ? 0 : std::max(0.0, squared);
                }
            }
        });
        return;
    }
    parallel_ranges(out.rows, 4, [&](std::size_t begin, std::size_t end) {
        std::vector<double> x(s.rows.columns()), z(s.rows.columns());
        for (std::size_t i = begin; i < end; ++i) {
            s.rows.copy_row(first + i, x);
            for (std::size_t j = 0; j < out.columns; ++j) {
                s.rows.copy_row(target(j), z);
                const double d = s.distance(x, z);
                if (!(d >= 0)) {
                    throw InvalidInput("the distance of rows " + std::to_string(first + i + 1) +
                                       " and " + std::to_string(target(j) + 1) + " is " +
                                       format_number(d) + "; distances are 0 or greater");
                }
                out(i, j) = d * d;
            }
        }
    });
}

double Distances::exact(std::size_t a, std::size_t b, double found) const {
    if (!state_->gram || state_->gram->kernel().node().kind != KernelKind::linear) return found;
    std::vector<double> x(state_->rows.columns()), z(x.size());
    state_->rows.copy_row(a, x);
    state_->rows.copy_row(b, z);
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += (x[k] - z[k]) * (x[k] - z[k]);
    return sum;
}

double Distances::rounding(std::size_t a, std::size_t b) const {
    if (!state_->gram) return 0;
    return 1e-12 * (std::fabs(state_->own[a]) + std::fabs(state_->own[b]));
}

Neighbourhoods neighbourhoods(const Distances& distances, std::size_t rows,
                              const QuantiserSettings& settings) {
    const double limit = settings.radius * settings.radius;
    const std::size_t most = settings.memory_bytes / sizeof(std::uint32_t);
    Neighbourhoods result;
    Matrix<double> block(std::min(band_rows, rows), rows);
    for (std::size_t first = 0; first < rows; first += band_rows) {
        const double done = static_cast<double>(first) / static_cast<double>(rows);
        if (!keep_going(settings.progress, {"neighbourhoods", done})) throw Cancelled();
        const std::size_t count = std::min(band_rows, rows - first);
        distances.block(first, {}, block.view().block(0, 0, count, rows));
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = 0; j < rows; ++j) {
                double squared = block(i, j);
                if (std::fabs(squared - limit) <= distances.rounding(first + i, j)) {
                    squared = distances.exact(first + i, j, squared);
                }
                if (squared <= limit) result.members.push_back(static_cast<std::uint32_t>(j));
            }
            result.starts.push_back(result.members.size());
        }
        if (result.members.size() > most) {
            throw InvalidInput("within the radius " + format_number(settings.radius) +
                               " of one another lie more than " + std::to_string(most) +
                               " pairs of rows, which do not fit the memory allowed; use a smaller "
                               "radius or more memory");
        }
    }
    return result;
}

}  // namespace mercer::quantising
