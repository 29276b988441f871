// Which columns matter.
#include "mercer/select/features.hpp"

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/settings.hpp"

namespace mercer::python {
namespace {

nb::list list_of(const std::vector<EliminationRound>& rounds) {
    nb::list list;
    for (const EliminationRound& r : rounds) {
        nb::object cv = r.cv_accuracy ? nb::cast(*r.cv_accuracy) : nb::none();
        list.append(nb::make_tuple(r.features, r.training_accuracy, cv));
    }
    return list;
}

Dataset labelled(const Rows& x, const Numbers& y) {
    Dataset data;
    data.x = x;
    data.y.values = copy_of(y);
    return data;
}

SvmSettings machine_of(const Settings& s, const Kernel& kernel) {
    SvmSettings svm;
    svm.common.kernel = kernel;
    svm.C = s.number("C", svm.C);
    return svm;
}

nb::dict eliminate(const Kernel& kernel, nb::dict values, const Rows& x, const Numbers& y,
                   nb::object callback) {
    const Settings settings(std::move(values));
    EliminationSettings s;
    s.svm = machine_of(settings, kernel);
    s.keep = settings.count("keep", s.keep);
    s.share = settings.number("share", s.share);
    s.folds = settings.count("folds", s.folds);
    s.seed = settings.count("seed", s.seed);
    settings.check("the elimination of features");
    const Dataset data = labelled(x, y);
    Elimination found;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        s.progress = progress;
        found = eliminate_features(s, data);
    };
    run_beside(job, std::move(callback));
    nb::dict d;
    d["ranking"] = nb::cast(found.ranking);
    d["rounds"] = list_of(found.rounds);
    return d;
}

nb::dict zero_norm(const Kernel& kernel, nb::dict values, const Rows& x, const Numbers& y,
                   nb::object callback) {
    const Settings settings(std::move(values));
    ZeroNormSettings s;
    s.svm = machine_of(settings, kernel);
    s.keep = settings.count("keep", s.keep);
    s.rounds = settings.count("rounds", s.rounds);
    s.folds = settings.count("folds", s.folds);
    s.seed = settings.count("seed", s.seed);
    settings.check("the zero norm");
    const Dataset data = labelled(x, y);
    ZeroNorm found;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        s.progress = progress;
        found = zero_norm_features(s, data);
    };
    run_beside(job, std::move(callback));
    nb::dict d;
    d["ranking"] = nb::cast(found.ranking);
    d["rounds"] = list_of(found.rounds);
    d["selected"] = nb::cast(found.selected);
    d["scale"] = give(std::move(found.scale));
    d["converged"] = found.converged;
    return d;
}

}  // namespace

void bind_features(nb::module_& m) {
    for (const auto& [name, function] : {std::pair{"eliminate_features", &eliminate},
                                         std::pair{"zero_norm_features", &zero_norm}}) {
        m.def(name, function, nb::arg("kernel"), nb::arg("settings"), nb::arg("x"), nb::arg("y"),
              nb::arg("callback").none());
    }
}

}  // namespace mercer::python
