#include "mercer/kernel/definiteness.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using Kind = FeatureDimension::Kind;

/// The number of columns that k of k[0:3][1] sees.
std::size_t columns_seen(const KernelNode& node, std::size_t columns) {
    if (node.kind != KernelKind::columns) return columns;
    return columns_seen(node.children.front().node(), node.subset.positions(columns).size());
}

/// Some power of x·z with a coefficient above 0, and columns for it to vary with.
bool varies(const Finding& part, std::size_t columns) {
    return part.series && part.series->dot_product && part.series->first_positive() &&
           columns_seen(part.series->base->node(), columns) > 0;
}

/// A polynomial of x·z: the monomials of every degree with a coefficient above 0.
FeatureDimension of_series(const Series& series, std::size_t columns) {
    if (!series.base) return FeatureDimension::constant(series.a[0]);
    const std::size_t seen = columns_seen(series.base->node(), columns);
    FeatureCount count;
    for (std::size_t n = 0; n < series.a.size(); ++n) {
        if (series.a[n] <= Series::rounding * series.size[n]) continue;
        count = count + FeatureCount::monomials(seen, n);
    }
    return FeatureDimension::exactly(count, "monomials of " + std::to_string(seen) +
                                                " columns, of the degrees in " + series.text() +
                                                ", t = " + series.base_text);
}

class Walk {
   public:
    FeatureDimension operator()(const Kernel& k, std::size_t columns,
                                const Assumptions& assumptions) const {
        const Finding found = find(k, assumptions);
        if (found.definite != Definite::positive) {
            return FeatureDimension::unclear("'" + k.text() + "' is " + describe(found.definite) +
                                             ": a feature space is that of a positive definite "
                                             "kernel");
        }
        if (found.distinct.strict && columns > 0) {
            return FeatureDimension::endless(
                "strictly positive definite: the features of any distinct rows are independent");
        }
        const bool polynomial = found.series && found.series->tail == Series::Tail::zero &&
                                (!found.series->base || found.series->dot_product);
        const KernelNode& node = k.node();
        if (node.leaf != nullptr && node.leaf->dimension != nullptr) {
            return node.leaf->dimension(node, columns);
        }
        if (polynomial) return of_series(*found.series, columns);
        if (node.leaf == nullptr) return of_combination(node, columns, assumptions);
        return FeatureDimension::unclear("no rule is known for " + node.entry().name +
                                         "; the rank on data says what they use of it");
    }

   private:
    FeatureDimension of_combination(const KernelNode& node, std::size_t columns,
                                    const Assumptions& all) const {
        const Kernel& first = node.children.front();
        const Assumptions some{.unit_norm = false, .non_negative = all.non_negative};
        switch (node.kind) {
            case KernelKind::sum: return of_sum(node, columns, all);
            case KernelKind::product: return of_product(node, columns, all);
            case KernelKind::scale: return (*this)(first, columns, all);
            case KernelKind::power: return of_power(node, columns, all);
            case KernelKind::exp: return of_exp(first, columns, all);
            case KernelKind::rbf_of: return of_gaussian(node, columns, all);
            case KernelKind::normalize: {
                FeatureDimension inside = (*this)(first, columns, all);
                inside.because = "as without normalize: " + inside.because;
                return inside;
            }
            case KernelKind::center:
                return bounded((*this)(first, columns, all),
                               "centred on a sample, no more than: ", true);
            case KernelKind::columns:
                return (*this)(first, node.subset.positions(columns).size(), some);
            case KernelKind::sets: {
                // A set of one member, or of one many times, has its feature.
                FeatureDimension inside =
                    (*this)(first, static_cast<std::size_t>(node.value), some);
                inside.because = "that of the kernel on members: " + inside.because;
                return inside;
            }
            default:
                return bounded((*this)(first, node.formulas.size(), {}),
                               "on the rows that a map makes, no more than: ", false);
        }
    }

    static FeatureDimension bounded(FeatureDimension inside, const std::string& why,
                                    bool keeps_infinite) {
        if (inside.kind == Kind::exact) inside.kind = Kind::at_most;
        if (inside.kind == Kind::infinite && !keeps_infinite) inside.kind = Kind::unknown;
        inside.because = why + inside.because;
        return inside;
    }

    std::vector<FeatureDimension> of_parts(const KernelNode& node, std::size_t columns,
                                           const Assumptions& assumptions) const {
        std::vector<FeatureDimension> parts;
        for (const Kernel& child : node.children) {
            parts.push_back((*this)(child, columns, assumptions));
        }
        return parts;
    }

    /// The space of a sum holds those of its parts.
    FeatureDimension of_sum(const KernelNode& node, std::size_t columns,
                            const Assumptions& assumptions) const {
        FeatureCount total;
        const auto parts = of_parts(node, columns, assumptions);
        for (const FeatureDimension& part : parts) {
            if (part.kind == Kind::unknown) return part;
        }
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (parts[i].kind == Kind::infinite) {
                return FeatureDimension::endless("that of its part '" + node.children[i].text() +
                                                 "' is: " + parts[i].because);
            }
            total = total + parts[i].count;
        }
        return FeatureDimension::at_most(total, "the features of all parts one after another");
    }

    /// det(A∘B) >= det A Π B_ii (Oppenheim): where B has no 0 on the diagonal, rows that are
    /// independent for A stay so.
    FeatureDimension of_product(const KernelNode& node, std::size_t columns,
                                const Assumptions& assumptions) const {
        const auto parts = of_parts(node, columns, assumptions);
        FeatureCount total(1);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (parts[i].kind == Kind::unknown) return parts[i];
            if (parts[i].kind == Kind::infinite) {
                return endless_factor(node, i, columns, assumptions);
            }
            total = total * parts[i].count;
        }
        return FeatureDimension::at_most(total, "products of one feature of each factor");
    }

    FeatureDimension endless_factor(const KernelNode& node, std::size_t factor, std::size_t columns,
                                    const Assumptions& assumptions) const {
        const bool strict = find(node.children[factor], assumptions).distinct.strict;
        for (std::size_t i = 0; i < node.children.size(); ++i) {
            if (i == factor) continue;
            const Finding other = find(node.children[i], assumptions);
            // x·z and its powers are 0 on few rows only, and distinct others are left.
            const bool mostly = strict && varies(other, columns);
            if (!other.distinct.positive_diagonal && !mostly) {
                return FeatureDimension::unclear("'" + node.children[factor].text() +
                                                 "' has infinitely many, but '" +
                                                 node.children[i].text() + "' may be 0");
            }
        }
        return FeatureDimension::endless("that of its factor '" + node.children[factor].text() +
                                         "' is (Oppenheim)");
    }

    FeatureDimension of_power(const KernelNode& node, std::size_t columns,
                              const Assumptions& assumptions) const {
        const FeatureDimension inside = (*this)(node.children.front(), columns, assumptions);
        const bool whole = node.value == std::floor(node.value) && node.value >= 1;
        if (!whole) {
            return FeatureDimension::unclear("a power that is not whole has no rule of its own");
        }
        if (inside.kind == Kind::unknown || inside.kind == Kind::infinite) return inside;
        if (!inside.count.exact()) return FeatureDimension::unclear("more than can be counted");
        return FeatureDimension::at_most(
            FeatureCount::monomials(*inside.count.exact(), static_cast<std::uint64_t>(node.value)),
            "products of features, as many as the power says");
    }

    /// exp(k) = 1 + k + k²/2 + … holds the spaces of all terms.
    FeatureDimension of_exp(const Kernel& inside, std::size_t columns,
                            const Assumptions& assumptions) const {
        if (varies(find(inside, assumptions), columns)) {
            return FeatureDimension::endless("the series of exp has powers of x.z without end");
        }
        const FeatureDimension part = (*this)(inside, columns, assumptions);
        if (part.kind == Kind::infinite) return FeatureDimension::endless(part.because);
        return FeatureDimension::unclear("no rule for exp of '" + inside.text() + "'");
    }

    /// A Gaussian of infinitely many distinct features.
    FeatureDimension of_gaussian(const KernelNode& node, std::size_t columns,
                                 const Assumptions& assumptions) const {
        const Kernel& inside = node.children.front();
        if (leaves::number_or_one(node, "gamma") == 0) return FeatureDimension::constant(1);
        const bool many = varies(find(inside, assumptions), columns) ||
                          (*this)(inside, columns, assumptions).kind == Kind::infinite;
        if (many) return FeatureDimension::endless("a Gaussian of infinitely many features");
        return FeatureDimension::unclear("no rule for a Gaussian of '" + inside.text() + "'");
    }
};

}  // namespace

FeatureCount::FeatureCount(std::uint64_t count)
    : exact_(count),
      log10_(count == 0 ? -std::numeric_limits<double>::infinity()
                        : std::log10(static_cast<double>(count))) {}

FeatureCount FeatureCount::binomial(std::uint64_t n, std::uint64_t k) {
    if (k > n) return FeatureCount(0);
    k = std::min(k, n - k);
    FeatureCount result(1);
    std::uint64_t value = 1;
    for (std::uint64_t i = 1; i <= k; ++i) {
        // value (n − k + i) / i is whole; what i shares with neither goes before the product grows.
        const std::uint64_t shared = std::gcd(value, i);
        const std::uint64_t factor = (n - k + i) / (i / shared);
        if (__builtin_mul_overflow(value / shared, factor, &value)) {
            const auto log_factorial = [](std::uint64_t x) {
                return std::lgamma(static_cast<double>(x) + 1) / std::log(10.0);
            };
            result.exact_.reset();
            result.log10_ = log_factorial(n) - log_factorial(k) - log_factorial(n - k);
            return result;
        }
    }
    return FeatureCount(value);
}

FeatureCount FeatureCount::monomials(std::uint64_t variables, std::uint64_t degree) {
    if (degree == 0) return FeatureCount(1);
    if (variables == 0) return FeatureCount(0);
    return binomial(variables + degree - 1, degree);
}

double FeatureCount::approximate() const {
    return exact_ ? static_cast<double>(*exact_) : std::pow(10.0, log10_);
}

std::string FeatureCount::text() const {
    if (exact_) return std::to_string(*exact_);
    double exponent = std::floor(log10_);
    double mantissa = std::pow(10.0, log10_ - exponent);
    if (mantissa >= 9.9995) {
        mantissa = 1;
        ++exponent;
    }
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.3fe%.0f", mantissa, exponent);
    return buffer.data();
}

FeatureCount operator+(const FeatureCount& a, const FeatureCount& b) {
    std::uint64_t sum = 0;
    if (a.exact_ && b.exact_ && !__builtin_add_overflow(*a.exact_, *b.exact_, &sum)) {
        return FeatureCount(sum);
    }
    FeatureCount result;
    result.exact_.reset();
    const double larger = std::max(a.log10_, b.log10_);
    result.log10_ = larger + std::log10(1 + std::pow(10.0, std::min(a.log10_, b.log10_) - larger));
    return result;
}

FeatureCount operator*(const FeatureCount& a, const FeatureCount& b) {
    std::uint64_t product = 0;
    if (a.exact_ && b.exact_ && !__builtin_mul_overflow(*a.exact_, *b.exact_, &product)) {
        return FeatureCount(product);
    }
    if (a.exact_ == 0U || b.exact_ == 0U) return FeatureCount(0);
    FeatureCount result;
    result.exact_.reset();
    result.log10_ = a.log10_ + b.log10_;
    return result;
}

FeatureDimension FeatureDimension::constant(double value) {
    return exactly(FeatureCount(value > 0 ? 1 : 0),
                   value > 0 ? "a constant is one feature" : "the kernel 0 has no features");
}

FeatureDimension feature_dimension(const Kernel& kernel, std::size_t columns,
                                   const Assumptions& assumptions) {
    return Walk()(kernel, columns, assumptions);
}

std::string describe(const FeatureDimension& dimension) {
    switch (dimension.kind) {
        case Kind::exact: return dimension.count.text();
        case Kind::at_most: return "at most " + dimension.count.text();
        case Kind::infinite: return "infinite";
        case Kind::unknown: break;
    }
    return "not known";
}

}  // namespace mercer
