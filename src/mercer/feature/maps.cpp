#include "mercer/feature/maps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

constexpr std::size_t most_features = 1'000'000;
constexpr int most_degree = 100;
/// The whole Gram matrix of the sample is diagonalised: cubic, and two matrices in memory.
constexpr std::size_t most_sample = 40'000;

void check_columns(std::size_t columns, int degree, int lowest) {
    if (degree < 1 || degree > most_degree) {
        throw InvalidInput("degree = " + std::to_string(degree) + " must be between 1 and " +
                           std::to_string(most_degree));
    }
    if (lowest < 0 || lowest > degree) {
        throw InvalidInput("the lowest degree " + std::to_string(lowest) +
                           " must be between 0 and the highest, " + std::to_string(degree));
    }
    // Monomials of all degrees up to n in d columns: (d + n choose n).
    double count = 1;
    for (int n = 1; n <= degree; ++n) {
        count *= (static_cast<double>(columns) + n) / n;
    }
    if (count > static_cast<double>(most_features)) {
        throw InvalidInput("the monomials of degree " + std::to_string(degree) + " in " +
                           std::to_string(columns) +
                           " columns are more than a million features; "
                           "use the kernel itself, which computes their product without them");
    }
}

double factorial(int n) {
    return std::tgamma(n + 1.0);
}

/// Π a_i! of a sorted list of columns, repeats being powers.
double product_of_factorials(std::span<const std::size_t> parts) {
    double result = 1;
    int run = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        run = i > 0 && parts[i] == parts[i - 1] ? run + 1 : 1;
        result *= run;
    }
    return result;
}

Expansion sample_expansion(const Gram<double>& gram, const Rows& sample) {
    Expansion e;
    e.kernel = gram.kernel();
    e.points = sample;
    if (is_centered(e.kernel)) e.reference = sample;
    return e;
}

void check_sample(const Rows& sample) {
    if (sample.size() == 0) throw InvalidInput("a map needs a sample of at least one row");
    require_finite(sample);
    if (sample.size() > most_sample) {
        throw InvalidInput("a map through " + std::to_string(sample.size()) +
                           " rows would diagonalise their whole Gram matrix; draw at most " +
                           std::to_string(most_sample) + " landmarks");
    }
}

/// The eigenpairs that differ from 0, the largest first.
struct Basis {
    std::vector<double> values;
    Matrix<double> vectors;  ///< one a row
};

/// How large the numbers are that a kernel subtracts from one another where it is centred: their
/// rounding is that of the difference too. 0 where it is not.
double before_centring(const Kernel& kernel, const Rows& sample) {
    const KernelNode& node = kernel.node();
    double size = 0;
    if (node.kind == KernelKind::center) {
        const auto inner = make_gram<double>(node.children[0], sample);
        std::vector<double> diagonal(sample.size());
        inner.diagonal(inner.reference(), diagonal);
        for (const double value : diagonal) size = std::max(size, std::abs(value));
    } else if (node.kind == KernelKind::scale || node.kind == KernelKind::sum) {
        for (const Kernel& child : node.children) size += before_centring(child, sample);
        if (node.kind == KernelKind::scale) size *= std::abs(node.value);
    }
    return size;
}

Basis basis_of(const Gram<double>& gram, const Rows& sample, const Progress& progress) {
    const std::size_t m = gram.size();
    Matrix<double> k(m, m);
    gram.matrix(k.view(), progress);
    if (!std::ranges::all_of(k.values(), [](double v) { return std::isfinite(v); })) {
        throw InvalidInput("the kernel takes values that are not finite");
    }
    const Spectrum spectrum = symmetric_eigen(k.view());
    const double largest =
        std::max(std::abs(spectrum.values.front()), std::abs(spectrum.values.back()));
    const double zero = static_cast<double>(m) * std::numeric_limits<double>::epsilon() *
                        std::max(largest, 10 * before_centring(gram.kernel(), sample));
    if (spectrum.values.front() < -10 * zero) {
        throw InvalidInput("the Gram matrix has the negative eigenvalue " +
                           format_number(spectrum.values.front()) +
                           ": the kernel is no dot product on this sample, and has no such map");
    }
    Basis basis;
    std::size_t kept = 0;
    while (kept < m && spectrum.values[m - 1 - kept] > zero) ++kept;
    if (kept == 0)
        throw InvalidInput("the kernel is 0 on the whole sample: there is nothing to map");
    basis.vectors = Matrix<double>(kept, m);
    for (std::size_t j = 0; j < kept; ++j) {
        basis.values.push_back(spectrum.values[m - 1 - j]);
        std::ranges::copy(spectrum.vectors.row(m - 1 - j), basis.vectors.row(j).begin());
    }
    return basis;
}

}  // namespace

// ---- Monomials.

template <class Weight>
void MonomialMap::add_degree(int degree, Weight&& weight) {
    std::vector<std::size_t> parts(static_cast<std::size_t>(degree), 0);
    while (true) {
        if (const double w = weight(std::span<const std::size_t>(parts)); w > 0) {
            parts_.insert(parts_.end(), parts.begin(), parts.end());
            starts_.push_back(parts_.size());
            factor_.push_back(w);
        }
        // The next non-decreasing list of columns.
        std::size_t at = parts.size();
        while (at > 0 && parts[at - 1] + 1 == columns_) --at;
        if (at == 0) return;
        const std::size_t next = parts[at - 1] + 1;
        std::fill(parts.begin() + static_cast<std::ptrdiff_t>(at - 1), parts.end(), next);
    }
}

MonomialMap::MonomialMap(std::size_t columns, const MonomialParameters& p) : columns_(columns) {
    require_range("gamma", p.gamma, p.gamma > 0, "greater than 0");
    require_range("coef0", p.coef0, p.coef0 >= 0, "0 or greater");
    if (columns == 0) throw InvalidInput("a map needs rows of at least one column");
    check_columns(columns, p.degree, 0);
    for (int n = p.coef0 == 0 ? p.degree : 0; n <= p.degree; ++n) {
        // degree! / ((degree − n)! Π a_i!), the number of ways to get x^a from the product.
        const double common = factorial(p.degree) / factorial(p.degree - n) *
                              std::pow(p.coef0, p.degree - n) * std::pow(p.gamma, n);
        add_degree(n, [&](std::span<const std::size_t> parts) {
            return std::sqrt(common / product_of_factorials(parts));
        });
    }
}

MonomialMap MonomialMap::plain(std::size_t columns, int degree, int lowest) {
    if (columns == 0) throw InvalidInput("a map needs rows of at least one column");
    check_columns(columns, degree, lowest);
    MonomialMap map(columns);
    for (int n = lowest; n <= degree; ++n) {
        map.add_degree(n, [](std::span<const std::size_t>) { return 1.0; });
    }
    return map;
}

MonomialMap MonomialMap::exponential(std::size_t columns, int degree, double gamma) {
    require_range("gamma", gamma, gamma > 0, "greater than 0");
    if (columns == 0) throw InvalidInput("a map needs rows of at least one column");
    check_columns(columns, degree, 0);
    MonomialMap map(columns);
    for (int n = 0; n <= degree; ++n) {
        map.add_degree(n, [&](std::span<const std::size_t> parts) {
            return std::sqrt(std::pow(gamma, n) / product_of_factorials(parts));
        });
    }
    return map;
}

std::string MonomialMap::name(std::size_t feature) const {
    std::string text;
    for (std::size_t at = starts_[feature]; at < starts_[feature + 1];) {
        std::size_t end = at;
        while (end < starts_[feature + 1] && parts_[end] == parts_[at]) ++end;
        text += (text.empty() ? "x" : "*x") + std::to_string(parts_[at]);
        if (end - at > 1) text += "^" + std::to_string(end - at);
        at = end;
    }
    return text.empty() ? "1" : text;
}

std::vector<double> MonomialMap::operator()(std::span<const double> x) const {
    if (x.size() != columns_) {
        throw InvalidInput("the row has " + std::to_string(x.size()) + " columns; this map is of " +
                           std::to_string(columns_));
    }
    std::vector<double> result(factor_);
    for (std::size_t f = 0; f < result.size(); ++f) {
        for (std::size_t p = starts_[f]; p < starts_[f + 1]; ++p) result[f] *= x[parts_[p]];
    }
    return result;
}

Matrix<double> MonomialMap::operator()(const Rows& x) const {
    require_finite(x);
    if (x.size() > 0 && x.columns() != columns_) {
        throw InvalidInput("the rows have " + std::to_string(x.columns()) +
                           " columns; this map is of " + std::to_string(columns_));
    }
    Matrix<double> result(x.size(), features());
    parallel_ranges(x.size(), 64, [&](std::size_t first, std::size_t last) {
        std::vector<double> row(columns_);
        for (std::size_t i = first; i < last; ++i) {
            x.copy_row(i, row);
            std::ranges::copy((*this)(row), result.row(i).begin());
        }
    });
    return result;
}

// ---- Maps through a sample.

FeatureMap::FeatureMap(Expansion expansion, std::vector<double> eigenvalues)
    : expansion_(std::move(expansion)), eigenvalues_(std::move(eigenvalues)) {}

Matrix<double> FeatureMap::operator()(const Rows& x, const Progress& progress) const {
    require_finite(x);
    if (!eigenvalues_.empty()) return Evaluator(expansion_, true)(x, progress);
    // The empirical map is the kernel values themselves.
    const Expansion& e = expansion_;
    const auto gram = make_gram<double>(e.kernel, e.points);
    Matrix<double> result(x.size(), e.size());
    if (x.size() > 0) gram.block(gram.prepare(x), gram.reference(), result.view());
    return result;
}

FeatureMap empirical_map(const Kernel& kernel, const Rows& sample,
                         std::span<const std::string> names) {
    check_sample(sample);
    const auto gram = make_gram<double>(kernel, sample, names);
    Expansion e = sample_expansion(gram, sample);
    e.bias.assign(sample.size(), 0.0);
    return {std::move(e), {}};
}

FeatureMap whitened_map(const Kernel& kernel, const Rows& sample,
                        std::span<const std::string> names, const Progress& progress) {
    check_sample(sample);
    const auto gram = make_gram<double>(kernel, sample, names, progress);
    Basis basis = basis_of(gram, sample, progress);
    const std::size_t m = sample.size();
    Expansion e = sample_expansion(gram, sample);
    e.bias.assign(m, 0.0);
    e.coefficients = Matrix<double>(m, m);
    parallel_ranges(m, 16, [&](std::size_t first, std::size_t last) {
        for (std::size_t j = 0; j < basis.values.size(); ++j) {
            const auto u = basis.vectors.row(j);
            const double scale = 1 / std::sqrt(basis.values[j]);
            for (std::size_t a = first; a < last; ++a) {
                const double factor = scale * u[a];
                for (std::size_t b = 0; b < m; ++b) e.coefficients(a, b) += factor * u[b];
            }
        }
    });
    return {std::move(e), std::move(basis.values)};
}

FeatureMap eigen_map(const Kernel& kernel, const Rows& sample, std::size_t components,
                     std::span<const std::string> names, const Progress& progress) {
    check_sample(sample);
    const auto gram = make_gram<double>(kernel, sample, names, progress);
    Basis basis = basis_of(gram, sample, progress);
    const std::size_t kept =
        components == 0 ? basis.values.size() : std::min(components, basis.values.size());
    basis.values.resize(kept);
    Expansion e = sample_expansion(gram, sample);
    e.bias.assign(kept, 0.0);
    e.coefficients = Matrix<double>(kept, sample.size());
    for (std::size_t j = 0; j < kept; ++j) {
        const double scale = 1 / std::sqrt(basis.values[j]);
        for (std::size_t i = 0; i < sample.size(); ++i) {
            e.coefficients(j, i) = scale * basis.vectors(j, i);
        }
    }
    return {std::move(e), std::move(basis.values)};
}

Rows draw_landmarks(const Rows& rows, std::size_t count, std::uint64_t seed) {
    if (count == 0 || count >= rows.size()) return rows;
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random(seed).shuffle(std::span(order));
    order.resize(count);
    std::ranges::sort(order);
    return rows.select(order);
}

}  // namespace mercer
