// Prediction of a voted perceptron, whose vectors all vote.

#include <algorithm>
#include <cmath>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/online/perceptron.hpp"

namespace mercer {
namespace {

constexpr std::size_t fields = 5;

/// One row of the array.
struct Vote {
    std::size_t point;
    std::ptrdiff_t up;
    std::ptrdiff_t down;
    double weight;
    double survived;
};

std::vector<Vote> votes_of(const Matrix<double>& array) {
    std::vector<Vote> votes;
    votes.reserve(array.rows());
    for (std::size_t i = 0; i < array.rows(); ++i) {
        votes.push_back({static_cast<std::size_t>(array(i, 0)),
                         static_cast<std::ptrdiff_t>(array(i, 1)),
                         static_cast<std::ptrdiff_t>(array(i, 2)), array(i, 3), array(i, 4)});
    }
    return votes;
}

/// The vector that has just been changed speaks: +1 or −1, or the class with the largest value.
void cast(std::span<const double> f, double votes, std::span<double> out) {
    if (f.size() == 1) {
        out[0] += f[0] > 0 ? votes : -votes;
        return;
    }
    out[static_cast<std::size_t>(std::ranges::max_element(f) - f.begin())] += votes;
}

template <class T>
void count_votes(const Model& model, const std::vector<Vote>& votes, const Rows& x,
                 MatrixView<double> out, const Progress& progress) {
    const Expansion& e = model.expansion();
    const auto gram = make_gram<T>(e.kernel, e.reference.size() > 0 ? e.reference : e.points);
    const Points<T> points = e.reference.size() > 0 ? gram.prepare(e.points) : gram.reference();
    const Points<T> all = gram.prepare(x);
    double total = 0;
    for (const Vote& vote : votes) total += vote.survived;
    const double offset = model.trained().bias ? 1 : 0;
    const std::size_t band = std::clamp<std::size_t>(
        (std::size_t{16} << 20) / std::max<std::size_t>(e.size(), 1), 16, 1024);
    Matrix<T> values(std::min(band, x.size()), e.size());
    std::vector<std::size_t> which;
    for (std::size_t first = 0; first < x.size(); first += band) {
        const double done = static_cast<double>(first) / static_cast<double>(x.size());
        if (!keep_going(progress, {"predicting", done})) throw Cancelled();
        const std::size_t count = std::min(band, x.size() - first);
        which.resize(count);
        for (std::size_t i = 0; i < count; ++i) which[i] = first + i;
        gram.block(gram.select(all, which, false), points,
                   values.view().block(0, 0, count, e.size()));
        parallel_ranges(count, 8, [&](std::size_t begin, std::size_t end) {
            std::vector<double> f(e.outputs());
            for (std::size_t i = begin; i < end; ++i) {
                std::ranges::fill(f, 0.0);
                const std::span<double> row = out.row(first + i);
                for (const Vote& vote : votes) {
                    const double change =
                        vote.weight * (static_cast<double>(values(i, vote.point)) + offset);
                    if (vote.up >= 0) f[static_cast<std::size_t>(vote.up)] += change;
                    if (vote.down >= 0) f[static_cast<std::size_t>(vote.down)] -= change;
                    cast(f, vote.survived, row);
                }
                for (double& share : row) share /= std::max(total, 1.0);
            }
        });
    }
}

}  // namespace

void Votes::check(const ModelParts& model, const std::string& place) const {
    const Matrix<double>& array = table;
    const auto outputs = static_cast<double>(model.expansion.outputs());
    if (array.rows() > 0 && array.columns() != fields) {
        throw InvalidInput(place + ": array votes has " + std::to_string(array.columns()) +
                           " columns, expected " + std::to_string(fields));
    }
    const auto whole = [](double v, double low, double high) {
        return v >= low && v < high && v == std::floor(v);
    };
    for (std::size_t i = 0; i < array.rows(); ++i) {
        const bool good = whole(array(i, 0), 0, static_cast<double>(model.expansion.size())) &&
                          whole(array(i, 1), -1, outputs) && whole(array(i, 2), -1, outputs) &&
                          std::isfinite(array(i, 3)) && whole(array(i, 4), 0, 0x1p53);
        if (good) continue;
        throw InvalidInput(place + ": row " + std::to_string(i) +
                           " of the array votes names a point or output that is not there");
    }
}

std::string Votes::why_not_reduced() const {
    return "a voted perceptron cannot be reduced: its vectors vote one by one; train the averaged "
           "variant";
}

Matrix<double> Votes::decide(const Model& model, const Rows& x, const Progress& progress) const {
    const std::vector<Vote> votes = votes_of(table);
    Matrix<double> out(x.size(), model.expansion().outputs());
    if (model.expansion().size() == 0) return out;
    if (model.double_precision()) {
        count_votes<double>(model, votes, x, out.view(), progress);
    } else {
        count_votes<float>(model, votes, x, out.view(), progress);
    }
    return out;
}

}  // namespace mercer
