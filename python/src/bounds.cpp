// Bounds as numbers, of trained machines, and capacity measured on data.
#include "mercer/theory/bounds.hpp"

#include <functional>
#include <map>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "common/settings.hpp"
#include "mercer/base/error.hpp"
#include "mercer/theory/capacity.hpp"
#include "mercer/theory/margin.hpp"

namespace mercer::python {
namespace {

using Values = std::vector<double>;

nb::dict dict_of(const Bound& b) {
    nb::dict inputs;
    for (const BoundInput& i : b.inputs) inputs[i.name.c_str()] = i.value;
    nb::dict d;
    d["name"] = b.name;
    d["formula"] = b.formula;
    d["inputs"] = inputs;
    d["value"] = b.value;
    d["confidence"] = b.confidence;
    d["vacuous"] = b.vacuous;
    d["estimate"] = b.estimate;
    d["about"] = b.about;
    return d;
}

/// Bounds on the risk take error, rows and delta first.
RiskSample sample_of(const Values& v) {
    return {v.at(0), v.at(1), v.at(2)};
}

using Make = std::function<Bound(const Values&)>;
const std::map<std::string, Make>& makers() {
    static const std::map<std::string, Make> all{
        {"chernoff", [](const Values& v) { return chernoff_risk(sample_of(v)); }},
        {"union", [](const Values& v) { return union_risk(sample_of(v), v.at(3)); }},
        {"vc", [](const Values& v) { return vc_risk(sample_of(v), v.at(3)); }},
        {"shattering", [](const Values& v) { return shattering_risk(sample_of(v), v.at(3)); }},
        {"rademacher", [](const Values& v) { return rademacher_risk(sample_of(v), v.at(3)); }},
        {"compression", [](const Values& v) { return compression_risk(sample_of(v), v.at(3)); }},
        {"description", [](const Values& v) { return description_risk(sample_of(v), v.at(3)); }},
        {"margin_dimension",
         [](const Values& v) { return margin_dimension(v.at(0), v.at(1), v.at(2) != 0, v.at(3)); }},
        {"margin_description",
         [](const Values& v) { return margin_description(v.at(0), v.at(1), v.at(2)); }},
        {"cover_separation", [](const Values& v) { return cover_separation(v.at(0), v.at(1)); }},
        {"growth", [](const Values& v) { return growth_bound(v.at(0), v.at(1)); }},
        {"sauer", [](const Values& v) { return sauer_bound(v.at(0), v.at(1)); }},
        {"half_space_growth",
         [](const Values& v) { return half_space_growth(v.at(0), v.at(1), v.at(2) != 0); }}};
    return all;
}

nb::dict bound(const std::string& name, const Values& values) {
    return dict_of(makers().at(name)(values));
}

nb::list bounds_of_model(const Model& model, const Rows& x, const Numbers& y, double delta,
                         bool leave_one_out, nb::object callback) {
    Dataset data;
    data.x = x;
    if (y.size() > 0) data.y = labels_of(model, y);
    std::vector<MachineBounds> found;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        found = model_bounds(
            model, data, {.delta = delta, .leave_one_out = leave_one_out, .progress = progress});
    };
    run_beside(job, std::move(callback));
    nb::list parts;
    for (const MachineBounds& m : found) {
        nb::list bounds;
        for (const Bound& b : m.bounds) bounds.append(dict_of(b));
        parts.append(nb::make_tuple(m.name, m.rows, bounds));
    }
    return parts;
}

nb::dict random_labels(const Kernel& kernel, const Rows& x, const std::vector<std::string>& names,
                       nb::dict values) {
    const Settings settings(std::move(values));
    RademacherSettings s;
    s.norm = settings.number("norm", s.norm);
    s.draws = settings.count("draws", s.draws);
    s.seed = settings.count("seed", s.seed);
    s.memory_bytes = settings.count("memory_bytes", s.memory_bytes);
    settings.check("random labels");
    Rademacher r;
    run_beside([&](const Progress& progress) {
        s.progress = progress;
        r = rademacher_complexity(kernel, x, names, s);
    });
    nb::dict d;
    d["rows"] = r.rows;
    d["trace"] = r.trace;
    d["by_trace"] = r.by_trace;
    d["estimate"] = r.estimate;
    d["deviation"] = r.deviation;
    return d;
}

nb::list entropy(const Kernel& kernel, const Rows& x, const std::vector<std::string>& names,
                 nb::dict values) {
    const Settings settings(std::move(values));
    EntropySettings s;
    s.sizes = settings.get("sizes", s.sizes);
    s.draws = settings.count("draws", s.draws);
    s.bias = settings.flag("bias", s.bias);
    s.seed = settings.count("seed", s.seed);
    settings.check("the VC entropy");
    std::vector<EntropyLevel> levels;
    run_beside([&](const Progress& progress) {
        s.progress = progress;
        levels = vc_entropy(kernel, x, names, s);
    });
    nb::list result;
    for (const EntropyLevel& l : levels) {
        nb::dict d;
        d["rows"] = l.rows;
        d["entropy"] = l.entropy;
        d["deviation"] = l.deviation;
        d["annealed"] = l.annealed;
        d["growth"] = l.growth;
        d["most"] = l.most;
        d["rank"] = l.rank;
        d["exact"] = l.exact;
        result.append(d);
    }
    return result;
}

nb::dict dict_of(PlaneMargin m) {
    nb::dict d;
    d["norm"] = m.norm;
    d["functional"] = m.functional;
    d["geometric"] = m.geometric;
    d["errors"] = m.errors;
    d["rows"] = give(std::move(m.rows));
    return d;
}

/// `y` are +1 and −1.
nb::dict margin_of_plane(const Numbers& w, double b, const Rows& x, const Numbers& y) {
    Dataset data;
    data.x = x;
    data.y.values = copy_of(y);
    return dict_of(plane_margin({.w = copy_of(w), .b = b}, data, "1"));
}

nb::dict margin_of_model(const Model& model, const Rows& x, const Numbers& y) {
    Dataset data;
    data.x = x;
    data.y = labels_of(model, y);
    return dict_of(plane_margin(model, data));
}

}  // namespace

void bind_bounds(nb::module_& m) {
    m.def("bound", &bound);
    m.def("bounds_of_model", &bounds_of_model, nb::arg("model"), nb::arg("x"), nb::arg("y"),
          nb::arg("delta"), nb::arg("leave_one_out"), nb::arg("callback").none());
    m.def("rademacher_complexity", &random_labels);
    m.def("vc_entropy", &entropy);
    m.def("margin_of_plane", &margin_of_plane);
    m.def("margin_of_model", &margin_of_model);
}

}  // namespace mercer::python
