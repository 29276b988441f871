#include "mercer/learn/components/kernel_pca.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/detail/block_product.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/components/detail/kernel_pca.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/solver/linear/detail/block_eigen.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

/// True when the whole spectrum costs less than the search for a part of it: n³ against products
/// and bases that grow with the number of components.
bool whole_is_cheaper(std::size_t rows, std::size_t components) {
    return rows <= std::clamp<std::size_t>(16 * components, 1000, 6000);
}
/// How many vectors of n numbers the search for some components holds.
struct SearchRoom {
    std::size_t block = 0;  ///< multiplied at once
    std::size_t basis = 0;  ///< kept, each with its product

    /// With those between: a block and its products before and after weighing, and the best vectors
    /// with theirs.
    std::size_t vectors(std::size_t count) const { return 2 * basis + 5 * block + 3 * count; }
};

/// Blocks as wide as they may be and six of them, or fewer and narrower ones where memory is short.
/// Nothing where it is too short for any.
std::optional<SearchRoom> search_room(std::size_t n, std::size_t count, std::size_t bytes) {
    // Where each product computes K anew, wider blocks cost little and save products.
    const std::size_t wide = std::max<std::size_t>(count, 8);
    const std::size_t most = bytes / (sizeof(double) * n);
    for (const std::size_t more : {wide, std::max<std::size_t>(8, count / 4), std::size_t{0}}) {
        SearchRoom room{.block = std::min(n, count + more)};
        room.basis = std::min(n, 2 * room.block + count);
        const std::size_t least = room.vectors(count);
        if (least > most) continue;
        room.basis = std::min(room.basis + (most - least) / 2, count + 6 * room.block);
        return room;
    }
    return {};
}

/// Beside K, of so many bytes, where there is memory for both.
SearchRoom search_room_beside(std::size_t n, std::size_t count, std::size_t k_bytes,
                              std::size_t memory_bytes) {
    if (k_bytes < memory_bytes) {
        if (const auto room = search_room(n, count, memory_bytes - k_bytes)) return *room;
    }
    if (const auto room = search_room(n, count, memory_bytes)) return *room;
    const std::size_t least = SearchRoom{.block = count, .basis = 3 * count}.vectors(count);
    const double bytes = sizeof(double) * static_cast<double>(least) * static_cast<double>(n);
    throw InvalidInput(std::to_string(count) + " components of " + std::to_string(n) +
                       " rows need " +
                       std::to_string(static_cast<std::size_t>(bytes / 0x1p20) + 1) +
                       " MiB for the vectors of the search, and the memory setting is " +
                       std::to_string(memory_bytes >> 20) +
                       " MiB; raise `memory_bytes`, ask for fewer `components`, or learn in the "
                       "span of some rows (`approximate`)");
}

/// The weights of the rows. With D = diag(w), m = Σ w and s = w/m the covariance of the weighted
/// images has the eigenvalues of
///
///     M = D^½ (I − 1s') K (I − s1') D^½ / m,
///
/// and a unit eigenvector u of m M with eigenvalue mλ stands for V = Σ α_i Φ(x_i) with
/// α = D^½ u / √(mλ). Centring makes u orthogonal to D^½ 1, so that Σ α_i = 0 and V needs no Φ̄.
struct Weighting {
    std::vector<double> root{};   ///< √w
    std::vector<double> share{};  ///< s; also used, without centring, only for the variance
    double total = 0;
    bool center = true;

    Weighting(const Sample& sample, bool centered) : center(centered) {
        const std::size_t n = sample.size();
        for (std::size_t i = 0; i < n; ++i) total += sample.weight(i);
        for (std::size_t i = 0; i < n; ++i) {
            root.push_back(std::sqrt(sample.weight(i)));
            share.push_back(sample.weight(i) / total);
        }
    }

    /// v ↦ (I − s1') D^½ v.
    void before(std::span<double> v) const {
        double sum = 0;
        for (std::size_t i = 0; i < v.size(); ++i) sum += v[i] *= root[i];
        if (!center) return;
        for (std::size_t i = 0; i < v.size(); ++i) v[i] -= share[i] * sum;
    }
    /// v ↦ D^½ (I − 1s') v.
    void after(std::span<double> v) const {
        double mean = 0;
        if (center) mean = std::inner_product(v.begin(), v.end(), share.begin(), 0.0);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] = root[i] * (v[i] - mean);
    }
};

/// What both ways to the spectrum end with.
struct Solution {
    Kernel kernel = linear();           ///< resolved
    std::vector<double> values{};       ///< mλ, descending
    Matrix<double> vectors{};           ///< u, one a row
    std::vector<double> residuals{};    ///< in double precision, unless the search was stopped
    std::vector<double> with_centre{};  ///< <Φ(x_i), Φ̄>
    std::vector<double> diagonal{};     ///< k(x_i, x_i)
    std::size_t products = 0;
    std::uint64_t evaluations = 0;
    FitStatus status = FitStatus::converged;
};

class Training {
   public:
    Training(const KernelPcaSettings& settings, const Sample& sample)
        : s_(settings), sample_(sample), weighting_(sample, settings.center) {
        tolerance_ = s_.tolerance > 0 ? s_.tolerance : s_.common.double_precision ? 1e-10 : 1e-6;
    }

    Solution whole(std::size_t count) const;
    template <class T>
    Solution leading(std::size_t count) const;
    void finish(const Solution& solution, ModelParts& model, const Stopwatch& clock) const;

   private:
    std::vector<double> diagonal_of(const Gram<double>& gram) const {
        std::vector<double> result(gram.size());
        gram.diagonal(gram.reference(), result);
        return result;
    }
    template <class T>
    TopEigen search(const GramProduct<T>& product, std::size_t count, const SearchRoom& room,
                    Solution& solution) const;
    void certify(const GramProduct<double>& product, TopEigen found, Solution& solution) const;

    const KernelPcaSettings& s_;
    const Sample& sample_;
    Weighting weighting_;
    double tolerance_ = 0;
};

/// All of K, and LAPACK.
Solution Training::whole(std::size_t count) const {
    const std::size_t n = sample_.size();
    const auto gram = make_gram<double>(s_.common.kernel, sample_.x, sample_.data.feature_names,
                                        s_.common.progress);
    Solution solution{.kernel = gram.kernel()};
    Matrix<double> k(n, n);
    gram.matrix(k.view(), s_.common.progress);
    solution.evaluations = std::uint64_t{n} * (n + 1) / 2;
    solution.diagonal = diagonal_of(gram);
    solution.with_centre.resize(n);
    parallel_ranges(n, 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const auto row = k.row(i);
            solution.with_centre[i] =
                std::inner_product(row.begin(), row.end(), weighting_.share.begin(), 0.0);
        }
    });
    const std::vector<double>& q = solution.with_centre;
    const double square = std::inner_product(q.begin(), q.end(), weighting_.share.begin(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (weighting_.center) k(i, j) += square - q[i] - q[j];
            k(i, j) *= weighting_.root[i] * weighting_.root[j];
        }
    }
    Spectrum spectrum = symmetric_eigen(k.view(), true, s_.common.progress);
    solution.vectors = Matrix<double>(count, n);
    for (std::size_t j = 0; j < count; ++j) {
        solution.values.push_back(spectrum.values[n - 1 - j]);
        std::ranges::copy(spectrum.vectors.row(n - 1 - j), solution.vectors.row(j).begin());
    }
    spectrum = {};
    solution.residuals.assign(count, 0.0);
    parallel_ranges(count, 16, [&](std::size_t first, std::size_t last) {
        Matrix<double> image(last - first, n);
        multiply_transposed(std::as_const(solution.vectors).view().block(first, 0, last - first, n),
                            std::as_const(k).view(), image.view());
        for (std::size_t j = first; j < last; ++j) {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const double r = image(j - first, i) - solution.values[j] * solution.vectors(j, i);
                sum += r * r;
            }
            solution.residuals[j] = std::sqrt(sum);
        }
    });
    return solution;
}

template <class T>
TopEigen Training::search(const GramProduct<T>& product, std::size_t count, const SearchRoom& room,
                          Solution& solution) const {
    const std::size_t n = sample_.size();
    const auto multiply_block = [&](MatrixView<const double> v, MatrixView<double> out) {
        // The first product has one vector more, for the centre: whatever stops the search later,
        // there are components and where they are measured from.
        const bool first = solution.with_centre.empty();
        Matrix<double> own(v.rows + (first ? 1 : 0), n);
        Matrix<double> image(own.rows(), n);
        for (std::size_t j = 0; j < v.rows; ++j) {
            std::ranges::copy(v.row(j), own.row(j).begin());
            weighting_.before(own.row(j));
        }
        if (first) std::ranges::copy(weighting_.share, own.row(v.rows).begin());
        product(own.view(), image.view(), s_.common.progress);
        for (std::size_t j = 0; j < v.rows; ++j) {
            weighting_.after(image.row(j));
            std::ranges::copy(image.row(j), out.row(j).begin());
        }
        if (first) solution.with_centre.assign(image.row(v.rows).begin(), image.row(v.rows).end());
    };
    TopEigenSettings settings{.count = count,
                              .tolerance = tolerance_,
                              .products = std::max<std::size_t>(s_.passes, 1),
                              .seed = s_.common.seed};
    settings.block = room.block;
    if (product.is_stored()) {
        settings.block = std::min(room.block, count + std::max<std::size_t>(8, count / 4));
    }
    settings.basis = std::min(room.basis, count + 6 * settings.block);
    settings.progress = [&](std::size_t number, double residual) {
        const std::string detail =
            "product " + std::to_string(number) + "  residual " + format_number(residual);
        return keep_going(s_.common.progress, {"eigenvalues", -1, detail});
    };
    return top_eigen(n, multiply_block, settings);
}

/// One product in double precision: the best values in the span found, and how good they are.
void Training::certify(const GramProduct<double>& product, TopEigen found,
                       Solution& solution) const {
    const std::size_t n = sample_.size();
    const std::size_t count = found.vectors.rows();
    Matrix<double> own(count + 1, n);
    for (std::size_t j = 0; j < count; ++j) {
        std::ranges::copy(found.vectors.row(j), own.row(j).begin());
        weighting_.before(own.row(j));
    }
    std::ranges::copy(weighting_.share, own.row(count).begin());
    Matrix<double> image(count + 1, n);
    product(own.view(), image.view(), s_.common.progress);
    const auto last = image.row(count);
    solution.with_centre.assign(last.begin(), last.end());
    Matrix<double> products(count, n);
    for (std::size_t j = 0; j < count; ++j) {
        weighting_.after(image.row(j));
        std::ranges::copy(image.row(j), products.row(j).begin());
    }
    TopEigen best = rayleigh_ritz(std::move(found.vectors), std::move(products));
    solution.values = std::move(best.values);
    solution.vectors = std::move(best.vectors);
    solution.residuals = std::move(best.residuals);
}

/// The largest eigenvalues by products with K.
template <class T>
Solution Training::leading(std::size_t count) const {
    const auto& names = sample_.data.feature_names;
    const std::size_t n = sample_.size();
    const SearchRoom room = search_room_beside(n, count, n * n * sizeof(T), s_.common.memory_bytes);
    const GramProduct<T> product(
        make_gram<T>(s_.common.kernel, sample_.x, names, s_.common.progress),
        s_.common.memory_bytes - sizeof(double) * n * room.vectors(count), s_.common.progress);
    Solution solution{.kernel = product.gram().kernel()};
    TopEigen found = search(product, count, room, solution);
    solution.products = found.products;
    solution.evaluations = product.evaluations();
    if (found.status == TopEigenStatus::product_limit) {
        solution.status = FitStatus::iteration_limit;
    } else if (found.status == TopEigenStatus::stopped) {
        solution.status = FitStatus::cancelled;
    }
    solution.values = found.values;
    solution.vectors = found.vectors;
    solution.residuals = found.residuals;
    const auto gram = make_gram<double>(solution.kernel, sample_.x, names);
    solution.diagonal = diagonal_of(gram);
    if (solution.status == FitStatus::cancelled) return solution;
    try {
        if constexpr (std::is_same_v<T, double>) {
            certify(product, std::move(found), solution);
        } else {
            certify(GramProduct<double>(gram, 0), std::move(found), solution);
        }
    } catch (const Cancelled&) {  // residuals as the search saw them
        solution.status = FitStatus::cancelled;
    }
    return solution;
}

void Training::finish(const Solution& f, ModelParts& model, const Stopwatch& clock) const {
    const std::size_t n = sample_.size();
    const Weighting& w = weighting_;
    const double square =
        std::inner_product(f.with_centre.begin(), f.with_centre.end(), w.share.begin(), 0.0);
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) trace += w.root[i] * w.root[i] * f.diagonal[i];
    if (w.center) trace -= w.total * square;

    // An eigenvalue within its residual of 0 is none (unless the search ended early), nor one
    // within the rounding of the numbers it was made of, which before centring may be much larger.
    const double largest = f.values.front();
    double before = 0;
    for (std::size_t i = 0; i < n; ++i) {
        before = std::max(before, w.root[i] * w.root[i] * std::abs(f.diagonal[i]));
    }
    const double rounding = 4 * static_cast<double>(n) * std::numeric_limits<double>::epsilon() *
                            std::max(largest, before);
    std::size_t kept = 0;
    const bool complete = f.status == FitStatus::converged;
    while (kept < f.values.size() &&
           f.values[kept] > std::max(rounding, complete ? f.residuals[kept] : 0.0)) {
        ++kept;
    }
    if (kept == 0) refuse_no_variance(n);
    Matrix<double> coefficients(kept, n);
    Matrix<double> table(kept, 3);
    std::vector<double> bias(kept, 0.0);
    double explained = 0;
    double worst = 0;
    for (std::size_t j = 0; j < kept; ++j) {
        const auto alpha = coefficients.row(j);
        const double scale = 1 / std::sqrt(f.values[j]);
        for (std::size_t i = 0; i < n; ++i) alpha[i] = scale * w.root[i] * f.vectors(j, i);
        if (w.center) {
            const double sum = std::accumulate(alpha.begin(), alpha.end(), 0.0);
            for (std::size_t i = 0; i < n; ++i) alpha[i] -= w.share[i] * sum;
        }
        flip_to_positive(alpha);
        if (w.center) {
            bias[j] = -std::inner_product(alpha.begin(), alpha.end(), f.with_centre.begin(), 0.0);
        }
        table(j, 0) = f.values[j];
        table(j, 1) = trace > 0 ? f.values[j] / trace : 0;
        table(j, 2) = f.residuals[j];
        explained += table(j, 1);
        worst = std::max(worst, f.residuals[j] / largest);
    }
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    set_expansion(model, sample_, f.kernel, all, std::move(coefficients), std::move(bias));
    Components found;
    found.eigenvalues = std::move(table);
    if (w.center) {
        found.centre = Matrix<double>(1, n);
        std::ranges::copy(w.share, found.centre->row(0).begin());
    }
    Matrix<double> moments(1, 3);
    moments(0, 0) = w.total;
    moments(0, 1) = trace / w.total;
    moments(0, 2) = w.center ? square : 0;
    found.moments = std::move(moments);
    model.extras.set(std::move(found));

    Report report;
    report.status = f.status;
    report.rows = n;
    report.free_support_vectors = n;
    report.iterations = f.products;
    report.kernel_evaluations = f.evaluations;
    report.figures["components"] = static_cast<double>(kept);
    report.figures["total_variance"] = trace / w.total;
    report.figures["explained"] = explained;
    report.figures["residual"] = worst;
    report.figures["products"] = static_cast<double>(f.products);
    report.seconds = clock.seconds();
    model.reports = {std::move(report)};
}

[[noreturn]] void refuse_whole(std::size_t n, std::size_t memory_bytes) {
    const double need = 16.0 * static_cast<double>(n) * static_cast<double>(n);
    throw InvalidInput(
        "all components of " + std::to_string(n) + " rows need " +
        std::to_string(static_cast<std::size_t>(need / 1048576.0) + 1) +
        " MiB for the matrix and its eigenvectors, and the memory setting is " +
        std::to_string(memory_bytes >> 20) +
        " MiB; raise it, or ask for fewer than a quarter as many components as rows");
}

}  // namespace

namespace {

const Describe<KernelPcaSettings>& kernel_pca_settings() {
    static const auto settings = [] {
        using S = KernelPcaSettings;
        Describe<S> d;
        d.add(&S::components, "components", "how many, 0: all");
        d.add(&S::center, "center", "centre the images first");
        d.add(&S::tolerance, "tolerance",
              "stop at this residual, relative to the largest eigenvalue; 0: 1e-6, in double "
              "precision 1e-10",
              {.low = 0, .high = 1, .high_open = true, .words = "0 (automatic) or between 0 and 1"})
            .flag = "tol";
        d.add(&S::passes, "passes", "over the data, at most", Range::at_least(1));
        return d;
    }();
    return settings;
}

Model learn(const KernelPcaSettings& settings, const Dataset& data) {
    const Stopwatch clock;
    const KernelPcaSettings& s = settings;
    kernel_pca_settings().check(s);
    const Sample sample = take_sample(Task::kpca, data, s.common);
    const std::size_t n = sample.size();
    const std::size_t count = s.components == 0 ? n : std::min(s.components, n);
    const bool many = s.components == 0 || 4 * count > n;
    const bool fits = n <= s.common.memory_bytes / (2 * sizeof(double)) / n;
    if (many && !fits && n > 1) refuse_whole(n, s.common.memory_bytes);
    const Training training(s, sample);
    ModelParts model = begin_model(Task::kpca, sample, s.common);
    model.trained.numbers["components"] = static_cast<double>(s.components);
    model.trained.bias = s.center;
    const Solution solution = many || (fits && whole_is_cheaper(n, count)) ? training.whole(count)
                              : s.common.double_precision ? training.leading<double>(count)
                                                          : training.leading<float>(count);
    training.finish(solution, model, clock);
    return Model(std::move(model));
}

}  // namespace

void check_settings(const KernelPcaSettings& settings) {
    kernel_pca_settings().check(settings);
}

double flip_to_positive(std::span<double> v) {
    const auto largest =
        std::ranges::max_element(v, [](double a, double b) { return std::abs(a) < std::abs(b); });
    if (*largest >= 0) return 1;
    for (double& value : v) value = -value;
    return -1;
}

void refuse_no_variance(std::size_t rows) {
    throw InvalidInput("the images of the " + std::to_string(rows) +
                       " rows do not vary: there is no principal component. Take other rows, "
                       "another kernel, or no centring");
}

Model KernelPca::fit(const Dataset& data) const {
    return patient_fit(task(), settings_, data, learn);
}

MachineEntry kernel_pca_entry() {
    return kernel_pca_settings().entry({.task = Task::kpca,
                                        .name = "kpca",
                                        .family = "components",
                                        .learns = Learns::functions,
                                        .about = "principal components in feature space",
                                        .extras = {extra_kind<Components>("components", true)}},
                                       kernel_pca);
}

}  // namespace mercer
