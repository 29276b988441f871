// A kernel is a value: an immutable expression that owns its parameters and nothing else.
//
//   auto k = rbf({.gamma = 0.5}) + 0.3 * polynomial({.degree = 2})[columns(0, 10)];
//   k.text();                   // "rbf(gamma=0.5) + 0.3*polynomial(degree=2)[0:10]"
//   Kernel::parse(k.text());    // the same kernel
//   k(x, z);                    // its value, by the formula, in double precision
//   definiteness(k);            // positive definite, and why (kernel/definiteness.hpp)
//
// Blocks of many values at matrix-multiply speed are the business of gram/.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/formula.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/object.hpp"

namespace mercer MERCER_API {

/// A parameter that is a number, or a rule that finds the number from the data when a machine is
/// fitted: `scale_rule` is 1 / (columns × variance of all entries), `auto_rule` is 1 / columns.
enum class Rule { scale, automatic };
using Parameter = std::variant<double, Rule>;
inline constexpr Rule scale_rule = Rule::scale;
inline constexpr Rule auto_rule = Rule::automatic;

/// Columns picked from a row: half-open ranges, single positions (ranges of one) and names, in the
/// order written. No column may appear twice.
struct ColumnSet {
    static constexpr std::size_t to_the_end = static_cast<std::size_t>(-1);  ///< as in k[3:]
    struct Item {
        std::size_t first = 0;
        std::size_t last = 0;  ///< one past the end
        std::string name{};    ///< when not empty, waits for `resolve`, or
        bool object = false;   ///< is the name of a column of texts or graphs, which has no number
        friend bool operator==(const Item&, const Item&) = default;
    };
    std::vector<Item> items;

    bool has_names() const;  ///< that wait
    /// All positions of numbers in order; names must be bound and every position below `columns`.
    std::vector<std::size_t> positions(std::size_t columns) const;
    std::string text() const;  ///< "0:10,12,age"
    friend bool operator==(const ColumnSet&, const ColumnSet&) = default;
};
inline ColumnSet columns(std::size_t first, std::size_t last) {
    return {{{first, last}}};
}

/// A function of two rows given as a program; see `function`.
using PairFunction = std::function<double(std::span<const double>, std::span<const double>)>;

struct KernelNode;  // the tree itself: kernel/detail/node.hpp

class Kernel {
   public:
    /// Reads the text syntax (docs/kernels.md). Throws InvalidInput that shows the text with a
    /// caret.
    static Kernel parse(std::string_view text);

    /// Text that parses back to this very kernel, parameters under the names they were given by.
    std::string text() const;

    /// The formula at one pair of rows, in double precision and without any shortcut: the
    /// definition that every faster path is tested against. Throws InvalidInput for an unresolved
    /// rule or name and for `center`, which has no value without a sample (`evaluate_centered`).
    double operator()(std::span<const double> x, std::span<const double> z) const;

    /// The kernel restricted to some columns: k[0:10]. A second subset counts within the first, as
    /// slices of an array do: k[2:8][0:3] sees columns 2, 3 and 4.
    Kernel operator[](const ColumnSet& subset) const;

    /// True while a rule (gamma=scale), a column name or a model inside (fisher(gmm)) waits for
    /// data.
    bool needs_data() const;
    /// The same kernel with rules replaced by numbers and names by positions; columns that are not
    /// there are an error. `names` may be empty. A rule looks only at the columns its kernel sees;
    /// behind `map` and `sets`, where the moments of the data say nothing, `auto` is 1 / (number of
    /// coordinates) and `scale` is an error that asks for a number.
    /// `objects` are the columns of texts and graphs: a kernel on texts reads the one that it sees,
    /// and must be told which when there are several (k[sequence]). A model inside, which moments
    /// cannot be fitted to, goes on waiting (`mercer::resolve` of gram/gram.hpp fits it).
    Kernel resolve(const ColumnMoments& moments, std::span<const std::string> names = {},
                   std::span<const ObjectName> objects = {}) const;

    /// The tree, for the rooms that walk it. Never null.
    const KernelNode& node() const { return *node_; }

    /// Equal as expressions (not merely as functions).
    friend bool operator==(const Kernel& a, const Kernel& b) { return a.text() == b.text(); }

    explicit Kernel(std::shared_ptr<const KernelNode> node) : node_(std::move(node)) {}

   private:
    std::shared_ptr<const KernelNode> node_;
};

// ---- Base kernels. Each parameter is checked; InvalidInput names the value and the allowed range.

/// x·z
Kernel linear();

/// (coef0 + gamma x·z)^degree; homogeneous with coef0 = 0.
struct PolynomialParameters {
    int degree = 3;
    Parameter gamma = 1.0;
    double coef0 = 1.0;
};
Kernel polynomial(const PolynomialParameters& p = {});

/// exp(−gamma ‖x−z‖²). Give one of: gamma; sigma, gamma = 1/(2 sigma²); c, gamma = 1/c; width,
/// gamma = 1/width². (Seed 002 prints the exponent without the square; the proof there needs it.)
struct RbfParameters {
    std::optional<Parameter> gamma{};
    std::optional<double> sigma{};
    std::optional<double> c{};
    std::optional<double> width{};
};
Kernel rbf(const RbfParameters& p = {});

/// exp(−gamma ‖x−z‖₁), or the Euclidean length with norm = 2. sigma: gamma = 1/sigma.
struct LaplacianParameters {
    std::optional<Parameter> gamma{};
    std::optional<double> sigma{};
    int norm = 1;
};
Kernel laplacian(const LaplacianParameters& p = {});

/// tanh(gamma x·z + coef0). Not positive definite in general.
struct SigmoidParameters {
    Parameter gamma = 1.0;
    double coef0 = 0.0;
};
Kernel sigmoid(const SigmoidParameters& p = {});

/// 1 / (1 + exp(theta − beta x·z)).
struct LogisticParameters {
    double beta = 1.0;
    double theta = 1.0;
};
Kernel logistic(const LogisticParameters& p = {});

/// exp(gamma x·z)
Kernel exponential_dot(double gamma = 1.0);
/// x'Az with A square and symmetric.
Kernel bilinear(const Matrix<double>& a);
/// f(x) f(z)
Kernel outer(const Formula& f);
/// 1 when ‖x−z‖ <= radius, else 0.
Kernel ball(double radius);
/// −‖x−z‖^beta, 0 < beta; conditionally positive definite up to 2.
Kernel negative_distance(double beta = 1.0);
/// Sum over all choices of `degree` columns of the product of exp(−gamma (x_i−z_i)²) over them
/// [Stitson et al. 1999].
struct AnovaParameters {
    double gamma = 1.0;
    int degree = 2;
};
Kernel anova(const AnovaParameters& p = {});
/// 1 / sqrt(‖x−z‖² + c²)
Kernel inverse_multiquadric(double c = 1.0);
/// Matérn with nu = 0.5, 1.5 or 2.5 and a length scale.
struct MaternParameters {
    double nu = 1.5;
    double length = 1.0;
};
Kernel matern(const MaternParameters& p = {});
/// (1 + ‖x−z‖² / (2 alpha length²))^(−alpha)
struct RationalQuadraticParameters {
    double alpha = 1.0;
    double length = 1.0;
};
Kernel rational_quadratic(const RationalQuadraticParameters& p = {});
/// exp(−2 Σ sin²(π (x_i−z_i) / period) / length²): the product over columns, positive definite in
/// any dimension, which the same formula with ‖x−z‖ inside the sine is not.
struct PeriodicParameters {
    double period = 1.0;
    double length = 1.0;
};
Kernel periodic(const PeriodicParameters& p = {});
/// exp(−gamma Σ (x_i−z_i)² / (x_i+z_i)) for non-negative entries.
Kernel chi2(double gamma = 1.0);
/// −Σ (x_i−z_i)² / (x_i+z_i) for non-negative entries; conditionally positive definite.
Kernel additive_chi2();
/// Σ min(x_i, z_i) for non-negative entries.
Kernel intersection();
/// The rows are rows of a Gram matrix: k(x, z) = x[origin of z].
Kernel precomputed();
/// The same number for every pair.
Kernel constant(double value);

/// A kernel of the caller's own. It is remembered under `name`, a plain word, for the life of the
/// process, so that the text `user(name)` reads back; a model file that names it can only be used
/// where it has been registered. `known_pd` is the caller's word for positive definiteness.
Kernel function(const std::string& name, PairFunction f, bool known_pd = false);

// ---- Algebra.

Kernel operator+(const Kernel& a, const Kernel& b);
Kernel operator-(const Kernel& a, const Kernel& b);
Kernel operator*(const Kernel& a, const Kernel& b);
Kernel operator+(const Kernel& a, double b);
Kernel operator+(double a, const Kernel& b);
Kernel operator-(const Kernel& a, double b);
Kernel operator*(double a, const Kernel& b);
Kernel operator*(const Kernel& a, double b);
/// k(x,z)^exponent
Kernel pow(const Kernel& k, double exponent);
/// exp(k(x,z))
Kernel exp(const Kernel& k);
/// k(x,z) / sqrt(k(x,x) k(z,z)): the images have length 1.
Kernel normalize(const Kernel& k);
/// k with the centre of mass of the training sample moved to the origin (002, equation 4).
Kernel center(const Kernel& k);
/// The Gaussian of another kernel's features (002, exercise):
/// exp(−gamma (k(x,x) + k(z,z) − 2 k(x,z))). Parameters as in `rbf`.
Kernel rbf_of(const Kernel& k, const RbfParameters& p);
/// k(φ(x), φ(z)) with φ given by one formula a coordinate (002, theorem 1.5).
Kernel map(const Kernel& k, std::vector<Formula> coordinates);
/// k on the features of a kernel on texts or graphs that has explicit ones: map(intersection(),
/// wl) counts common subtrees, each as often as both have it.
Kernel map(const Kernel& k, const Kernel& features);
/// k on sets: Σ over a in A, b in B of k(a, b) (001). A row is a set of vectors of `width` numbers
/// one after another; with `counted` its first number says how many of them belong to the set and
/// the rest of the row is ignored. With `mean` the sum is divided by the number of pairs, so that
/// sets of different sizes compare: the inner product of their mean embeddings, whose Gaussian is
/// rbf_of(sets(k, width, counted, true), gamma). A set of texts is a text to be split:
/// Kernel::parse("sets(spectrum(k=3), split=lines)").
Kernel sets(const Kernel& k, std::size_t width, bool counted = false, bool mean = false);

/// k(x, z) of two texts or graphs, by the definition. Subsets by name count for nothing here: there
/// is only one object to be seen.
double evaluate(const Kernel& k, const Object& x, const Object& z);
/// k(x, z) where `center`, wherever it stands in k, takes the rows of `sample` as the training
/// data.
double evaluate(const Kernel& k, std::span<const double> x, std::span<const double> z,
                MatrixView<const double> sample);
/// center(k)(x, z) with the given sample as the training data.
double evaluate_centered(const Kernel& k, std::span<const double> x, std::span<const double> z,
                         MatrixView<const double> sample);

}  // namespace mercer
