#include "mercer/solver/linear/eigen.hpp"

#include <Spectra/SymEigsSolver.h>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "mercer/base/detail/blas.hpp"
#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/detail/lapack.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

double norm(std::span<const double> v) {
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

void subtract_mean(std::span<double> v) {
    const double mean = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
    for (double& value : v) value -= mean;
}

/// What Spectra needs of a matrix: its size and y = M x, with M = K + shift I or P K P + shift I.
/// The shift makes both ends of the spectrum large, because Spectra measures convergence relative
/// to each eigenvalue by itself and would never be content with one near 0.
class Product {
   public:
    using Scalar = double;

    Product(const SymmetricOperator<double>& op, const LanczosSettings& settings)
        : op_(op), settings_(settings) {}

    Eigen::Index rows() const { return static_cast<Eigen::Index>(op_.size()); }
    Eigen::Index cols() const { return rows(); }
    std::size_t applications() const { return applications_; }

    void perform_op(const double* x, double* y) const {
        if (!keep_going(settings_.progress, {"eigenvalues", -1})) throw Cancelled();
        std::vector<double> input(x, x + op_.size());
        if (settings_.centered) subtract_mean(input);
        const std::span<double> output(y, op_.size());
        op_.apply(input, output);
        if (settings_.centered) subtract_mean(output);
        for (std::size_t i = 0; i < output.size(); ++i) output[i] += shift_ * x[i];
        ++applications_;
    }

    double shift() const { return shift_; }
    /// Sets the shift to the length of the spectrum as a few power steps from `start` see it.
    void shift_by_norm(std::vector<double> start) {
        std::vector<double> image(start.size());
        double length = 0;
        for (int step = 0; step < 8; ++step) {
            length = norm(start);
            if (length == 0) return;
            for (double& value : start) value /= length;
            perform_op(start.data(), image.data());
            std::swap(start, image);
        }
        shift_ = norm(start);
    }

   private:
    const SymmetricOperator<double>& op_;
    const LanczosSettings& settings_;
    double shift_ = 0;
    mutable std::size_t applications_ = 0;
};

void fix_sign(std::vector<double>& v) {
    const auto largest =
        std::ranges::max_element(v, [](double a, double b) { return std::abs(a) < std::abs(b); });
    if (*largest < 0) {
        for (double& value : v) value = -value;
    }
}

Eigenpair certified(const Product& product, double value, std::vector<double> vector) {
    std::vector<double> image(vector.size());
    product.perform_op(vector.data(), image.data());
    double sum = 0;
    for (std::size_t i = 0; i < vector.size(); ++i) {
        sum += std::pow(image[i] - value * vector[i], 2);
    }
    fix_sign(vector);
    return {
        .value = value - product.shift(), .vector = std::move(vector), .residual = std::sqrt(sum)};
}

/// Up to here dsyevd as a whole is done before anybody becomes impatient.
constexpr std::size_t at_one_go = 400;

void ask(const Progress& progress, double done) {
    if (!keep_going(progress, {"eigenvalues", done})) throw Cancelled();
}

/// What dsyevd does, with a question between its steps. `a` (lower triangle, row-major) is lost.
int eigen_by_steps(Matrix<double>& a, std::vector<double>& values, Matrix<double>* vectors,
                   const Progress& progress) {
    const std::size_t n = a.rows();
    const int size = static_cast<int>(n);
    double* const data = a.values().data();
    std::vector<double> e(n), tau(n);
    // As dsytrd: panels from the right, the rest one by one. A panel reads the matrix once a
    // column.
    const std::size_t panel = std::clamp<std::size_t>((std::size_t{1} << 29) / (n * n), 8, 32);
    Matrix<double> w(panel, n);
    std::size_t left = n;
    for (; left > std::max<std::size_t>(2 * panel, 128); left -= panel) {
        ask(progress, 0.6 * (1 - std::pow(static_cast<double>(left) / static_cast<double>(n), 3)));
        const int width = static_cast<int>(panel);
        const int rest = static_cast<int>(left - panel);
        lapack::dlatrd_upper(static_cast<int>(left), width, data, size, e.data(), tau.data(),
                             w.values().data(), size);
        MERCER_BLAS(cblas_dsyr2k)
        (CblasColMajor, CblasUpper, CblasNoTrans, rest, width, -1.0, data + (left - panel) * n,
         size, w.values().data(), size, 1.0, data, size);
        for (std::size_t j = left - panel; j < left; ++j) {
            a(j, j - 1) = e[j - 1];  // column j, row j − 1 of LAPACK's matrix
            values[j] = a(j, j);
        }
    }
    int failed = lapack::dsytd2_upper(static_cast<int>(left), data, size, values.data(), e.data(),
                                      tau.data());
    if (failed != 0) return failed;
    ask(progress, 0.6);
    if (vectors == nullptr) return lapack::dsterf(size, values.data(), e.data());
    failed = lapack::dstedc(size, values.data(), e.data(), vectors->values().data(), size);
    if (failed != 0) return failed;
    constexpr std::size_t strip = 256;
    for (std::size_t first = 0; first < n; first += strip) {
        ask(progress, 0.8 + 0.2 * static_cast<double>(first) / static_cast<double>(n));
        const int columns = static_cast<int>(std::min(strip, n - first));
        failed = lapack::dormtr_upper(size, columns, data, size, tau.data(),
                                      vectors->row(first).data(), size);
        if (failed != 0) return failed;
    }
    return 0;
}

}  // namespace

Spectrum symmetric_eigen(MatrixView<const double> matrix, bool with_vectors,
                         const Progress& progress) {
    const std::size_t n = matrix.rows;
    Spectrum spectrum;
    if (n == 0) return spectrum;  // which LAPACK complains about
    spectrum.values.resize(n);
    Matrix<double> copy(n, n);
    for (std::size_t i = 0; i < n; ++i) std::ranges::copy(matrix.row(i), copy.row(i).begin());
    ask(progress, 0);
    // Smaller ones gain nothing, and are the inner steps of methods whose last digit counts.
    constexpr std::size_t large = 512;
    std::optional<BlasThreads> all_threads;
    if (n >= large) all_threads.emplace();
    // Column-major LAPACK sees our lower triangle as its upper one, and leaves eigenvector i in its
    // column i: our row i.
    int failed = 0;
    if (n <= at_one_go) {
        failed = lapack::dsyevd(with_vectors ? 'V' : 'N', 'U', static_cast<int>(n),
                                copy.values().data(), static_cast<int>(n), spectrum.values.data());
        if (with_vectors) spectrum.vectors = std::move(copy);
    } else {
        if (with_vectors) spectrum.vectors = Matrix<double>(n, n);
        failed = eigen_by_steps(copy, spectrum.values, with_vectors ? &spectrum.vectors : nullptr,
                                progress);
    }
    if (failed != 0) {
        throw std::runtime_error("LAPACK found no eigenvalues of a matrix of " + std::to_string(n) +
                                 " rows; it may hold infinite entries");
    }
    return spectrum;
}

Extremes extreme_eigen(const SymmetricOperator<double>& op, const LanczosSettings& settings) {
    const std::size_t n = op.size();
    if (n < 3) throw InvalidInput("Lanczos needs a matrix of at least 3 rows");
    Random random(settings.seed);
    std::vector<double> start(n);
    for (double& value : start) value = random.normal();
    if (settings.centered) subtract_mean(start);
    Product product(op, settings);
    product.shift_by_norm(start);
    const auto subspace = static_cast<Eigen::Index>(std::min<std::size_t>(n, 40));
    Spectra::SymEigsSolver<Product> solver(product, 2, subspace);
    Extremes extremes;
    // Spectra gives out only pairs that have converged. When the wanted tolerance is out of reach a
    // looser one still tells the two ends apart, and the residuals say how well.
    for (const double tolerance : {settings.tolerance, 1e3 * settings.tolerance, 1e-3}) {
        solver.init(start.data());
        solver.compute(Spectra::SortRule::BothEnds,
                       static_cast<Eigen::Index>(settings.max_restarts), tolerance,
                       Spectra::SortRule::LargestAlge);
        if (solver.info() == Spectra::CompInfo::Successful) {
            extremes.converged = tolerance == settings.tolerance;
            break;
        }
    }
    const Eigen::VectorXd values = solver.eigenvalues();
    const Eigen::MatrixXd vectors = solver.eigenvectors();
    const auto pair = [&](Eigen::Index column) {
        const double* v = vectors.col(column).data();
        return certified(product, values[column], std::vector<double>(v, v + n));
    };
    if (values.size() < 2) {
        throw std::runtime_error("no extreme eigenvalues of a matrix of " + std::to_string(n) +
                                 " rows after " + std::to_string(product.applications()) +
                                 " products: allow more restarts");
    }
    extremes.largest = pair(0);
    extremes.smallest = pair(values.size() - 1);
    extremes.applications = product.applications();
    return extremes;
}

}  // namespace mercer
