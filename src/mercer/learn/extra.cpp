#include "mercer/learn/extra.hpp"

#include <typeinfo>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/compress/cascade.hpp"
#include "mercer/learn/registry.hpp"

namespace mercer {
namespace {

/// Kinds that models of any machine may have.
const std::vector<ExtraKind>& common_kinds() {
    static const std::vector<ExtraKind> kinds{extra_kind<Calibration>("calibration"),
                                              extra_kind<CascadeStages>("cascade")};
    return kinds;
}

}  // namespace

Extra::~Extra() = default;

void Extra::check(const ModelParts&, const std::string&) const {}

void Extra::each_array(const Visit&) const {}

std::string Extra::why_not_reduced() const {
    return {};
}

std::shared_ptr<const Extra> Extra::reduced(const std::shared_ptr<const Extra>& own, const Model&,
                                            const Expansion&) const {
    return own;
}

bool Extra::decides() const {
    return false;
}

Matrix<double> Extra::decide(const Model& model, const Rows& scaled,
                             const Progress& progress) const {
    return model.expansion_values(scaled, progress);
}

std::size_t Extra::points() const {
    return 0;
}

std::optional<std::vector<double>> Extra::answers(const Model&, const Rows&,
                                                  const Progress&) const {
    return std::nullopt;
}

void Extras::add(std::shared_ptr<const Extra> extra) {
    if (!extra) return;
    const Extra& fresh = *extra;
    std::erase_if(all_, [&fresh](const std::shared_ptr<const Extra>& other) {
        const Extra& old = *other;
        return typeid(old) == typeid(fresh);
    });
    all_.push_back(std::move(extra));
}

std::map<std::string, const Matrix<double>*> Extras::arrays() const {
    std::map<std::string, const Matrix<double>*> result;
    for (const auto& extra : all_) {
        extra->each_array([&result](const std::string& name, const Matrix<double>& array) {
            result.emplace(name, &array);
        });
    }
    return result;
}

const Matrix<double>& Extras::array(const std::string& name) const {
    const auto all = arrays();
    if (const auto found = all.find(name); found != all.end()) return *found->second;
    std::string known;
    for (const auto& [other, array] : all) known += ' ' + other;
    throw InvalidInput("the model has no array " + quoted(name) + "; there " +
                       (known.empty() ? "is none" : "are" + known));
}

void read_extras(ModelParts& model, Arrays arrays) {
    const auto take = [&](const std::vector<ExtraKind>& kinds) {
        for (const ExtraKind& kind : kinds) model.extras.add(kind.take(model, arrays));
    };
    take(machine_entry(model.task).extras);
    take(common_kinds());
    if (!arrays.empty()) model.extras.add(std::make_shared<const Tables>(std::move(arrays)));
}

void check_extras(const ModelParts& model, const std::string& place) {
    for (const ExtraKind& kind : machine_entry(model.task).extras) {
        if (!kind.required || kind.is_in(model.extras)) continue;
        throw InvalidInput(place + ": a model of the task " + task_name(model.task) +
                           " needs its " + kind.name + ", which are missing");
    }
    for (const auto& extra : model.extras) extra->check(model, place);
}

void Tables::each_array(const Visit& visit) const {
    for (const auto& [name, array] : arrays) visit(name, array);
}

void add_table(ModelParts& model, const std::string& name, Matrix<double> table) {
    const Tables* before = model.extras.find<Tables>();
    Tables tables = before ? *before : Tables();
    tables.arrays[name] = std::move(table);
    model.extras.set(std::move(tables));
}

void Companion::check(const ModelParts&, const std::string& place) const {
    if (!model) throw InvalidInput(place + ": the companion of the model is missing");
    if (companion_of(*model)) {
        throw InvalidInput(place + ": the companion of a model cannot have one itself");
    }
}

const Model* companion_of(const Model& model) {
    const Companion* companion = model.extras().find<Companion>();
    return companion ? companion->model.get() : nullptr;
}

}  // namespace mercer
