// bilinear: x'Az. The matrix as text, and whether it is positive semi-definite.
#include <cmath>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// Entries of A relative to the largest below which its eigenvalues count as zero, a column.
constexpr double psd_tolerance = 1e-14;

double read_entry(Scanner& in) {
    const std::size_t where = in.position();
    const bool negative = in.accept('-');
    if (!in.at_number()) in.fail_at(where, "expected a number in the matrix, found " + in.found());
    return negative ? -in.number() : in.number();
}

/// 0 when A is positive semi-definite to that tolerance, else v'Av < 0 at some v of length 1.
double least_curvature(const Matrix<double>& a) {
    const std::size_t n = a.rows();
    double largest = 0;
    for (const double value : a.values()) largest = std::max(largest, std::fabs(value));
    if (largest == 0) return 0;
    // Cholesky of A/largest with a shift as large as rounding may make a zero eigenvalue.
    const double shift = psd_tolerance * static_cast<double>(n);
    Matrix<double> l(n, n);
    for (std::size_t j = 0; j < n; ++j) {
        double pivot = a(j, j) / largest + shift;
        for (std::size_t k = 0; k < j; ++k) pivot -= l(j, k) * l(j, k);
        if (!(pivot > 0)) {
            // v = (-w, 1, 0 …) with L'w = row j of L has v'(A + shift)v = pivot: a witness.
            std::vector<double> w(j);
            double length = 1;
            for (std::size_t i = j; i-- > 0;) {
                w[i] = l(j, i);
                for (std::size_t k = i + 1; k < j; ++k) w[i] -= l(k, i) * w[k];
                w[i] /= l(i, i);
                length += w[i] * w[i];
            }
            return (pivot / length - shift) * largest;
        }
        l(j, j) = std::sqrt(pivot);
        for (std::size_t i = j + 1; i < n; ++i) {
            double entry = a(i, j) / largest;
            for (std::size_t k = 0; k < j; ++k) entry -= l(i, k) * l(j, k);
            l(i, j) = entry / l(j, j);
        }
    }
    return 0;
}

double value(const KernelNode& k, Row x, Row z) {
    if (x.size() != k.matrix.rows()) {
        throw InvalidInput("bilinear has a matrix of " + std::to_string(k.matrix.rows()) +
                           " rows and columns, but the row has " + std::to_string(x.size()) +
                           " columns");
    }
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double inner = 0;
        for (std::size_t j = 0; j < z.size(); ++j) inner += k.matrix(i, j) * z[j];
        sum += x[i] * inner;
    }
    return sum;
}

void slope(const KernelNode& k, Row, Row z, Out out) {
    for (std::size_t c = 0; c < out.size(); ++c) {
        out[c] = 0;
        for (std::size_t j = 0; j < z.size(); ++j) out[c] += k.matrix(c, j) * z[j];
    }
}

Finding judge(const KernelNode& k, const Assumptions&) {
    const double least = least_curvature(k.matrix);
    if (least < 0) {
        return Finding::refuted("the matrix A has v'Av = " + rounded(least) +
                                " at some v of length 1; it must be positive semi-definite");
    }
    return Finding::positive(
        "the matrix A is positive semi-definite (Cholesky, eigenvalues down to -" +
        format_number(psd_tolerance) +
        " times its size counted as 0), so x'Az is a dot product of A^(1/2)x");
}

}  // namespace

Matrix<double> read_matrix(Scanner& in) {
    std::vector<double> values;
    std::size_t rows = 0;
    std::size_t columns = 0;
    in.expect('[', "to open the matrix");
    do {
        const std::size_t row_at = in.position();
        const std::size_t before = values.size();
        in.expect('[', "to open a row of the matrix");
        do {
            values.push_back(read_entry(in));
        } while (in.accept(','));
        in.expect(']', "to close the row");
        const std::size_t found = values.size() - before;
        if (rows++ == 0) columns = found;
        if (found == columns) continue;
        in.fail_at(row_at, "this row has " + std::to_string(found) + " entries, the first has " +
                               std::to_string(columns));
    } while (in.accept(','));
    in.expect(']', "to close the matrix");
    Matrix<double> a;
    if (rows * columns == values.size()) {
        a = Matrix<double>(rows, columns);
        a.values() = std::move(values);
    }
    return a;
}

std::string matrix_text(const Matrix<double>& a) {
    std::string out = "[";
    for (std::size_t i = 0; i < a.rows(); ++i) {
        out += i == 0 ? "[" : ",[";
        for (std::size_t j = 0; j < a.columns(); ++j) {
            if (j > 0) out += ",";
            out += format_number(a(i, j) + 0.0);  // -0 prints as 0
        }
        out += "]";
    }
    return out + "]";
}

const Leaf& bilinear_leaf() {
    static const Leaf leaf{
        .entry = {.kind = KernelKind::bilinear,
                  .name = "bilinear",
                  .formula = "x' A z",
                  .about = "bilinear([[1,0],[0,2]]), A symmetric"},
        .row_value = value,
        .row_slope = slope,
        .judge = judge,
        .dimension =
            [](const KernelNode& k, std::size_t) {
                return FeatureDimension::at_most(FeatureCount(k.matrix.rows()),
                                                 "the rank of the matrix, at most its size");
            },
    };
    return leaf;
}

Kernel bilinear(const Matrix<double>& a) {
    if (a.rows() == 0 || a.rows() != a.columns()) {
        throw InvalidInput("the matrix of bilinear must be square, found " +
                           std::to_string(a.rows()) + " rows and " + std::to_string(a.columns()) +
                           " columns");
    }
    for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t j = 0; j < a.columns(); ++j) {
            if (!std::isfinite(a(i, j))) {
                throw InvalidInput("the matrix of bilinear must have finite entries, found " +
                                   format_number(a(i, j)) + " in row " + std::to_string(i) +
                                   ", column " + std::to_string(j));
            }
            if (a(i, j) == a(j, i)) continue;
            throw InvalidInput("the matrix of bilinear must be symmetric, found " +
                               format_number(a(i, j)) + " in row " + std::to_string(i) +
                               ", column " + std::to_string(j) + " and " + format_number(a(j, i)) +
                               " opposite; use (A + A')/2");
        }
    }
    return make_node({.kind = KernelKind::bilinear, .leaf = &bilinear_leaf(), .matrix = a});
}

}  // namespace mercer
