// A machine of one's own, made known in one place: this file. Everything that reads the registry
// then takes it: training by name, folds, searches, model files.
#include <gtest/gtest.h>

#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/risk/class_means.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/select/search.hpp"

namespace mercer {
namespace {

constexpr Task toy_task = new_task("toy");

enum class Side { left, right };
constexpr Words sides{std::pair{Side::left, "left"}, std::pair{Side::right, "right"}};

struct ToySettings {
    FitSettings common{};
    double shift = 0.5;  ///< of the plane between two class means
    std::size_t rounds = 3;
    Side side = Side::left;
    bool bias = true;
};

/// What its models have besides: how far the plane of each output was moved, and back they answer.
struct Moved final : ArrayExtra<Moved> {
    Matrix<double> by{};

    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("moved", self.by);
    }
    void check(const ModelParts& model, const std::string& place) const override {
        if (by.rows() == 1 && by.columns() == model.expansion.outputs()) return;
        throw InvalidInput(place + ": moved must have a number for each output");
    }
    bool decides() const override { return true; }
    Matrix<double> decide(const Model& model, const Rows& scaled,
                          const Progress& progress) const override {
        Matrix<double> f = Extra::decide(model, scaled, progress);
        for (std::size_t i = 0; i < f.rows(); ++i) {
            for (std::size_t c = 0; c < f.columns(); ++c) f(i, c) -= by(0, c);
        }
        return f;
    }
};

/// The nearest class mean, with the plane moved.
class Toy {
   public:
    explicit Toy(ToySettings settings) : settings_(std::move(settings)) {}
    Task task() const { return toy_task; }
    Model fit(const Dataset& data) const {
        ModelParts model =
            class_means({.common = settings_.common, .bias = settings_.bias}).fit(data).parts();
        model.task = toy_task;
        for (double& b : model.expansion.bias) {
            b += settings_.side == Side::left ? settings_.shift : -settings_.shift;
        }
        if (settings_.rounds == 7) {  // remembers
            Moved moved;
            moved.by = Matrix<double>(1, model.expansion.outputs(), settings_.shift);
            model.extras.set(std::move(moved));
        }
        return Model(std::move(model));
    }

   private:
    ToySettings settings_;
};

MachineEntry toy_entry() {
    using S = ToySettings;
    Describe<S> d;
    d.add(&S::shift, "shift", "of the plane", Range::between(-10, 10)).tunable = true;
    d.add(&S::rounds, "rounds", "so many", Range::at_least(1)).tunable = true;
    d.add(&S::side, sides, "side", "where to");
    d.add(&S::bias, "bias", "learn a constant too");
    return d.entry({.task = toy_task,
                    .name = "toy",
                    .family = "risk",
                    .learns = Learns::classes,
                    .about = "a toy",
                    .extras = {extra_kind<Moved>("moves")}},
                   [](ToySettings s) { return Toy(std::move(s)); });
}

class OwnMachine : public ::testing::Test {
   protected:
    static void SetUpTestSuite() {
        static const bool added = (add_machine(toy_entry()), true);
        ASSERT_TRUE(added);
    }
    static std::string refused(const SettingValues& values) {
        try {
            machine_entry("toy").make({}, values);
        } catch (const InvalidSetting& error) {
            return error.what();
        }
        return "";
    }
    const Dataset data_ = make("moons", {.n = 120, .noise = 0.1});
};

TEST_F(OwnMachine, IsKnownByItsName) {
    EXPECT_EQ(task_name(toy_task), "toy");
    EXPECT_EQ(task_named("toy"), toy_task);
    EXPECT_TRUE(is_classifier(toy_task));
    EXPECT_FALSE(is_svm(toy_task));
    EXPECT_EQ(machines().back()->name, "toy");
    EXPECT_THROW(add_machine(toy_entry()), InvalidInput);
}

TEST_F(OwnMachine, SaysWhatItTakesAndWithWhichDefaults) {
    const MachineEntry& toy = machine_entry(toy_task);
    ASSERT_EQ(toy.settings.size(), 4U);
    EXPECT_EQ(toy.find("shift")->fallback, SettingValue(0.5));
    EXPECT_EQ(toy.find("side")->words, (std::vector<std::string>{"left", "right"}));
    EXPECT_EQ(toy.find("bias")->command_line_flag(), "--no-bias");
    EXPECT_EQ(toy.find("rounds")->command_line_flag(), "--rounds");
    EXPECT_EQ(settings_text(toy, {{"shift", 2.0}}), "shift=2 rounds=3 side=left bias=true ");
}

TEST_F(OwnMachine, RefusesWhatItCannotTake) {
    EXPECT_EQ(refused({{"shift", 11.0}}), "shift = 11 must be between -10 and 10");
    EXPECT_EQ(refused({{"rounds", std::size_t{0}}}), "rounds = 0 must be at least 1");
    EXPECT_EQ(refused({{"rounds", 1.5}}), "rounds = 1.5 must be a whole number, 0 or more");
    EXPECT_EQ(refused({{"side", std::string("lefft")}}),
              "side = 'lefft' must be left or right; did you mean left?");
    EXPECT_EQ(refused({{"shfit", 1.0}}),
              "the task toy has no setting 'shfit'; did you mean shift? There are bias, rounds, "
              "shift, side");
    EXPECT_EQ(refused({{"shift", std::size_t{2}}, {"rounds", 4.0}}), "");
}

TEST_F(OwnMachine, IsTrainedByNameAndItsSettingsArrive) {
    const FitSettings common{.kernel = rbf({.gamma = 1.0})};
    const MachineEntry& toy = machine_entry("toy");
    const Model plain = toy.make(common, {{"shift", 0.0}}).fit(data_);
    const Model left = toy.make(common, {{"shift", 0.25}}).fit(data_);
    const Model right =
        toy.make(common, {{"shift", 0.25}, {"side", std::string("right")}}).fit(data_);
    EXPECT_EQ(left.expansion().bias[0], plain.expansion().bias[0] + 0.25);
    EXPECT_EQ(right.expansion().bias[0], plain.expansion().bias[0] - 0.25);
    EXPECT_THROW(toy.make(common, {}).fit(data_, Matrix<double>(120, 2).view()), InvalidInput);
    EXPECT_GT(cross_validate(toy.make(common, {{"shift", 0.0}}), data_, 4).score.accuracy, 0.8);
}

/// Its own extra decides, goes through the file, checks itself there, and is dropped by nobody.
TEST_F(OwnMachine, BringsItsOwnExtras) {
    const FitSettings common{.kernel = rbf({.gamma = 1.0})};
    const MachineEntry& toy = machine_entry("toy");
    const Model plain = toy.make(common, {{"shift", 0.0}}).fit(data_);
    const Model moved = toy.make(common, {{"shift", 0.25}, {"rounds", std::size_t{7}}}).fit(data_);
    const Matrix<double> want = plain.decision(data_.x);
    const Matrix<double> found = moved.decision(data_.x);
    for (std::size_t i = 0; i < data_.size(); ++i) EXPECT_NEAR(found(i, 0), want(i, 0), 1e-12);
    const Model back = load_from_memory(save_to_memory(moved));
    ASSERT_TRUE(back.extras().find<Moved>());
    EXPECT_FALSE(back.extras().find<Tables>());
    EXPECT_EQ(back.decision(data_.x).values(), found.values());
    EXPECT_EQ(reduce(moved, {.vectors = 5}).model.extras().array("moved")(0, 0), 0.25);
    ModelParts broken = moved.parts();
    broken.extras.set(Moved());
    EXPECT_THROW(save_to_memory(Model(broken)), InvalidInput);
    // The same array of a machine that does not know it is only a table.
    broken = plain.parts();
    broken.task = Task::class_means;
    add_table(broken, "moved", Matrix<double>(1, 1, 3.0));
    const Model other = load_from_memory(save_to_memory(Model(broken)));
    EXPECT_FALSE(other.extras().find<Moved>());
    EXPECT_EQ(other.extras().array("moved")(0, 0), 3.0);
    EXPECT_THROW(other.extras().array("none"), InvalidInput);
}

TEST_F(OwnMachine, IsSearchedByTheSettingsItCallsTunable) {
    const FitSettings common{.kernel = rbf({.gamma = 1.0})};
    const SearchSpace space(search_task(machine_entry("toy"), common, {}, "rbf(gamma=1)"),
                            {Axis::parse("shift=-5,0,5")}, data_);
    const SearchResult result = search(space, data_, {.folds = {.folds = 3}});
    ASSERT_TRUE(result.best);
    EXPECT_EQ(result.points[*result.best].values[0], 0);
    EXPECT_THROW(SearchSpace(search_task(machine_entry("toy"), common, {}, "rbf(gamma=1)"),
                             {Axis::parse("side=1,2")}, data_),
                 InvalidInput);
    EXPECT_THROW(SearchSpace(search_task(machine_entry("toy"), common, {}, "rbf(gamma=1)"),
                             {Axis::parse("rounds=1.5")}, data_),
                 InvalidInput);
}

}  // namespace
}  // namespace mercer
