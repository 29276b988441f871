// A kernel of one's own: an ordinary function of two rows, combined with those of the library,
// asked whether it is positive definite, and used by a machine.
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>
#include <numbers>
#include <span>

using namespace mercer;

/// How alike two directions of the wind are: angles in column 0, in radians. cos(a − b) =
/// cos a cos b + sin a sin b is a dot product, so the kernel is positive definite.
double same_direction(std::span<const double> x, std::span<const double> z) {
    return std::cos(x[0] - z[0]);
}

void ask(const Kernel& kernel) {
    const Definiteness answer = definiteness(kernel);
    std::printf("%s\n  %s\n", kernel.text().c_str(), describe(answer.definite).c_str());
    for (const Reason& reason : answer.reasons) {
        std::printf("  %*s%s: %s\n", static_cast<int>(2 * reason.depth), "", reason.part.c_str(),
                    reason.because.c_str());
    }
}

/// Winds from one half of the sky are dangerous (1), from the other only strong ones.
Dataset winds(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    Dataset data;
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        const double angle = random.uniform(0, 2 * std::numbers::pi);
        const double strength = random.uniform(0, 2);
        values.insert(values.end(), {angle, strength});
        data.y.values.push_back(std::cos(angle) < 0 || strength > 1 ? 1 : -1);
    }
    data.x = Rows::dense(std::move(values), 2);
    return data;
}

int main() {
    // The name makes the text of expressions readable, and lets model files refer to it. The last
    // argument is our word that it is positive definite; the proof stands above.
    const Kernel direction = function("direction", same_direction, /*known_pd=*/true);

    // Direction counts in column 0 and strength in column 1; a product wants both alike.
    const Kernel both = direction * rbf({.gamma = 2.0})[columns(1, 2)];
    const Kernel doubtful = both - 0.5 * direction;
    ask(both);
    ask(doubtful);

    const Model model = svc({.kernel = both, .C = 100}).fit(winds(300, 1));
    const Dataset others = winds(1000, 2);
    const Labels labels = model.predict_labels(others.x);
    std::size_t right = 0;
    for (std::size_t i = 0; i < others.size(); ++i) {
        right += labels.values[i] == others.y.values[i];
    }
    std::printf("%zu of 1000 winds recognised, relative gap %.1e\n", right,
                model.report().relative_gap);

    const bool good = definiteness(both).definite == Definite::positive &&
                      definiteness(doubtful).definite == Definite::unknown &&
                      model.report().is_bracketed() && right > 900;
    return good ? 0 : 1;
}
