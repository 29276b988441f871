#include "mercer/feature/spectral.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

using Kind = SpectralFunction::Kind;

constexpr Words kinds{std::pair{Kind::power, "power"}, std::pair{Kind::exp, "exp"},
                      std::pair{Kind::log, "log"},     std::pair{Kind::clip, "clip"},
                      std::pair{Kind::flip, "flip"},   std::pair{Kind::shift, "shift"}};

bool takes_parameter(Kind kind) {
    return kind == Kind::power || kind == Kind::exp;
}

void check_symmetric(MatrixView<const double> k) {
    if (k.rows != k.columns || k.rows == 0) {
        throw InvalidInput("a function of a matrix needs a square one, not " +
                           std::to_string(k.rows) + " x " + std::to_string(k.columns));
    }
    double largest = 0;
    for (std::size_t i = 0; i < k.rows; ++i) {
        for (const double v : k.row(i)) {
            if (!std::isfinite(v)) throw InvalidInput("the matrix has entries that are not finite");
            largest = std::max(largest, std::abs(v));
        }
    }
    for (std::size_t i = 0; i < k.rows; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (std::abs(k(i, j) - k(j, i)) <= 1e-5 * largest) continue;  // single precision passes
            throw InvalidInput("the matrix is not symmetric: entry (" + std::to_string(i + 1) +
                               ", " + std::to_string(j + 1) + ") is " + format_number(k(i, j)) +
                               " and its mirror image " + format_number(k(j, i)));
        }
    }
}

/// U diag(values) U' with the eigenvectors in the rows of `vectors`.
Matrix<double> compose(const std::vector<double>& values, const Matrix<double>& vectors) {
    const std::size_t n = values.size();
    Matrix<double> left(n, n);   // U diag(values), row a
    Matrix<double> right(n, n);  // U, row b
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t a = 0; a < n; ++a) {
            right(a, j) = vectors(j, a);
            left(a, j) = values[j] * vectors(j, a);
        }
    }
    Matrix<double> result(n, n);
    parallel_ranges(n, 128, [&](std::size_t first, std::size_t last) {
        multiply_transposed(std::as_const(left).view().block(first, 0, last - first, n),
                            std::as_const(right).view(),
                            result.view().block(first, 0, last - first, n));
    });
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            result(i, j) = result(j, i) = (result(i, j) + result(j, i)) / 2;
        }
    }
    return result;
}

}  // namespace

Matrix<double> matrix_function(MatrixView<const double> k, const std::function<double(double)>& f) {
    check_symmetric(k);
    Spectrum spectrum = symmetric_eigen(k);
    for (double& value : spectrum.values) {
        const double before = value;
        value = f(value);
        if (!std::isfinite(value)) {
            throw InvalidInput("the function has no finite value at the eigenvalue " +
                               format_number(before));
        }
    }
    return compose(spectrum.values, spectrum.vectors);
}

SpectralFunction::SpectralFunction(Kind kind, double parameter)
    : kind_(kind), parameter_(parameter) {
    if (!std::isfinite(parameter)) throw InvalidInput(text() + ": the parameter must be finite");
}

SpectralFunction SpectralFunction::parse(std::string_view text) {
    const std::size_t open = text.find('(');
    const std::string_view word = text.substr(0, open);
    const std::optional<Kind> kind = kinds.find(word);
    if (!kind) refuse_word("the function of a spectrum", word, kinds.words());
    if (open == std::string_view::npos) {
        if (kind == Kind::power) {
            throw InvalidInput("power needs its exponent, such as power(0.5)");
        }
        return SpectralFunction(*kind);
    }
    const auto number = text.back() == ')'
                            ? parse_number(text.substr(open + 1, text.size() - open - 2))
                            : std::nullopt;
    if (!number || !takes_parameter(*kind)) {
        throw InvalidInput("the function of a spectrum " + quoted(text) +
                           " cannot be read; write power(0.5), exp(0.1), log, clip, flip or "
                           "shift");
    }
    return SpectralFunction(*kind, *number);
}

std::string SpectralFunction::text() const {
    const std::string name(kinds.word(kind_));
    return takes_parameter(kind_) ? name + "(" + format_number(parameter_) + ")" : name;
}

Matrix<double> SpectralFunction::operator()(MatrixView<const double> k) const {
    check_symmetric(k);
    Spectrum spectrum = symmetric_eigen(k);
    const double largest =
        std::max(std::abs(spectrum.values.front()), std::abs(spectrum.values.back()));
    const double zero =
        static_cast<double>(k.rows) * std::numeric_limits<double>::epsilon() * largest;
    const double lowest = std::min(spectrum.values.front(), 0.0);
    const bool whole = parameter_ == std::floor(parameter_);
    const auto at = [&](double value) {
        const double lambda = std::abs(value) <= zero ? 0 : value;
        switch (kind_) {
            case Kind::power: {
                // Negative powers are those of the pseudo-inverse.
                if (lambda == 0) return parameter_ == 0 ? 1.0 : 0.0;
                return lambda < 0 && !whole ? std::numeric_limits<double>::quiet_NaN()
                                            : std::pow(lambda, parameter_);
            }
            case Kind::exp: return std::exp(parameter_ * lambda);
            case Kind::log: return std::log1p(lambda);
            case Kind::clip: return std::max(lambda, 0.0);
            case Kind::flip: return std::abs(lambda);
            case Kind::shift: return value - lowest;
        }
        return lambda;
    };
    for (double& value : spectrum.values) {
        const double before = value;
        value = at(before);
        if (std::isfinite(value)) continue;
        throw InvalidInput(text() + " has no finite value at the eigenvalue " +
                           format_number(before) + " of the matrix" +
                           (before < 0 ? "; make it positive semidefinite first, by clip, flip or "
                                         "shift"
                                       : ""));
    }
    return compose(spectrum.values, spectrum.vectors);
}

}  // namespace mercer
