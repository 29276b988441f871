// Labels spread from some rows to all.
#include <numeric>

#include "arrays.hpp"
#include "bindings.hpp"
#include "interrupt.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/groups/label_spreading.hpp"
#include "settings.hpp"

namespace mercer::python {
namespace {

/// The rows from `first` to before `last`.
Rows part_of(const Rows& x, std::size_t first, std::size_t last) {
    std::vector<std::size_t> positions(last - first);
    std::iota(positions.begin(), positions.end(), first);
    return x.select(positions);
}

/// `y` are the classes, by position, of the first rows of `x`; the others have none. (One score a
/// row and class, the residual, the number of rows that no label reaches.)
nb::tuple spread(const Kernel& kernel, nb::dict values, const Rows& x, const Numbers& y,
                 const std::vector<std::string>& names, nb::object callback) {
    const Settings settings(std::move(values));
    SpreadSettings s{.kernel = kernel};
    s.alpha = settings.number("alpha", s.alpha);
    s.neighbours = settings.count("neighbours", s.neighbours);
    s.memory_bytes = settings.count("memory_bytes", s.memory_bytes);
    settings.check("the spreading of labels");
    if (y.size() > x.size()) {
        throw InvalidInput("there are " + std::to_string(y.size()) + " labels for " +
                           std::to_string(x.size()) + " rows");
    }
    Dataset labelled;
    labelled.x = part_of(x, 0, y.size());
    labelled.y.values = copy_of(y);
    labelled.feature_names = names;
    const Rows unlabelled = part_of(x, y.size(), x.size());
    LabelSpread found;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        s.progress = progress;
        found = spread_labels(s, labelled, unlabelled);
    };
    run_beside(job, std::move(callback));
    return nb::make_tuple(give(std::move(found.scores)), found.residual, found.unreached);
}

}  // namespace

void bind_spreading(nb::module_& m) {
    m.def("spread_labels", &spread, nb::arg("kernel"), nb::arg("settings"), nb::arg("x"),
          nb::arg("y"), nb::arg("names"), nb::arg("callback").none());
}

}  // namespace mercer::python
