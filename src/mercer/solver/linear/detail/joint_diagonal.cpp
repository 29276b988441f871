#include "mercer/solver/linear/detail/joint_diagonal.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace mercer {
namespace {

void turn_rows(std::span<double> p, std::span<double> q, double cosine, double sine) {
    for (std::size_t j = 0; j < p.size(); ++j) {
        const double old = p[j];
        p[j] = cosine * old + sine * q[j];
        q[j] = cosine * q[j] - sine * old;
    }
}

/// The angle of the plane (p, q) with the least mass off the diagonals: half that of the leading
/// eigenvector of Σ h h', h = (c_pp − c_qq, 2 c_pq) (Cardoso and Souloumiac 1996, real case).
double best_angle(const std::vector<Matrix<double>>& matrices, std::size_t p, std::size_t q) {
    double on = 0, off = 0;
    for (const Matrix<double>& c : matrices) {
        const double a = c(p, p) - c(q, q), b = 2 * c(p, q);
        on += a * a - b * b;
        off += 2 * a * b;
    }
    const double size = std::hypot(on, off);
    return size > 0 ? 0.5 * std::atan2(off, on + size) : 0;
}

void turn_axes(Matrix<double>& c, std::size_t p, std::size_t q, double cosine, double sine) {
    turn_rows(c.row(p), c.row(q), cosine, sine);
    for (std::size_t i = 0; i < c.rows(); ++i) {
        const double old = c(i, p);
        c(i, p) = cosine * old + sine * c(i, q);
        c(i, q) = cosine * c(i, q) - sine * old;
    }
}

}  // namespace

double off_diagonal_mass(const std::vector<Matrix<double>>& matrices) {
    double sum = 0;
    for (const Matrix<double>& c : matrices) {
        for (std::size_t i = 0; i < c.rows(); ++i) {
            for (std::size_t j = 0; j < i; ++j) sum += c(i, j) * c(i, j) + c(j, i) * c(j, i);
        }
    }
    return sum;
}

JointDiagonal joint_diagonal(std::vector<Matrix<double>> matrices,
                             const JointDiagonalSettings& settings) {
    const std::size_t n = matrices.front().rows();
    JointDiagonal d{.rotation = Matrix<double>(n, n), .matrices = std::move(matrices)};
    for (std::size_t i = 0; i < n; ++i) d.rotation(i, i) = 1;
    d.history.push_back(off_diagonal_mass(d.matrices));
    while (!d.converged && d.sweeps() < settings.sweeps) {
        double largest = 0;
        for (std::size_t p = 0; p < n; ++p) {
            const double done =
                static_cast<double>(d.sweeps()) / static_cast<double>(settings.sweeps);
            const std::string detail = "sweep " + std::to_string(d.sweeps() + 1);
            if (!keep_going(settings.progress, {"training", done, detail})) {
                d.history.push_back(off_diagonal_mass(d.matrices));
                return d;
            }
            for (std::size_t q = p + 1; q < n; ++q) {
                const double angle = best_angle(d.matrices, p, q);
                largest = std::max(largest, std::abs(angle));
                if (std::abs(angle) <= 0.1 * settings.tolerance) continue;
                const double cosine = std::cos(angle), sine = std::sin(angle);
                for (Matrix<double>& c : d.matrices) turn_axes(c, p, q, cosine, sine);
                turn_rows(d.rotation.row(p), d.rotation.row(q), cosine, sine);
            }
        }
        d.history.push_back(off_diagonal_mass(d.matrices));
        d.converged = largest <= settings.tolerance;
    }
    return d;
}

}  // namespace mercer
