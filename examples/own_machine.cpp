// A machine of one's own: regression by steps along the gradient, stopped early. Described once, it
// is known by name, its settings are checked, folds and searches use it, and its models are saved
// and loaded as all others.
#include <cstdio>
#include <mercer/mercer.hpp>
#include <utility>
#include <vector>

using namespace mercer;

constexpr Task descent_task = new_task("descent");

struct DescentSettings {
    FitSettings common{};  ///< the kernel and what else every machine is told
    std::size_t steps = 50;
    double rate = 1;
};

/// α ← α + rate / n (y − Kα), so many times (Landweber). Few steps leave f smooth, many fit noise.
class Descent {
   public:
    explicit Descent(DescentSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return descent_task; }

    Model fit(const Dataset& data) const {
        const std::size_t n = data.size();
        const Gram<double> gram(settings_.common.kernel, data.x, data.feature_names);
        std::vector<double> alpha(n, 0.0);
        for (std::size_t step = 0; step < settings_.steps; ++step) {
            std::vector<double> image(n, 0.0);  // Kα, without K being stored
            gram.add_product(gram.reference(), gram.reference(), alpha, image);
            for (std::size_t i = 0; i < n; ++i) {
                alpha[i] += settings_.rate / static_cast<double>(n) * (data.y.values[i] - image[i]);
            }
        }

        // What every machine learns: f = Σ α_i k(x_i, ·) + b.
        ModelParts model;
        model.task = descent_task;
        model.columns = data.columns();
        model.feature_names = data.feature_names;
        model.expansion.kernel = gram.kernel();
        model.expansion.points = data.x;
        model.expansion.bias = {0.0};
        model.expansion.coefficients = Matrix<double>(1, n);
        std::copy(alpha.begin(), alpha.end(), model.expansion.coefficients.row(0).begin());
        model.reports = {{.iterations = settings_.steps}};
        model.double_precision = settings_.common.double_precision;
        return Model(std::move(model));
    }

   private:
    DescentSettings settings_;
};

/// Names, ranges and help, in one place.
MachineEntry descent_entry() {
    using S = DescentSettings;
    Describe<S> d;
    d.add(&S::steps, "steps", "along the gradient", Range::at_least(1)).tunable = true;
    d.add(&S::rate, "rate", "how far a step goes", Range::inside(0, 2)).tunable = true;
    return d.entry({.task = descent_task,
                    .name = "descent",
                    .family = "own",
                    .learns = Learns::numbers,
                    .about = "regression by early stopped descent"},
                   [](S settings) { return Descent(std::move(settings)); });
}

int main() {
    add_machine(descent_entry());
    const Dataset data = make("sinc", {.n = 300, .noise = 0.1});
    const FitSettings common{.kernel = rbf({.gamma = 2.0})};
    const MachineEntry& descent = machine_entry("descent");

    // A search over what the entry calls tunable, judged by folds.
    const SearchSpace space(search_task(descent, common, {}, "rbf(gamma=2)"),
                            {Axis::parse("steps=1,10,100,1000")}, data);
    const SearchResult found = search(space, data, {.folds = {.folds = 5}});
    if (!found.best) return 1;
    const double steps = found.points[*found.best].values[0];
    std::printf("%s: %g steps are best\n", descent.about.c_str(), steps);

    const Model model = descent.make(common, {{"steps", steps}}).fit(data);
    const Model loaded = load_from_memory(save_to_memory(model));
    const Dataset clean = make("sinc", {.n = 200, .noise = 0.0, .seed = 2});
    const std::vector<double> answers = loaded.predict(clean.x);
    double squares = 0;
    for (std::size_t i = 0; i < clean.size(); ++i) {
        const double error = answers[i] - clean.y.values[i];
        squares += error * error / static_cast<double>(clean.size());
    }
    std::printf("mean squared error %.5f, of the noise in the data 0.01\n", squares);

    // Settings are refused in words that help.
    bool refused = false;
    try {
        descent.make(common, {{"rate", 3.0}});
    } catch (const InvalidSetting& error) {
        refused = true;
        std::printf("refused: %s\n", error.what());
    }
    return refused && steps > 1 && squares < 0.005 && answers == model.predict(clean.x) ? 0 : 1;
}
