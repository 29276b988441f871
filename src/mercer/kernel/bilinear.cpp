// The matrix A of x'Az: as text, and whether it is positive semi-definite.
#include <cmath>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/rules-inl.hpp"

namespace mercer {
namespace {

double read_entry(Scanner& in) {
    const std::size_t where = in.position();
    const bool negative = in.accept('-');
    if (!in.at_number()) in.fail_at(where, "expected a number in the matrix, found " + in.found());
    return negative ? -in.number() : in.number();
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

}  // namespace mercer
