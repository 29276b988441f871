// A certificate holds for the machine it was made for, and for no other.
#include "mercer/theory/certificate_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

bool holds(const std::vector<CheckedReport>& checks) {
    for (const CheckedReport& check : checks) {
        if (!check.broken.empty()) return false;
    }
    return !checks.empty();
}

std::string sentences(const std::vector<CheckedReport>& checks) {
    std::string text;
    for (const CheckedReport& check : checks) {
        for (const std::string& sentence : check.broken) text += sentence + "\n";
    }
    return text;
}

TEST(CertificateCheck, HoldsForEveryMachineAsTrained) {
    const Dataset moons = make("moons", {.n = 160, .noise = 0.25});
    const Dataset sinc = make("sinc", {.n = 100, .noise = 0.1});
    const Dataset iris = read("@iris");
    struct Case {
        SvmSettings settings;
        const Dataset* data;
    };
    const std::vector<Case> cases{
        {{.task = Task::svc, .C = 1e4}, &moons},
        {{.task = Task::svc, .common = {.kernel = polynomial({.degree = 5})}}, &moons},
        {{.task = Task::nu_svc, .nu = 0.4}, &moons},
        {{.task = Task::hard_margin, .common = {.kernel = rbf({.gamma = 100.0})}}, &moons},
        {{.task = Task::svc, .multi_class = MultiClass::one_vs_rest}, &iris},
        {{.task = Task::svc, .C = 100, .relative_gap = 0.1}, &iris},
        {{.task = Task::svc, .C = 100, .iteration_limit = 3}, &iris},
        {{.task = Task::svr, .C = 50}, &sinc},
        {{.task = Task::nu_svr, .nu = 0.2}, &sinc},
        {{.task = Task::one_class, .nu = 0.15}, &moons},
        {{.task = Task::svdd, .C = 0, .nu = 0.15}, &moons},
        {{.task = Task::svdd, .C = 0, .nu = 0}, &moons}};
    for (const Case& c : cases) {
        SvmSettings settings = c.settings;
        for (const bool twice : {false, true}) {
            settings.common.double_precision = twice;
            const Model model = Svm(settings).fit(*c.data);
            const auto checks = check_certificate(model, *c.data);
            EXPECT_EQ(checks.size(), model.reports().size());
            EXPECT_TRUE(holds(checks)) << task_name(settings.task) << "\n" << sentences(checks);
        }
    }
}

TEST(CertificateCheck, EveryPartOfTheClaimIsChecked) {
    const Dataset data = make("moons", {.n = 120, .noise = 0.3});
    const Model honest = nu_svc({.nu = 0.4}).fit(data);
    ASSERT_TRUE(holds(check_certificate(honest, data)));
    const auto breaks = [&](const char* expected, const auto& tamper) {
        ModelParts model = honest.parts();
        tamper(model);
        const std::string text = sentences(check_certificate(Model(model), data));
        EXPECT_NE(text.find(expected), std::string::npos) << expected << " in:\n" << text;
    };
    breaks("the breach of a bound", [](ModelParts& m) { m.expansion.coefficients(0, 0) *= 1.001; });
    breaks("the KKT violation", [](ModelParts& m) {
        for (double& value : m.expansion.coefficients.values()) value *= 0.5;
    });
    breaks("the relative gap", [](ModelParts& m) { m.expansion.bias[0] += 1; });
    breaks("the dual value", [](ModelParts& m) { m.reports[0].dual *= 1.01; });
    breaks("support vectors, claimed", [](ModelParts& m) { m.expansion.coefficients(0, 1) = 0; });
    breaks("the nu-property", [](ModelParts& m) { m.reports[0].nu = 0.9; });
}

TEST(CertificateCheck, RefusesWhatHasNone) {
    const Dataset data = make("moons", {.n = 60});
    ModelParts model = svc({}).fit(data).parts();
    EXPECT_THROW(check_certificate(Model(model), make("moons", {.n = 60, .seed = 9})),
                 InvalidInput);
    model.reports.clear();
    EXPECT_THROW(check_certificate(Model(model), data), InvalidInput);
}

// ---- Cells.

Model board_cells(const Dataset& data, const SvmSettings& settings, std::size_t rows) {
    return approximate(settings.common, CellRule{.rows = rows},
                       [=](const FitSettings& own) {
                           SvmSettings inner = settings;
                           inner.common = own;
                           return Machine(Svm(inner));
                       })
        .fit(data);
}

TEST(CertificateCheck, HoldsForEachCell) {
    const Dataset board = make("checkerboard", {.n = 800, .noise = 0.02});
    const Dataset iris = read("@iris");
    const Dataset sinc = make("sinc", {.n = 300, .noise = 0.1});
    const FitSettings narrow{.kernel = rbf({.gamma = 4.0}),
                             .scaling = ScalingRule::parse("standard")};
    const struct {
        SvmSettings settings;
        const Dataset* data;
    } cases[]{{{.task = Task::svc, .common = narrow, .C = 10}, &board},
              {{.task = Task::svc, .common = narrow, .C = 10, .balanced = true}, &iris},
              {{.task = Task::svc, .multi_class = MultiClass::one_vs_rest}, &iris},
              {{.task = Task::nu_svc, .common = narrow, .nu = 0.3}, &board},
              {{.task = Task::svr, .common = narrow, .C = 5}, &sinc}};
    for (const auto& [settings, data] : cases) {
        const Model model = board_cells(*data, settings, 50);
        const auto checks = check_certificate(model, *data);
        EXPECT_GE(checks.size(), 3U);
        EXPECT_TRUE(holds(checks)) << task_name(settings.task) << "\n" << sentences(checks);
    }
    const Model model = board_cells(board, cases[0].settings, 50);
    auto checks = check_certificate(model, board);
    add_proofs(checks, model, board);
    EXPECT_TRUE(holds(checks)) << sentences(checks);
    for (const CheckedReport& check : checks) {
        ASSERT_TRUE(check.proved);
        EXPECT_LE(check.proved->low, check.claimed.primal * (1 + 1e-6) + 1e-12);
        EXPECT_GE(check.proved->high, check.claimed.dual * (1 - 1e-6) - 1e-12);
    }
}

TEST(CertificateCheck, BreaksForCellsThatWereTamperedWith) {
    const Dataset board = make("checkerboard", {.n = 600, .noise = 0.02});
    const Model model = board_cells(
        board, {.task = Task::svc, .common = {.kernel = rbf({.gamma = 4.0})}, .C = 10}, 60);
    // One coefficient of one cell.
    ModelParts parts = model.parts();
    Cells cells = *cells_of(model);
    for (Cell& cell : cells.all) {
        if (!cell.model) continue;
        ModelParts own = cell.model->parts();
        own.expansion.coefficients(0, 0) *= 1.5;
        cell.model = std::make_shared<const Model>(std::move(own));
        break;
    }
    parts.extras.set(std::move(cells));
    EXPECT_FALSE(holds(check_certificate(Model(parts), board)));
    // The sum that the whole claims.
    ModelParts boast = model.parts();
    boast.reports[0].primal *= 0.9;
    EXPECT_NE(sentences(check_certificate(Model(boast), board)).find("not the sum"),
              std::string::npos);
    // Rows of another class, and rows that are not there.
    Dataset other = board;
    const auto& all = cells_of(model)->all;
    const auto place = cells_of(model)->tree.place(board.x);
    const auto one = std::ranges::find(all, CellState::one_class, &Cell::state);
    ASSERT_NE(one, all.end());
    for (std::size_t i = 0; i < board.size(); ++i) {
        if (place[i] != static_cast<std::uint32_t>(one - all.begin())) continue;
        other.y.values[i] = -other.y.values[i];
        break;
    }
    EXPECT_NE(sentences(check_certificate(model, other)).find("one class"), std::string::npos);
    std::vector<std::size_t> fewer;
    for (std::size_t i = 0; i < 590; ++i) fewer.push_back(i);
    EXPECT_THROW(
        {
            if (!holds(check_certificate(model, board.select(fewer)))) throw InvalidInput("broken");
        },
        InvalidInput);
}

}  // namespace
}  // namespace mercer
