// What a model may have besides its expansion: the votes of a perceptron, the stages of a cascade,
// how decisions become probabilities, … Each kind is a type of its own, which says whether it fits
// the model, what it makes of rows where that is not the expansion's value, which arrays it is in a
// file, and what is left of it when the expansion gets shorter.
//
//   const Calibration* sure = model.extras().find<Calibration>();     // null: it has none
//   const Matrix<double>& table = model.extras().array("sizes");    // by its name in the file
//
//   Extras extras;                                                   // while a model is made
//   extras.set(Threshold(Matrix<double>(1, 4)));
//
// A kind of one's own derives from ArrayExtra, names its arrays once in a static member template
//
//     static void arrays(Self& self, Visit&& visit) → visit("shares", self.shares)
//
// and is listed in the entry of its machine, so that model files can be read: MachineEntry::extras
// = {extra_kind<Shares>("shares")}. tests/select/own_machine_test.cpp has one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"

namespace mercer MERCER_API {

struct Expansion;
class Model;
struct ModelParts;

/// Arrays of a model file by name, a word of a-z, 0-9, _ and -.
using Arrays = std::map<std::string, Matrix<double>>;

class Extra {
   public:
    using Visit = std::function<void(const std::string& name, const Matrix<double>& array)>;

    Extra() = default;
    Extra(const Extra&) = default;
    Extra& operator=(const Extra&) = default;
    virtual ~Extra();

    /// Throws InvalidInput, beginning with `place`, unless it fits the model. That its numbers are
    /// finite is seen to elsewhere.
    virtual void check(const ModelParts& model, const std::string& place) const;
    /// The arrays it is in a file.
    virtual void each_array(const Visit& visit) const;
    /// Why a model that has it cannot be reduced; empty: it can.
    virtual std::string why_not_reduced() const;
    /// What goes with the model when its expansion is exchanged for a smaller one: by default this
    /// very thing, null where it means nothing any more.
    virtual std::shared_ptr<const Extra> reduced(const std::shared_ptr<const Extra>& own,
                                                 const Model& model,
                                                 const Expansion& smaller) const;
    /// True when it takes the expansion apart itself, and `decide` is asked for decision values.
    virtual bool decides() const;
    /// Decision values of rows to which the model's scaling has been applied.
    virtual Matrix<double> decide(const Model& model, const Rows& scaled,
                                  const Progress& progress) const;
    /// How many points answers are made of that are not the expansion's.
    virtual std::size_t points() const;
    /// What the model says of rows (unscaled) where that does not follow from decision values.
    virtual std::optional<std::vector<double>> answers(const Model& model, const Rows& x,
                                                       const Progress& progress) const;
};

/// An extra that is arrays and nothing else. `E` names them in a static member template `arrays`,
/// once for both directions; members are Matrix<double>, or std::optional of one that may be left
/// out.
template <class E>
class ArrayExtra : public Extra {
   public:
    void each_array(const Visit& visit) const override {
        E::arrays(static_cast<const E&>(*this), [&visit](const char* name, const auto& array) {
            if constexpr (requires { array.has_value(); }) {
                if (array) visit(name, *array);
            } else {
                visit(name, array);
            }
        });
    }
    /// Takes its arrays out of those of a file; null when there are none of them.
    static std::shared_ptr<const Extra> take(const ModelParts&, Arrays& from) {
        const auto own = std::make_shared<E>();
        bool any = false;
        E::arrays(*own, [&](const char* name, auto& array) {
            auto found = from.extract(name);
            if (found.empty()) return;
            array = std::move(found.mapped());
            any = true;
        });
        return any ? own : nullptr;
    }
};

/// The extras of a model, at most one of each kind. Copies share them; none of them changes.
class Extras {
   public:
    /// Null where there is none.
    template <class E>
    const E* find() const {
        for (const auto& extra : all_) {
            if (const E* found = dynamic_cast<const E*>(extra.get())) return found;
        }
        return nullptr;
    }
    /// In the place of one of the same kind.
    template <class E>
    void set(E extra) {
        add(std::make_shared<const E>(std::move(extra)));
    }
    template <class E>
    void erase() {
        std::erase_if(all_, [](const auto& e) { return dynamic_cast<const E*>(e.get()); });
    }
    /// The same; null is nothing.
    void add(std::shared_ptr<const Extra> extra);

    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }
    bool empty() const { return all_.empty(); }
    /// All their arrays, which live as long as these extras.
    std::map<std::string, const Matrix<double>*> arrays() const;
    /// One of them. Throws InvalidInput where there is none of that name.
    const Matrix<double>& array(const std::string& name) const;

   private:
    std::vector<std::shared_ptr<const Extra>> all_{};
};

/// How a kind is found in a model file.
struct ExtraKind {
    std::string name;
    /// A model of the machine that lists it is none without it.
    bool required = false;
    /// Takes what belongs to it out of the arrays; null where nothing does. The model has
    /// everything but extras.
    std::function<std::shared_ptr<const Extra>(const ModelParts& model, Arrays& arrays)> take{};
    std::function<bool(const Extras& extras)> is_in{};
};
template <class E>
ExtraKind extra_kind(std::string name, bool required = false) {
    return {.name = std::move(name),
            .required = required,
            .take = [](const ModelParts& model, Arrays& arrays) { return E::take(model, arrays); },
            .is_in = [](const Extras& extras) { return extras.find<E>() != nullptr; }};
}

/// Gives a model the extras that these arrays are, by the kinds of its machine and those that any
/// model may have (calibration, cascades); what none of them takes becomes Tables.
void read_extras(ModelParts& model, Arrays arrays);

/// Throws InvalidInput, beginning with `place`, unless all that the model must have are there and
/// all that are there fit it.
void check_extras(const ModelParts& model, const std::string& place);

/// Numbers that are told of a machine and that nothing is computed from: the path of a ridge
/// regression, the sizes of groups, the mixing matrix of sources, canonical correlations.
struct Tables final : Extra {
    Arrays arrays{};

    Tables() = default;
    explicit Tables(Arrays tables) : arrays(std::move(tables)) {}
    void each_array(const Visit& visit) const override;
};
/// Puts one more table beside those that are there.
void add_table(ModelParts& model, const std::string& name, Matrix<double> table);

/// A second model that belongs to this one and goes with it into its file: the other view of a
/// canonical correlation, the outputs of a dependency. It has none itself.
struct Companion final : Extra {
    std::shared_ptr<const Model> model{};

    Companion() = default;
    explicit Companion(std::shared_ptr<const Model> second) : model(std::move(second)) {}
    void check(const ModelParts& first, const std::string& place) const override;
};
/// Null for a model without one.
const Model* companion_of(const Model& model);

}  // namespace mercer
