// Kernel PCA, transform and denoise from the command line.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/write.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/picture/image.hpp"

namespace mercer::test {
namespace {

TEST(Components, TrainTransformAndPredictAgreeWithTheLibrary) {
    const Folder folder;
    const std::string model = folder.path("pca.mercer");
    const json trained = json_of({"train", "@iris", model, "--task", "kpca", "--components", "3",
                                  "--kernel", "rbf(gamma=0.3)", "--scale", "standard"});
    EXPECT_EQ(trained["task"], "kpca");
    EXPECT_EQ(trained["outputs"].size(), 3U);
    EXPECT_LT(trained["certificate"]["figures"]["residual"].get<double>(), 1e-6);
    EXPECT_TRUE(has(run({"show", model}).out, "explained")) << run({"show", model}).out;
    const std::string features = folder.path("f.csv");
    const json report = json_of({"transform", model, "@iris", "--score", "-o", features});
    EXPECT_EQ(report["features"], 4);
    const Model loaded = load(model);
    const Dataset iris = read("@iris");
    const Dataset written = read(features);
    EXPECT_EQ(written.feature_names,
              (std::vector<std::string>{"component_1", "component_2", "component_3", "score"}));
    const Matrix<double> expected = loaded.decision(iris.x);
    const std::vector<double> scores = loaded.predict(iris.x);
    std::vector<double> row(4);
    for (std::size_t i = 0; i < 150; i += 10) {
        written.x.copy_row(i, row);
        for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(row[j], expected(i, j), 1e-5);
        EXPECT_NEAR(row[3], scores[i], 1e-5);
    }
    const json predicted = json_of({"predict", model, "@iris"});
    EXPECT_EQ(predicted["labels"].get<std::vector<double>>(), scores);
    // The first two alone, white.
    const std::string white = folder.path("w.csv");
    json_of({"transform", model, "@iris", "--components", "2", "--whiten", "-o", white});
    const Dataset two = read(white);
    ASSERT_EQ(two.columns(), 2U);
    double sum = 0;
    row.resize(2);
    for (std::size_t i = 0; i < 150; ++i) {
        two.x.copy_row(i, row);
        sum += row[1] * row[1] / 150;
    }
    EXPECT_NEAR(sum, 1, 1e-3);
}

TEST(Components, RefusesWhatItCannotDo) {
    const Folder folder;
    const std::string svc = folder.path("svc.mercer");
    ASSERT_EQ(run({"train", "@iris", svc}).code, 0);
    const auto refused = [&](const Words& words, const std::string& part) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 2) << outcome.out;
        EXPECT_TRUE(has(outcome.err, part)) << outcome.err;
    };
    refused({"transform", svc, "@iris"}, "has no components");
    refused({"train", "@iris", "--task", "kpca", "--cv", "3"}, "--cv has no meaning");
    refused({"train", "@iris", "--task", "svc", "--components", "3"},
            "--components has no meaning");
    const std::string model = folder.path("pca.mercer");
    ASSERT_EQ(run({"train", "@iris", model, "--task", "kpca"}).code, 0);
    refused({"transform", model, "@iris", "--components", "17"}, "--components 17");
    refused({"denoise", "@iris", "--model", model, "--kernel", "linear"}, "trained already");
    refused({"denoise", "@iris", "--patch", "4"}, "for rows");
    refused({"denoise", "@iris", "--kernel", "linear", "--preimage", "nonsense"}, "nonsense");
    refused({"denoise", "missing.png", "-o", folder.path("x.png")}, "no such file");
}

TEST(Denoising, RowsComeBackNearer) {
    const Folder folder;
    const std::string clean = folder.path("clean.csv");
    ASSERT_EQ(run({"make", "rings", "--n", "300", "--noise", "0.02", "-o", clean}).code, 0);
    const std::string noisy = folder.path("noisy.csv");
    ASSERT_EQ(
        run({"make", "rings", "--n", "100", "--noise", "0.15", "--seed", "5", "-o", noisy}).code,
        0);
    const std::string better = folder.path("better.csv");
    const json report = json_of({"denoise", noisy, "--train", clean, "--kernel", "rbf(gamma=2)",
                                 "--components", "20", "-o", better});
    EXPECT_GE(report["mean_squared_distance"].get<double>(), 0);
    const auto off = [](const std::string& path) {
        const Dataset data = read(path);
        double sum = 0;
        std::vector<double> row(2);
        for (std::size_t i = 0; i < data.size(); ++i) {
            data.x.copy_row(i, row);
            const double r = std::hypot(row[0], row[1]);
            sum += std::min(std::pow(r - 1, 2), std::pow(r - 2, 2));
        }
        return sum;
    };
    EXPECT_LT(off(better), off(noisy) / 2);
    EXPECT_EQ(read(better).y.values, read(noisy).y.values) << "labels stay";
}

TEST(Denoising, PicturesInAndOut) {
    const Folder folder;
    Image image = Image::filled(20, 20, 1, 50);
    Random random(1);
    for (std::size_t k = 0; k < image.pixels.size(); ++k) {
        const double level = (k % 20 < 10 ? 60 : 190) + 20 * random.normal();
        image.pixels[k] = static_cast<std::uint8_t>(level);
    }
    const std::string noisy = folder.path("noisy.png");
    write_image(image, noisy);
    const std::string better = folder.path("better.pgm");
    const json report =
        json_of({"denoise", noisy, "--patch", "4", "--stride", "2", "--components", "2", "--kernel",
                 "rbf(gamma=0.3)", "--preimage", "fixed-point", "-o", better});
    EXPECT_EQ(report["width"], 20);
    const Image clean = read_image(better);
    double before = 0;
    double after = 0;
    for (std::size_t k = 0; k < image.pixels.size(); ++k) {
        const double truth = k % 20 < 10 ? 60 : 190;
        before += std::pow(image.pixels[k] - truth, 2);
        after += std::pow(clean.pixels[k] - truth, 2);
    }
    EXPECT_LT(after, before / 2);
    EXPECT_EQ(run({"denoise", noisy, "-o", folder.path("x.csv")}).code, 2);
}

}  // namespace
}  // namespace mercer::test
