// Figures of models and judgements show what the library computes.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/chart/model_figures.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer::test {
namespace {

template <class Kind>
std::vector<Kind> all_of(const chart::Drawing& drawing) {
    std::vector<Kind> found;
    for (const chart::Panel& panel : drawing.panels) {
        for (const chart::Series& series : panel.series) {
            if (const auto* one = std::get_if<Kind>(&series)) found.push_back(*one);
        }
    }
    return found;
}

TEST(ModelFigures, RegionsHaveBorderMarginsAndRingsOnTheSupportVectors) {
    const Dataset data = make("moons", {.n = 80, .noise = 0.2});
    const Model model = svc({.kernel = rbf({.gamma = 1.0}), .C = 10}).fit(data);
    const chart::Drawing drawing = chart::decision_figure(model, data, {.resolution = 30});
    std::vector<double> levels;
    for (const chart::Level& level : all_of<chart::Level>(drawing)) levels.push_back(level.value);
    EXPECT_EQ(levels, (std::vector<double>{1, -1, 0}));
    const auto dots = all_of<chart::Dots>(drawing);
    ASSERT_EQ(dots.size(), 3U);  // two classes and the rings
    EXPECT_EQ(dots[0].x.size() + dots[1].x.size(), data.size());
    EXPECT_EQ(dots[2].shape, chart::Shape::ring);
    ASSERT_EQ(dots[2].x.size(), model.origins().size());
    std::vector<double> row(2);
    for (std::size_t i = 0; i < model.origins().size(); ++i) {
        data.x.copy_row(model.origins()[i], row);
        EXPECT_NEAR(dots[2].x[i], row[0], 1e-6);
        EXPECT_NEAR(dots[2].y[i], row[1], 1e-6);
    }
}

TEST(ModelFigures, RingsLieOnTheRowsOfScaledModelsToo) {
    const Dataset data = make("rings", {.n = 60});
    const Model model = Svm({.common = {.kernel = rbf({.gamma = 1.0}),
                                        .scaling = ScalingRule::parse("minmax(-1,1)")},
                             .C = 10})
                            .fit(data);
    const auto dots = all_of<chart::Dots>(chart::decision_figure(model, data, {.resolution = 20}));
    std::vector<double> row(2);
    data.x.copy_row(model.origins()[0], row);
    EXPECT_NEAR(dots.back().x[0], row[0], 1e-5);
}

TEST(ModelFigures, FieldIsTheDecisionAtItsNodes) {
    const Dataset data = make("moons", {.n = 50});
    const Model model = svc({.kernel = rbf({.gamma = 1.0}), .C = 1}).fit(data);
    const chart::GridField field = chart::decision_field(model, data, 0, {.resolution = 9});
    const auto at = [&](std::size_t i, std::size_t j) {
        const double x = field.left + (field.right - field.left) * static_cast<double>(j) / 8;
        const double y = field.bottom + (field.top - field.bottom) * static_cast<double>(i) / 8;
        return model.decision(Rows::dense(std::vector<double>{x, y}, 2))(0, 0);
    };
    EXPECT_NEAR(field.values(2, 7), at(2, 7), 1e-6);
    EXPECT_NEAR(field.values(8, 0), at(8, 0), 1e-6);
    EXPECT_THROW(chart::decision_field(model, data, 1, {.resolution = 9}), InvalidInput);
    EXPECT_THROW(chart::decision_field(model, data, 0, {.first = 0, .second = 2}), InvalidInput);
}

TEST(ModelFigures, TubeIsAsWideAsFound) {
    const Dataset data = make("sinc", {.n = 60});
    const Model model = nu_svr({.kernel = rbf({.gamma = 2.0}), .C = 10, .nu = 0.3}).fit(data);
    const auto bands = all_of<chart::Band>(chart::decision_figure(model, data));
    ASSERT_EQ(bands.size(), 1U);
    EXPECT_NEAR(bands[0].high[100] - bands[0].low[100], 2 * model.report().epsilon, 1e-9);
}

TEST(ModelFigures, ComponentsHaveAPanelEach) {
    const Dataset data = make("moons", {.n = 60});
    const Model model =
        kernel_pca({.common = {.kernel = rbf({.gamma = 2.0})}, .components = 3}).fit(data);
    EXPECT_EQ(chart::decision_figure(model, data, {.resolution = 12}).panels.size(), 3U);
}

TEST(ModelFigures, SpectrumShowsTheNegativeEigenvalues) {
    const Dataset data = make("moons", {.n = 40});
    const MercerTest test = mercer_test(Kernel::parse("sigmoid(gamma=2, coef0=-1)"), data.x);
    ASSERT_TRUE(test.indefinite);
    std::size_t negative = 0;
    for (const double value : test.values) negative += value < -test.tolerance ? 1 : 0;
    std::size_t shown = 0;
    for (const chart::Dots& dots : all_of<chart::Dots>(chart::spectrum_figure(test))) {
        if (dots.name.starts_with("negative")) shown = dots.x.size();
    }
    EXPECT_EQ(shown, negative);
}

TEST(ModelFigures, GramIsSortedByLabel) {
    Dataset data = make("blobs", {.n = 30, .noise = 0.05, .classes = 2});
    const chart::Drawing drawing = chart::gram_figure(rbf({.gamma = 1.0}), data);
    const auto maps = all_of<chart::HeatMap>(drawing);
    ASSERT_EQ(maps.size(), 1U);
    EXPECT_NEAR(maps[0].values(0, 0), 1, 1e-12);
    EXPECT_GT(maps[0].values(0, 14), 0.5);   // one group
    EXPECT_LT(maps[0].values(0, 15), 0.01);  // the other
}

TEST(Roc, AreaIsTheShareOfPairsInOrder) {
    // Ties count half: pairs (3 positive, 2 negative): 0.9>0.5 0.9>0.1 0.5=0.5 0.5>0.1 0.2>0.1
    // 0.2<0.5.
    const chart::RocCurve curve =
        chart::roc_curve({0.9, 0.5, 0.2, 0.5, 0.1}, {true, true, true, false, false});
    EXPECT_NEAR(curve.area, 4.5 / 6, 1e-12);
    EXPECT_EQ(curve.false_positives.back(), 1);
    EXPECT_EQ(curve.true_positives.back(), 1);
    EXPECT_EQ(curve.false_positives.size(), 5U);  // the tie is one step
    EXPECT_THROW(chart::roc_curve({1, 2}, {true, true}), InvalidInput);
    EXPECT_THROW(chart::roc_curve({NAN, 2}, {true, false}), InvalidInput);
}

TEST(Roc, OfSeveralClassesNeedsAScoreForEach) {
    const Dataset iris = embedded("iris");
    const Model pairs = svc({.C = 1}).fit(iris);
    EXPECT_THROW(chart::roc_curves(pairs, iris), InvalidInput);
    const Model rest = Svm({.C = 1, .multi_class = MultiClass::one_vs_rest}).fit(iris);
    const auto curves = chart::roc_curves(rest, iris);
    ASSERT_EQ(curves.size(), 3U);
    EXPECT_GT(curves[0].area, 0.99);
}

TEST(ModelFigures, StepsFollowTheMultipliersThatMovedMost) {
    std::vector<chart::StepPoint> steps;
    for (std::size_t k = 0; k < 20; ++k) {
        steps.push_back({.step = static_cast<double>(k + 1),
                         .first = k,
                         .second = 100,
                         .first_alpha = 0.1,
                         .second_alpha = static_cast<double>(k),
                         .objective = static_cast<double>(k),
                         .violation = 1.0 / static_cast<double>(k + 1)});
    }
    const chart::Drawing drawing = chart::steps_figure(steps);
    ASSERT_EQ(drawing.panels.size(), 3U);
    const auto& first = std::get<chart::Line>(drawing.panels[2].series[0]);
    EXPECT_EQ(first.name, "row 101");
    EXPECT_EQ(first.y.back(), 19);
    EXPECT_EQ(drawing.panels[2].series.size(), 8U);
    EXPECT_THROW(chart::steps_figure({}), InvalidInput);
}

TEST(RowsFigure, HasASeriesForEachLabel) {
    const Dataset iris = embedded("iris");
    const auto dots = all_of<chart::Dots>(chart::rows_figure(iris, {.first = 2, .second = 3}));
    ASSERT_EQ(dots.size(), 3U);
    EXPECT_EQ(dots[0].x.size(), 50U);
    std::vector<double> row(4);
    iris.x.copy_row(50, row);
    EXPECT_EQ(dots[1].x[0], row[2]);
    EXPECT_EQ(dots[1].y[0], row[3]);
    const chart::Drawing joined = chart::rows_figure(iris, {.joined = true, .log_y = true});
    EXPECT_EQ(all_of<chart::Line>(joined).size(), 3U);
    EXPECT_TRUE(joined.panels[0].y.log);
    EXPECT_FALSE(joined.panels[0].x.log);
    EXPECT_THROW(chart::rows_figure(iris, {.first = 4}), InvalidInput);
    Dataset numbers = iris;
    numbers.y = {};
    for (int i = 0; i < 150; ++i) numbers.y.values.push_back(i);
    EXPECT_EQ(all_of<chart::Dots>(chart::rows_figure(numbers)).size(), 24U);
    EXPECT_THROW(chart::rows_figure(numbers, {.joined = true}), InvalidInput);
}

TEST(CodesFigure, HasACircleAroundEachCode) {
    const Dataset moons = make("moons", {.n = 20});
    const Rows codes = Rows::dense(std::vector<double>{0, 0, 1, 0.5}, 2);
    const chart::Drawing drawing = chart::codes_figure(moons, codes, 0.25);
    const auto dots = all_of<chart::Dots>(drawing);
    EXPECT_EQ(dots.back().x, (std::vector<double>{0, 1}));
    const auto circles = all_of<chart::Line>(drawing);
    ASSERT_EQ(circles.size(), 1U);
    const std::size_t half = circles[0].x.size() / 2;
    for (std::size_t k = 0; k + 1 < half; ++k) {
        EXPECT_NEAR(std::hypot(circles[0].x[k], circles[0].y[k]), 0.25, 1e-12);
        EXPECT_NEAR(std::hypot(circles[0].x[half + k] - 1, circles[0].y[half + k] - 0.5), 0.25,
                    1e-12);
    }
    EXPECT_TRUE(all_of<chart::Line>(chart::codes_figure(moons, codes, 0)).empty());
    EXPECT_THROW(chart::codes_figure(embedded("iris"), codes, 1), InvalidInput);
}

TEST(SheetFigure, PutsPixelsWhereTheyBelong) {
    std::vector<double> values(5 * 6);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k);
    const Rows rows = Rows::dense(std::move(values), 6);
    const auto maps = all_of<chart::HeatMap>(chart::sheet_figure(rows, {.width = 3, .across = 2}));
    ASSERT_EQ(maps.size(), 1U);
    const Matrix<double>& sheet = maps[0].values;
    // Three lines of two pictures, 3 wide and 2 high, one pixel between them.
    ASSERT_EQ(sheet.rows(), 8U);
    ASSERT_EQ(sheet.columns(), 7U);
    EXPECT_EQ(sheet(0, 0), 0);
    EXPECT_EQ(sheet(1, 2), 5);
    EXPECT_EQ(sheet(0, 4), 6);   // the second picture
    EXPECT_EQ(sheet(7, 2), 29);  // the end of the fifth
    EXPECT_TRUE(std::isnan(sheet(0, 3)) && std::isnan(sheet(2, 0)) && std::isnan(sheet(7, 6)));
    EXPECT_EQ(maps[0].low, 0);
    EXPECT_EQ(maps[0].high, 29);
    EXPECT_THROW(chart::sheet_figure(rows), InvalidInput);
    EXPECT_THROW(chart::sheet_figure(rows, {.width = 4}), InvalidInput);
    EXPECT_EQ(chart::sheet_figure(embedded("digits").x.slice(0, 3)).panels.size(), 1U);
}

LearnResult found_on_a_grid() {
    LearnResult r{.numbers = true};
    Candidate& c = r.candidates.emplace_back(Candidate{.name = "Gaussian"});
    c.axes = {"gamma", "C", "epsilon"};
    for (const double gamma : {0.1, 1.0, 10.0}) {
        for (const double penalty : {1.0, 4.0}) {
            for (const double epsilon : {0.1, 0.3}) {
                const double off = std::log10(gamma) * std::log10(gamma) + penalty + epsilon;
                c.tried.push_back({{gamma, penalty, epsilon}, off * off, 0.1});
            }
        }
    }
    c.tried.pop_back();
    c.tried.pop_back();  // gamma 10, C 4 was not tried
    r.curve = {{25, 3, 2.0, 0.2}, {50, 3, 1.5, 0.1}, {100, 1, 1.1, 0}};
    r.judgement.baseline_rmse = 3;
    ColumnEffect number{.column = "age", .places = {1, 2, 3}};
    number.means = Matrix<double>(1, 3);
    ColumnEffect level{.column = "city", .places = {0, 1}, .levels = {"Rome", "Oslo"}};
    level.means = Matrix<double>(1, 2);
    level.means(0, 1) = 7;
    r.effects = {number, level};
    return r;
}

TEST(LearnFigures, MapIsTheBestOverTheOtherAxes) {
    const LearnResult r = found_on_a_grid();
    const auto maps = all_of<chart::HeatMap>(chart::tuning_figure(r.candidates, true));
    ASSERT_EQ(maps.size(), 1U);
    const Matrix<double>& values = maps[0].values;
    ASSERT_EQ(values.rows(), 2U);     // C
    ASSERT_EQ(values.columns(), 3U);  // gamma
    EXPECT_NEAR(values(0, 1), 1.1, 1e-12);
    EXPECT_NEAR(values(1, 0), 5.1, 1e-12);
    EXPECT_TRUE(std::isnan(values(1, 2)));
    EXPECT_EQ(maps[0].mark, (std::pair<std::size_t, std::size_t>{0, 1}));
    EXPECT_THROW(chart::tuning_figure({}, true), InvalidInput);
}

TEST(LearnFigures, CurveHasItsBandAndBaseline) {
    const LearnResult r = found_on_a_grid();
    const chart::Drawing drawing = chart::learning_curve_figure(r);
    const auto bands = all_of<chart::Band>(drawing);
    ASSERT_EQ(bands.size(), 1U);
    EXPECT_EQ(bands[0].x, (std::vector<double>{25, 50}));
    EXPECT_NEAR(bands[0].high[0], 2.2, 1e-12);
    const auto lines = all_of<chart::Line>(drawing);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].y, (std::vector<double>{2.0, 1.5, 1.1}));
    EXPECT_EQ(lines[1].y, (std::vector<double>{3, 3}));
    EXPECT_THROW(chart::learning_curve_figure(LearnResult{}), InvalidInput);
}

TEST(LearnFigures, NumbersAreLinesAndLevelsAreBars) {
    const LearnResult r = found_on_a_grid();
    const chart::Drawing drawing = chart::effects_figure(r);
    EXPECT_EQ(all_of<chart::Line>(drawing).size(), 1U);
    const auto bars = all_of<chart::Bars>(drawing);
    ASSERT_EQ(bars.size(), 1U);
    EXPECT_EQ(bars[0].height, (std::vector<double>{0, 7}));
    EXPECT_EQ(drawing.panels[1].x.ticks[1].second, "Oslo");
    EXPECT_NO_THROW(chart::svg(drawing));
}

}  // namespace
}  // namespace mercer::test
