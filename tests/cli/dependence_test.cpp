// Commands on pairs of rows and on pictures: cca, ica, depend, answer, superres, train --task kha.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/picture/image.hpp"

namespace mercer::test {
namespace {

/// Two views of an angle, the second at twice it.
struct Circle {
    std::string x, y;
};
Circle circle(const Folder& folder, const std::string& name, std::uint64_t seed) {
    Random random(seed);
    std::string x, y;
    for (int i = 0; i < 120; ++i) {
        const double t = random.uniform(0, 6.283);
        x += std::to_string(std::cos(t)) + "," + std::to_string(std::sin(t)) + "\n";
        y += std::to_string(std::cos(2 * t)) + "," + std::to_string(std::sin(2 * t)) + "\n";
    }
    return {folder.file(name + "-x.csv", x), folder.file(name + "-y.csv", y)};
}

TEST(Dependence, CcaCorrelatesTwoFilesAndRowsHeldOut) {
    const Folder folder;
    const Circle train = circle(folder, "train", 1), test = circle(folder, "test", 2);
    const std::string model = folder.path("both.mercer");
    const json report = json_of({"cca", train.x, train.y, model, "--kernel", "rbf(gamma=1)",
                                 "--pairs", "3", "--test", test.x, test.y});
    ASSERT_EQ(report["pairs"].size(), 3U);
    EXPECT_EQ(report["rows"], 120);
    EXPECT_GT(report["pairs"][0]["held_out"].get<double>(), 0.95);
    // The first side's functions through transform; the second side is in the file too.
    const std::string out = folder.path("f.csv");
    EXPECT_EQ(run({"transform", model, test.x, "--label", "none", "-o", out}).code, 0);
    EXPECT_EQ(read(out, {.label = "none"}).columns(), 3U);
    EXPECT_TRUE(companion_of(load(model)));
    EXPECT_EQ(run({"show", model}).code, 0);
    // Pairs that are none.
    const std::string one = folder.file("one.csv", "1,2\n3,4\n");
    const Outcome bad = run({"cca", train.x, one});
    EXPECT_EQ(bad.code, 2);
    EXPECT_NE(bad.err.find("pairs"), std::string::npos) << bad.err;
}

TEST(Dependence, IcaUnmixesAndTellsTheAmariError) {
    const Folder folder;
    Random random(3);
    std::string text;
    for (int i = 0; i < 400; ++i) {
        const double a = random.uniform(-1, 1);
        const double b = (random.uniform() < 0.5 ? 1 : -1) + 0.3 * random.normal();
        text += std::to_string(a + 0.5 * b) + "," + std::to_string(b - 0.7 * a) + "\n";
    }
    const std::string data = folder.file("mixed.csv", text);
    const std::string truth = folder.file("mixing.csv", "1,0.5\n-0.7,1\n");
    const std::string model = folder.path("unmix.mercer"), out = folder.path("sources.csv");
    const json report =
        json_of({"ica", data, model, "--truth", truth, "--tol", "0.001", "-o", out});
    EXPECT_EQ(report["status"], "converged");
    EXPECT_LT(report["amari_error"].get<double>(), 0.06);
    EXPECT_LT(report["contrast"].get<double>(), report["contrast_at_first"].get<double>());
    const Dataset sources = read(out, {.label = "none", .double_precision = true});
    const Matrix<double> expected =
        load(model).decision(read(data, {.label = "none", .double_precision = true}).x);
    ASSERT_EQ(sources.columns(), 2U);
    std::vector<double> row(2);
    sources.x.copy_row(7, row);
    EXPECT_NEAR(row[0], expected(7, 0), 1e-12);
    EXPECT_EQ(run({"ica", truth}).code, 2);  // two rows of two columns
}

TEST(Dependence, SourcesOfABentMixtureByTheirCourseInTime) {
    const Folder folder;
    std::string text, noise;
    Random random(4);
    for (int t = 0; t < 1500; ++t) {
        const double a = std::sin(0.0459 * t), b = std::sin(0.12 * t);
        text += std::to_string(std::exp(a) - std::exp(b)) + "," +
                std::to_string(std::exp(-a) + std::exp(-b)) + "\n";
        noise += std::to_string(random.normal()) + "," + std::to_string(random.normal()) + "\n";
    }
    const std::string data = folder.file("bent.csv", text), model = folder.path("unmix.mercer");
    const std::string out = folder.path("sources.csv");
    const json report = json_of({"ica", data, model, "--method", "tdsep", "--kernel",
                                 "rbf(sigma=1)", "--scale", "standard", "-o", out});
    EXPECT_EQ(report["status"], "converged");
    EXPECT_EQ(report["told_apart"], true);
    EXPECT_LT(report["off_diagonal"].get<double>(), report["off_diagonal_at_first"].get<double>());
    const Matrix<double> s =
        load(model).decision(read(data, {.label = "none", .double_precision = true}).x);
    ASSERT_EQ(s.columns(), 2U);
    double best[2] = {0, 0};
    for (std::size_t c = 0; c < 2; ++c) {
        double with_a = 0, with_b = 0;
        for (std::size_t t = 0; t < s.rows(); ++t) {
            with_a += s(t, c) * std::sin(0.0459 * static_cast<double>(t));
            with_b += s(t, c) * std::sin(0.12 * static_cast<double>(t));
        }
        best[0] = std::max(best[0], std::abs(with_a) / (750 * std::sqrt(2.0)));
        best[1] = std::max(best[1], std::abs(with_b) / (750 * std::sqrt(2.0)));
    }
    EXPECT_GT(best[0], 0.95);
    EXPECT_GT(best[1], 0.95);
    // Noise has no course in time: the answer is no separation, and the exit code says so.
    const Outcome none = run({"ica", folder.file("noise.csv", noise), "--method", "tdsep"});
    EXPECT_EQ(none.code, 3) << none.out;
    EXPECT_NE(none.err.find("same course"), std::string::npos) << none.err;
    // What belongs to the other method, and lags beyond the rows.
    EXPECT_EQ(run({"ica", data, "--method", "tdsep", "--kappa", "0.1"}).code, 2);
    EXPECT_EQ(run({"ica", data, "--lags", "5"}).code, 2);
    const Outcome far = run({"ica", data, "--method", "tdsep", "--lags", "800"});
    EXPECT_EQ(far.code, 2);
    EXPECT_NE(far.err.find("--lags"), std::string::npos) << far.err;
}

TEST(Dependence, DependAndAnswerGoThroughAFile) {
    const Folder folder;
    const Circle train = circle(folder, "train", 1), test = circle(folder, "test", 2);
    const std::string model = folder.path("map.mercer"), out = folder.path("answers.csv");
    const json report = json_of({"depend", train.x, train.y, model, "--kernel", "rbf(gamma=2)",
                                 "--components", "20", "--lambda-path", "0.001,0.1"});
    EXPECT_EQ(report["components"], 20);
    const auto error = [&](const Words& more) {
        Words words{"answer", model, test.x, "-o", out};
        words.insert(words.end(), more.begin(), more.end());
        EXPECT_EQ(run(words).code, 0);
        const Dataset found = read(out, {.label = "none"}), truth = read(test.y, {.label = "none"});
        EXPECT_EQ(found.size(), truth.size());
        double sum = 0;
        std::vector<double> a(2), b(2);
        for (std::size_t i = 0; i < truth.size(); ++i) {
            found.x.copy_row(i, a);
            truth.x.copy_row(i, b);
            sum += std::hypot(a[0] - b[0], a[1] - b[1]) / static_cast<double>(truth.size());
        }
        return sum;
    };
    EXPECT_LT(error({}), 0.15);
    EXPECT_LT(error({"--preimage", "best"}), 0.05);
    const std::string which = folder.path("which.txt");
    EXPECT_LT(error({"--candidates", test.y, "--positions", which}), 0.1);
    const std::string lines = content_of(which);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 120);
    EXPECT_EQ(run({"answer", model, test.x, "--preimage", "best", "--positions", which}).code, 2);
    EXPECT_EQ(run({"answer", folder.path("none"), test.x}).code, 2);
    const Outcome labels = run({"predict", model, test.x, "--label", "none"});
    EXPECT_EQ(labels.code, 2);
    EXPECT_NE(labels.err.find("mercer answer"), std::string::npos) << labels.err;
}

TEST(Dependence, HebbianComponentsAreTrainedAndTransformed) {
    const Folder folder;
    const std::string model = folder.path("kha.mercer"), out = folder.path("f.csv");
    const json report = json_of({"train", "@iris", model, "--task", "kha", "--components", "3",
                                 "--batch", "150", "--passes", "300", "--scale", "standard"});
    EXPECT_EQ(report["task"], "kpca");
    const Model online = load(model);
    EXPECT_EQ(
        run({"train", "@iris", model, "--task", "kpca", "--components", "3", "--scale", "standard"})
            .code,
        0);
    const Model batch = load(model);
    EXPECT_NEAR(online.report().figures.at("explained"), batch.report().figures.at("explained"),
                1e-3);
    EXPECT_EQ(run({"transform", model, "@iris", "--score", "-o", out}).code, 0);
    EXPECT_EQ(run({"train", "@iris", "--task", "svc", "--dictionary", "5"}).code, 2);
}

TEST(Dependence, SuperresLearnsComparesAndSaves) {
    const Folder folder;
    Image image = Image::filled(64, 64, 1, 40);
    for (std::size_t i = 0; i < 64; ++i) {
        for (std::size_t j = 0; j < 64; ++j) {
            if ((i * 3 + j * 2) % 37 < 15) image.at(i, j) = 210;
        }
    }
    const std::string photo = folder.path("photo.png"), large = folder.path("large.pgm");
    write_image(image, photo);
    const std::string model = folder.path("m.mercer"), sheet = folder.path("sheet.png");
    const json report =
        json_of({"superres", photo, "--train", photo, "--evaluate", "--sheet", sheet, "--sample",
                 "400", "--dictionary", "80", "--components", "20", "--save-model", model});
    EXPECT_GT(report["methods"]["kha"]["psnr"].get<double>(),
              report["methods"]["bilinear"]["psnr"].get<double>());
    for (const char* name : {"pixels", "bicubic", "patches"}) {
        EXPECT_LE(report["methods"][name]["ssim"].get<double>(), 1) << name;
    }
    EXPECT_GT(read_image(sheet).width, 3U * 64U);
    EXPECT_EQ(run({"superres", photo, large, "--model", model}).code, 0);
    EXPECT_EQ(read_image(large).width, 128U);
    // One or the other, and somewhere to go.
    EXPECT_EQ(run({"superres", photo, large}).code, 2);
    EXPECT_EQ(run({"superres", photo, "--model", model}).code, 2);
    EXPECT_EQ(run({"superres", photo, large, "--model", model, "--patch", "8"}).code, 2);
    EXPECT_EQ(
        run({"superres", folder.file("text.png", "no picture"), large, "--model", model}).code, 2);
}

}  // namespace
}  // namespace mercer::test
