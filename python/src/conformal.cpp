// Predictions with a coverage, from rows set aside.
#include "mercer/select/conformal.hpp"

#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "common/settings.hpp"

namespace mercer::python {
namespace {

/// Rows set aside, and the settings of what is learnt from them. `y` are numbers, or positions of
/// the model's classes.
struct Aside {
    Dataset data{};
    ConformalSettings settings{};

    Aside(const Model& model, const Rows& x, const std::optional<Numbers>& y, nb::dict values) {
        data.x = x;
        if (y) data.y = labels_of(model, *y);
        const Settings s(std::move(values));
        settings.coverage = s.number("coverage", settings.coverage);
        settings.by_class = s.flag("by_class", settings.by_class);
        settings.scaled = s.flag("scaled", settings.scaled);
        s.check("a prediction with coverage");
    }
    Conformal learn(const Model& model, const Progress& progress) {
        settings.progress = progress;
        return conformal(model, data, settings);
    }
};

/// One row for each row of x, one column a class: whether it remains possible.
nb::object sets(const Model& model, const Rows& x, const Rows& aside, const Numbers& y,
                nb::dict values) {
    Aside known(model, aside, y, std::move(values));
    Matrix<std::uint8_t> possible(x.size(), model.classes());
    run_beside([&](const Progress& progress) {
        const auto found = known.learn(model, progress).sets(model, x);
        for (std::size_t i = 0; i < found.size(); ++i) {
            for (const std::size_t c : found[i]) possible(i, c) = 1;
        }
    });
    return nb::cast(give(std::move(possible)));
}

nb::object intervals(const Model& model, const Rows& x, const Rows& aside, const Numbers& y,
                     nb::dict values) {
    Aside known(model, aside, y, std::move(values));
    Matrix<double> out;
    run_beside(
        [&](const Progress& progress) { out = known.learn(model, progress).intervals(model, x); });
    return nb::cast(give(std::move(out)));
}

nb::object p_values(const Model& model, const Rows& x, const Rows& aside) {
    Aside known(model, aside, std::nullopt, nb::dict());
    std::vector<double> out;
    run_beside(
        [&](const Progress& progress) { out = known.learn(model, progress).p_values(model, x); });
    return nb::cast(give(std::move(out)));
}

}  // namespace

void bind_conformal(nb::module_& m) {
    m.def("conformal_sets", &sets);
    m.def("conformal_intervals", &intervals);
    m.def("conformal_p_values", &p_values);
}

}  // namespace mercer::python
