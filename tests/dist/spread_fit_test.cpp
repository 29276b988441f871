// Machines learnt by several ranks together are those of one alone, to the last bit.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/dist/detail/rank_partners.hpp"
#include "mercer/dist/detail/thread_ranks.hpp"
#include "mercer/learn/detail/centres.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/registry.hpp"

namespace mercer {
namespace {

/// Two or three noisy rings of the plane, of columns with very different units; some rows weigh 0.
Dataset rings(std::size_t rows, std::size_t classes, bool sparse, bool weights) {
    Random random(3);
    Dataset data;
    std::vector<float> x;
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t c = random.below(classes);
        const double angle = random.uniform(0, 6.3);
        const double radius = static_cast<double>(c) + 0.4 * random.normal();
        x.push_back(static_cast<float>(100 * radius * std::cos(angle)));
        x.push_back(static_cast<float>(radius * std::sin(angle)));
        x.push_back(random.below(4) == 0 ? static_cast<float>(random.normal()) : 0.0F);
        data.y.values.push_back(classes == 1 ? std::sin(radius) : static_cast<double>(c));
        if (weights)
            data.weights.push_back(i % 7 == 2 ? 0.0 : 1.0 + 0.1 * static_cast<double>(i % 5));
    }
    data.x = Rows::dense(std::move(x), 3);
    if (sparse) data.x = data.x.to_sparse();
    if (classes == 3) {
        data.y.names = {"inner", "middle", "outer"};
    }
    return data;
}

Dataset part_of(const Dataset& data, const RowRange& range) {
    std::vector<std::size_t> rows;
    for (std::size_t i = range.first; i < range.last; ++i) rows.push_back(i);
    return data.select(rows);
}

Machine machine_in_span(const std::string& task, FitSettings common, SettingValues values) {
    return approximate(common, {.centres = 40}, [=](const FitSettings& own) {
        return machine_entry(task).make(own, values);
    });
}

void expect_same(const Model& found, const Model& alone) {
    EXPECT_EQ(found.expansion().coefficients.values(), alone.expansion().coefficients.values());
    EXPECT_EQ(found.expansion().bias, alone.expansion().bias);
    EXPECT_EQ(found.expansion().kernel.text(), alone.expansion().kernel.text());
    EXPECT_EQ(found.origins(), alone.origins());
    EXPECT_EQ(found.scaling(), alone.scaling());
    EXPECT_EQ(found.class_names(), alone.class_names());
    EXPECT_EQ(found.trained().numbers, alone.trained().numbers);
    ASSERT_EQ(found.reports().size(), alone.reports().size());
    for (std::size_t o = 0; o < alone.reports().size(); ++o) {
        const Report& a = found.reports()[o];
        const Report& b = alone.reports()[o];
        EXPECT_EQ(a.primal, b.primal);
        EXPECT_EQ(a.dual, b.dual);
        EXPECT_EQ(a.rows, b.rows);
        EXPECT_EQ(a.figures, b.figures);
        EXPECT_EQ(a.free_support_vectors, b.free_support_vectors);
    }
}

struct Case {
    const char* task;
    std::size_t classes;
    bool sparse;
    bool weights;
    const char* scaling;
    TargetScale target_scale;
    std::size_t memory = std::size_t{1} << 30;
};

class SpreadFit : public testing::TestWithParam<Case> {};

TEST_P(SpreadFit, IsTheMachineOfOneRank) {
    const Case& c = GetParam();
    const Dataset data = rings(30'000, c.classes, c.sparse, c.weights);  // four leaves
    const FitSettings common{.scaling = ScalingRule::parse(c.scaling),
                             .target_scale = c.target_scale,
                             .memory_bytes = c.memory};
    const std::string task = c.task;
    const SettingValues values =
        task == "gp"        ? SettingValues{{"noise", 0.5}}
        : task == "kpca"    ? SettingValues{{"components", 3.0}}
        : task == "k-means" ? SettingValues{{"clusters", 6.0}, {"starts", 1.0}, {"passes", 4.0}}
        : task == "svc"     ? SettingValues{{"C", 0.1}, {"tolerance", 0.2}}
                            : SettingValues{{"lambda", 0.5}};
    const Model alone = machine_in_span(c.task, common, values).fit(data);
    // Of five ranks one has no rows.
    const bool long_one = task == "svc" || task == "k-means";
    for (const std::size_t count :
         long_one ? std::vector<std::size_t>{5} : std::vector<std::size_t>{2, 3, 5}) {
        SCOPED_TRACE(std::to_string(count) + " ranks");
        std::vector<std::unique_ptr<Model>> models(count);
        run_ranks(count, [&](Communicator& ranks) {
            const Dataset own = part_of(data, own_rows(ranks, data.size()));
            models[ranks.rank()] =
                std::make_unique<Model>(machine_in_span(c.task, common, values).fit(own));
        });
        for (const auto& model : models) expect_same(*model, alone);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Machines, SpreadFit,
    testing::Values(Case{"ridge", 1, false, true, "standard", TargetScale::standard},
                    Case{"ridge", 1, true, false, "minmax", TargetScale::minmax},
                    Case{"gp", 1, false, true, "standard", TargetScale::standard},
                    Case{"kpca", 1, true, true, "standard", TargetScale::automatic},
                    Case{"k-means", 1, false, true, "standard", TargetScale::automatic},
                    Case{"svc", 3, false, true, "standard", TargetScale::automatic},
                    Case{"svc", 2, true, true, "standard", TargetScale::automatic, 4 << 20},
                    Case{"logistic", 3, false, true, "standard", TargetScale::automatic},
                    Case{"squared-hinge", 2, true, false, "unit", TargetScale::automatic},
                    Case{"huber", 1, false, false, "none", TargetScale::center}),
    [](const auto& of) {
        std::string name = of.param.task + std::string(of.param.sparse ? "Sparse" : "Dense");
        std::erase(name, '-');
        return name;
    });

Machine linear_machine(const std::string& task, FitSettings common) {
    common.kernel = linear();
    return machine_entry(task).make(common, task == "svc"
                                                ? SettingValues{{"C", 0.01}, {"tolerance", 0.1}}
                                                : SettingValues{{"lambda", 0.5}});
}

/// Many rows under the linear kernel, gone over in passes; of svc only where they do not fit.
TEST(SpreadLinear, IsTheMachineOfOneRankWithAWeightForEachColumn) {
    for (const Case& c :
         {Case{"ridge", 1, false, true, "standard", TargetScale::standard},
          Case{"logistic", 3, true, true, "standard", TargetScale::automatic},
          Case{"squared-hinge", 2, false, false, "none", TargetScale::automatic},
          Case{"huber", 1, true, false, "minmax", TargetScale::center},
          Case{"svc", 2, false, true, "standard", TargetScale::automatic, 1 << 20}}) {
        SCOPED_TRACE(c.task);
        const Dataset data = rings(40'000, c.classes, c.sparse, c.weights);  // five leaves
        const FitSettings common{.scaling = ScalingRule::parse(c.scaling),
                                 .target_scale = c.target_scale,
                                 .memory_bytes = c.memory};
        const Model alone = linear_machine(c.task, common).fit(data);
        EXPECT_EQ(alone.expansion().size(), 3U);
        EXPECT_LT(alone.report().relative_gap, c.task == std::string("svc") ? 0.05 : 1e-6);
        for (const bool whole : {false, true}) {
            std::vector<std::unique_ptr<Model>> models(3);
            run_ranks(3, [&](Communicator& ranks) {
                const SpreadOver spread(ranks, whole ? HeldRows::all : HeldRows::own);
                const Dataset own = whole ? data : part_of(data, own_rows(ranks, data.size()));
                models[ranks.rank()] =
                    std::make_unique<Model>(linear_machine(c.task, common).fit(own));
            });
            for (const auto& model : models) expect_same(*model, alone);
        }
    }
}

/// Sparse rows of some dozen columns, some of which are in most rows, others in hardly any.
TEST(SpreadLinear, HasTheSameBitsForAnyNumberOfThreads) {
    constexpr std::size_t rows = 33'000, columns = 40;
    Random random(5);
    Dataset data;
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    std::vector<double> values;
    for (std::size_t i = 0; i < rows; ++i) {
        double f = 0.3 * random.normal();
        for (std::size_t k = 0; k < columns; ++k) {
            if (random.uniform() > 2.0 / static_cast<double>(k + 2)) continue;
            index.push_back(static_cast<std::uint32_t>(k));
            values.push_back(random.normal());
            f += values.back() * (k % 2 == 0 ? 1 : -1);
        }
        starts.push_back(values.size());
        data.y.values.push_back(f > 0 ? 1 : 0);
    }
    data.x = Rows::sparse(std::move(starts), std::move(index), std::move(values), columns);
    for (const char* task : {"logistic", "squared-hinge"}) {
        std::vector<Model> models;
        for (const std::size_t count : {1UL, 2UL, 4UL, 7UL}) {
            const ThreadLimit limit(count);
            models.push_back(linear_machine(task, {}).fit(data));
            EXPECT_LT(models.back().report().relative_gap, 1e-6);
            expect_same(models.back(), models.front());
        }
    }
}

/// Few rows are learnt from by each rank, as one alone would.
TEST(SpreadLinear, FewRowsAreGathered) {
    const Dataset data = rings(9'000, 2, false, true);
    for (const char* task : {"logistic", "svc"}) {
        const Model alone = linear_machine(task, {}).fit(data);
        EXPECT_GT(alone.expansion().size(), 3U) << "a coefficient for each row";
        std::vector<std::unique_ptr<Model>> models(2);
        run_ranks(2, [&](Communicator& ranks) {
            models[ranks.rank()] = std::make_unique<Model>(
                linear_machine(task, {}).fit(part_of(data, own_rows(ranks, data.size()))));
        });
        for (const auto& model : models) expect_same(*model, alone);
    }
}

/// What the report says is what the model does, and no other plane does better.
TEST(SpreadLinear, TheCertificateIsThatOfThePlane) {
    const Dataset data = rings(33'000, 2, true, true);
    const double lambda = 0.5;
    const Model model = linear_machine("logistic", {}).fit(data);
    const auto risk = [&](const Model& of) {
        const Matrix<double> f = of.decision(data.x);
        double sum = 0;
        for (std::size_t i = 0; i < data.size(); ++i) {
            const double y = data.y.values[i] == 0 ? 1 : -1;  // the first class is positive
            sum += data.weights[i] * std::log1p(std::exp(-y * f(i, 0)));
        }
        for (const double w : of.expansion().coefficients.values()) sum += lambda * w * w;
        return sum;
    };
    EXPECT_NEAR(risk(model), model.report().primal, 1e-6 * model.report().primal);
    EXPECT_LE(model.report().dual, risk(model) * (1 + 1e-10)) << "but for rounding";
    Random random(3);
    for (int trial = 0; trial < 8; ++trial) {
        ModelParts parts = model.parts();
        for (double& w : parts.expansion.coefficients.values()) w += 1e-3 * random.normal();
        parts.expansion.bias[0] += 0.01 * random.normal();
        EXPECT_GT(risk(Model(std::move(parts))), model.report().dual);
    }
}

TEST(SpreadFitErrors, OneRankThatFailsEndsAll) {
    Dataset data = rings(20'000, 1, false, false);
    data.y.values[19'000] = std::nan("");
    const auto body = [&](Communicator& ranks) {
        machine_in_span("ridge", {}, {}).fit(part_of(data, own_rows(ranks, data.size())));
    };
    try {
        run_ranks(3, body);
        FAIL() << "a target that is not finite was taken";
    } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find("row 19001"), std::string::npos) << error.what();
    }
}

TEST(SpreadFitErrors, MachinesThatCannotBeSpreadSaySo) {
    const Dataset data = rings(20'000, 2, false, false);
    for (const bool in_span : {true, false}) {
        const auto body = [&](Communicator& ranks) {
            const Dataset own = part_of(data, own_rows(ranks, data.size()));
            in_span ? machine_in_span("gp", {}, {{"optimise", true}}).fit(own)
                    : machine_entry("ridge").make({}, {}).fit(own);
        };
        try {
            run_ranks(2, body);
            FAIL() << "what cannot be spread was";
        } catch (const InvalidInput& error) {
            EXPECT_NE(std::string(error.what()).find("cannot be spread over 2"), std::string::npos)
                << error.what();
        }
    }
}

struct FromFeatures {
    const char* task;
    std::size_t classes;
    SettingValues values;
};

/// Machines that learn from the features of all rows: support vector machines by all ranks
/// together, others by each alike.
TEST(SpreadFeatures, EveryMachineIsThatOfOneRank) {
    for (const FromFeatures& c :
         {FromFeatures{"svr", 1, {{"C", 0.1}, {"tolerance", 0.1}}},
          FromFeatures{"nu-svr", 1, {{"C", 0.1}, {"tolerance", 0.1}}},
          FromFeatures{"nu-svc", 2, {{"nu", 0.8}, {"tolerance", 0.1}}},
          FromFeatures{"one-class", 1, {{"nu", 0.1}, {"tolerance", 0.1}}},
          FromFeatures{"quantile", 1, {{"lambda", 1.0}}}, FromFeatures{"class-means", 3, {}}}) {
        SCOPED_TRACE(c.task);
        const Dataset data = rings(17'000, c.classes, false, true);  // three leaves
        const FitSettings common{.scaling = ScalingRule::parse("standard")};
        const Machine machine = machine_in_span(c.task, common, c.values);
        const Model alone = machine.fit(data);
        run_ranks(2, [&](Communicator& ranks) {
            expect_same(machine.fit(part_of(data, own_rows(ranks, data.size()))), alone);
        });
    }
}

/// Partners that note whether they have spoken.
class Noted final : public Partners {
   public:
    explicit Noted(Communicator& ranks) : inner_(ranks) {}
    std::size_t number() const override { return inner_.number(); }
    std::size_t count() const override { return inner_.count(); }
    void gather(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                std::span<std::byte> all) const override {
        spoken_ = true;
        inner_.gather(own, sizes, all);
    }
    bool spoken() const { return spoken_; }

   private:
    RankPartners inner_;
    mutable bool spoken_ = false;
};

/// Enough of them that ranks draw them together; of twelve ranks some have no rows.
TEST(SpreadCentres, AreThoseOfOneRank) {
    const Gram<float> gram(rbf({.gamma = 0.5}), rings(20'000, 2, false, false).x.to_float());
    const auto draw = [&](const Partners* partners, std::vector<double>& left) {
        return draw_centres(gram, {.count = 170, .partners = partners}, left);
    };
    std::vector<double> left_alone;
    const std::vector<std::size_t> alone = draw(nullptr, left_alone);
    ASSERT_EQ(alone.size(), 170);
    for (const std::size_t count : {2UL, 3UL, 12UL}) {
        SCOPED_TRACE(std::to_string(count) + " ranks");
        run_ranks(count, [&](Communicator& ranks) {
            const Noted partners(ranks);
            std::vector<double> left;
            EXPECT_EQ(draw(&partners, left), alone);
            EXPECT_EQ(left, left_alone);
            EXPECT_TRUE(partners.spoken());
        });
    }
}

/// Learnt by each alike, a machine that one rank was stopped at is none of the others' either.
TEST(SpreadFitErrors, OneRankThatStopsBeforeItsMachineStopsAll) {
    const Dataset data = rings(9'000, 1, false, false);
    run_ranks(2, [&](Communicator& ranks) {
        FitSettings common;
        const Machine machine =
            approximate(common, {.centres = 40}, [&](const FitSettings& own) -> Machine {
                if (ranks.rank() == 1 && own.kernel == linear()) throw Cancelled();
                return machine_entry("quantile").make(own, {{"lambda", 1.0}});
            });
        EXPECT_THROW(machine.fit(part_of(data, own_rows(ranks, data.size()))), Cancelled);
    });
}

/// While features are computed there is no machine yet.
TEST(SpreadFitErrors, OneRankThatStopsAmongFeaturesStopsAll) {
    const Dataset data = rings(30'000, 2, false, false);
    const auto body = [&](Communicator& ranks) {
        FitSettings common;
        if (ranks.rank() == 1) {
            common.progress = [](const Moment& moment) { return moment.task != "features"; };
        }
        EXPECT_THROW(machine_in_span("svc", common, {{"C", 0.1}})
                         .fit(part_of(data, own_rows(ranks, data.size()))),
                     Cancelled);
    };
    run_ranks(3, body);
}

TEST(SpreadFitErrors, OneRankThatStopsStopsAllWithTheSameModel) {
    const Dataset data = rings(30'000, 2, false, false);
    std::vector<std::unique_ptr<Model>> models(3);
    run_ranks(3, [&](Communicator& ranks) {
        FitSettings common;
        std::size_t asked = 0;
        // Rank 1 has had enough in the middle of a step, after some have been made.
        if (ranks.rank() == 1) {
            common.progress = [&](const Moment& moment) {
                return moment.task != "newton" || ++asked < 2;
            };
        }
        const SettingValues values{{"lambda", 1e-4}, {"tolerance", 1e-12}};
        models[ranks.rank()] =
            std::make_unique<Model>(machine_in_span("logistic", common, values)
                                        .fit(part_of(data, own_rows(ranks, data.size()))));
    });
    for (const auto& model : models) {
        EXPECT_EQ(model->report().status, FitStatus::cancelled);
        EXPECT_EQ(model->expansion().coefficients.values(),
                  models[0]->expansion().coefficients.values());
    }
}

}  // namespace
}  // namespace mercer
