// The solver of the dual knows no kernel and no table of numbers, only a symmetric operator. Here
// it is given one over words: their similarity is the number of pairs of letters they share. The
// same class could fetch its rows from a file, another machine, or a graphics card.
#include <cmath>
#include <cstdio>
#include <map>
#include <mercer/mercer.hpp>
#include <string>
#include <vector>

using namespace mercer;

/// How often each pair of neighbouring letters occurs: "anna" has ^a, an, nn, na, a$.
std::map<std::string, double> pairs_of(const std::string& word) {
    const std::string framed = '^' + word + '$';
    std::map<std::string, double> counts;
    for (std::size_t i = 0; i + 1 < framed.size(); ++i) ++counts[framed.substr(i, 2)];
    return counts;
}

/// k(v, w) = Σ over pairs of letters of their counts' products: a dot product.
double similarity(const std::string& v, const std::string& w) {
    double sum = 0;
    const auto in_w = pairs_of(w);
    for (const auto& [pair, count] : pairs_of(v)) {
        if (const auto found = in_w.find(pair); found != in_w.end()) sum += count * found->second;
    }
    return sum;
}

/// What the solver asks: the size, the diagonal, some rows, some rows at some columns.
class SharedPairs : public SymmetricOperator<double> {
   public:
    explicit SharedPairs(std::vector<std::string> words) : words_(std::move(words)) {}
    std::size_t size() const override { return words_.size(); }
    void diagonal(std::span<double> out) const override {
        for (std::size_t i = 0; i < size(); ++i) out[i] = similarity(words_[i], words_[i]);
    }
    void rows(std::span<const std::size_t> which, MatrixView<double> out) const override {
        for (std::size_t r = 0; r < which.size(); ++r) {
            for (std::size_t j = 0; j < size(); ++j) out(r, j) = entry(which[r], j);
        }
    }
    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<double> out) const override {
        for (std::size_t r = 0; r < which.size(); ++r) {
            for (std::size_t c = 0; c < columns.size(); ++c) {
                out(r, c) = entry(which[r], columns[c]);
            }
        }
    }
    std::uint64_t evaluations() const override { return evaluations_; }

   private:
    double entry(std::size_t i, std::size_t j) const {
        ++evaluations_;
        return similarity(words_[i], words_[j]);
    }
    std::vector<std::string> words_;
    mutable std::uint64_t evaluations_ = 0;
};

int main() {
    const std::vector<std::string> german{"schule", "kirche",    "strasse", "schiff", "ich",
                                          "machen", "schreiben", "fleisch", "nacht",  "weich"};
    const std::vector<std::string> italian{"scuola", "chiesa",   "strada", "nave",  "io",
                                           "fare",   "scrivere", "carne",  "notte", "molle"};
    std::vector<std::string> words = german;
    words.insert(words.end(), italian.begin(), italian.end());
    std::vector<double> y(german.size(), 1.0);
    y.resize(words.size(), -1.0);

    // The soft-margin dual: minimise ½ α'Qα − Σ α_i, 0 ≤ α_i ≤ C, Σ y_i α_i = 0,
    // Q_ij = y_i y_j k(w_i, w_j).
    DualProblem problem;
    problem.p.assign(words.size(), -1.0);
    problem.lower.assign(words.size(), 0.0);
    problem.upper.assign(words.size(), 10.0);
    problem.sign.assign(y.begin(), y.end());
    problem.equalities = {{.coefficients = y, .value = 0.0}};
    const DualSolution solution = solve_dual(SharedPairs(words), problem, {.tolerance = 1e-6});
    const double bias = -solution.multipliers[0];

    std::printf("status       %s after %llu steps, %llu similarities\n",
                describe(solution.status).c_str(), static_cast<unsigned long long>(solution.steps),
                static_cast<unsigned long long>(solution.evaluations));
    std::printf("objective    %.6f, at most %.1e above the optimum\n", solution.objective,
                solution.gap);
    std::printf("optimality   violated by at most %.1e\n", solution.violation);

    bool right = true;
    for (const auto& [word, label] : std::map<std::string, double>{{"sprechen", 1},
                                                                   {"licht", 1},
                                                                   {"milch", 1},
                                                                   {"parlare", -1},
                                                                   {"luce", -1},
                                                                   {"latte", -1}}) {
        double f = bias;
        for (std::size_t i = 0; i < words.size(); ++i) {
            f += y[i] * solution.alpha[i] * similarity(words[i], word);
        }
        std::printf("%-10s %+.2f %s\n", word.c_str(), f, f > 0 ? "German" : "Italian");
        right = right && f * label > 0;
    }

    const bool certified = solution.status == DualStatus::converged && solution.gap >= 0 &&
                           solution.gap < 1e-4 * std::abs(solution.objective);
    return certified && right ? 0 : 1;
}
