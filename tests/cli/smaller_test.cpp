// Shorter machines, cascades, codebooks and virtual examples from the command line.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "mercer/data/read.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/persist/code_file.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/picture/image.hpp"

namespace mercer::test {
namespace {

void refused(const Words& words, const std::string& part) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

TEST(ReduceCommand, WritesAModelTheCurveAndWhatChanged) {
    const Folder folder;
    const std::string whole = folder.path("whole.mercer"), small = folder.path("small.mercer");
    json_of({"train", "@digits", whole, "-C", "10", "--kernel", "rbf(gamma=0.001)"});
    const std::string curve = folder.path("curve.csv");
    const json report = json_of({"reduce", whole, small, "--vectors", "40", "--iterations", "10",
                                 "--data", "@digits", "--curve", curve});
    EXPECT_EQ(report["vectors"], 40);
    EXPECT_EQ(report["status"], "stopped at the iteration limit");
    const Model a = load(whole), b = load(small);
    double distance = 0;
    for (const double d : squared_distances(a.expansion(), b.expansion())) distance += d;
    EXPECT_NEAR(report["squared_distance"].get<double>(), distance, 1e-6 * distance);
    const Dataset data = read("@digits");
    const std::vector<double> before = a.predict(data.x), now = b.predict(data.x);
    double changed = 0;
    for (std::size_t i = 0; i < now.size(); ++i) changed += before[i] != now[i] ? 1 : 0;
    EXPECT_NEAR(report["data"]["changed"].get<double>(), changed / static_cast<double>(now.size()),
                1e-12);
    const Dataset table = read(curve, {.label = "none"});
    EXPECT_EQ(table.feature_names[1], "squared_distance");
    std::vector<double> row(table.columns()), last(table.columns());
    for (std::size_t i = 0; i < table.size(); ++i) {
        table.x.copy_row(i, row);
        if (i > 0) {
            EXPECT_GT(row[0], last[0]);
            EXPECT_LT(row[1], last[1]);
        }
        last = row;
    }
    EXPECT_EQ(last[0], 40);
    // What the model is says so everywhere.
    EXPECT_NE(run({"show", small}).out.find("reduced"), std::string::npos);
    EXPECT_NE(run({"verify", small, "@digits"}).code, 0);
    refused({"reduce", whole, small}, "exactly one");
    refused({"reduce", whole, small, "--vectors", "3", "--error", "0.1"}, "exactly one");
}

TEST(CascadeCommand, RejectsEarlyAndPredictsAsToldBefore) {
    const Folder folder;
    const std::string data = folder.path("rings.csv"), whole = folder.path("whole.mercer");
    ASSERT_EQ(run({"make", "rings", "--n", "500", "--noise", "0.15", "-o", data}).code, 0);
    json_of({"train", data, whole, "--kernel", "rbf(gamma=1)", "-C", "5"});
    const std::string small = folder.path("small.mercer"), quick = folder.path("quick.mercer");
    json_of({"reduce", whole, small, "--vectors", "12", "--method", "sequential", "--no-joint"});
    const json report = json_of(
        {"cascade", small, data, quick, "--keep", "1", "--stages", "1,3,6", "--test", data});
    ASSERT_EQ(report["runs"].size(), 2U);
    EXPECT_EQ(report["runs"][0]["left"].size(), 4U);
    EXPECT_LT(report["runs"][0]["average_kernels"].get<double>(), 12);
    const json predicted = json_of({"predict", quick, data, "-o", folder.path("labels.txt")});
    EXPECT_EQ(predicted["accuracy"], report["runs"][0]["accuracy"]);
    refused({"cascade", small, data, quick, "--keep", "7"}, "no class");
}

TEST(VqCommand, RowsAndPicturesThereAndBack) {
    const Folder folder;
    const std::string rows = folder.path("rows.csv"), codes = folder.path("rows.vq");
    ASSERT_EQ(run({"make", "moons", "--n", "200", "-o", rows}).code, 0);
    const json report = json_of({"vq", "encode", rows, "--radius", "0.3", "-o", codes});
    EXPECT_TRUE(has(run({"vq", "encode", rows, "-o", codes}).err, "needs --radius"));
    EXPECT_TRUE(has(run({"train", rows, "--task", "vq"}).err, "--task vq needs --radius"));
    EXPECT_TRUE(has(run({"train", rows, "--task", "vq", "--radius", "0"}).err, "--radius 0 must"));
    EXPECT_LE(report["largest"].get<double>(), 0.3);
    const std::string back = folder.path("back.csv");
    json_of({"vq", "decode", codes, "-o", back, "--write-header", "no"});
    const Dataset x = read(rows), z = read(back, {.label = "none"});
    ASSERT_EQ(x.size(), z.size());
    std::vector<double> a(2), b(2);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.x.copy_row(i, a);
        z.x.copy_row(i, b);
        ASSERT_LE(std::hypot(a[0] - b[0], a[1] - b[1]), 0.3 + 1e-6);
    }
    // A picture of four kinds of squares comes back as it was.
    Image image = Image::filled(32, 48, 3, 10);
    for (std::size_t i = 0; i < 32; ++i) {
        for (std::size_t j = 0; j < 48; ++j) {
            image.at(i, j, 0) = static_cast<std::uint8_t>(60 * ((i / 8 + j / 8) % 4));
        }
    }
    const std::string picture = folder.path("in.ppm"), out = folder.path("out.ppm");
    write_image(image, picture);
    const json coded =
        json_of({"vq", "encode", picture, "--radius", "5", "-o", folder.path("p.vq.xz")});
    EXPECT_EQ(coded["codes"], 4);
    json_of({"vq", "decode", folder.path("p.vq.xz"), "-o", out});
    EXPECT_EQ(read_image(out).pixels, image.pixels);
    const json means = json_of(
        {"vq", "encode", picture, "--method", "lbg", "--codes", "4", "-o", folder.path("p.lbg")});
    EXPECT_EQ(means["codes"], 4);
    // As a model: the nearest code.
    const json model = json_of({"train", rows, folder.path("m.mercer"), "--task", "vq", "--radius",
                                "0.3", "--kernel", "linear"});
    EXPECT_EQ(model["support_vectors"], report["codes"]);
    refused({"vq", "encode", rows, "-o", codes}, "radius");
    refused({"vq", "decode", rows, "-o", back}, "no file of codes");
    refused({"vq", "encode", rows, "--method", "lbg", "-o", codes}, "--codes");
}

TEST(VirtualCommand, MakesExamplesOfSupportVectors) {
    const Folder folder;
    const std::string model = folder.path("m.mercer"), more = folder.path("more.csv");
    const json trained = json_of({"train", "@digits", model});
    const json report =
        json_of({"virtual", "@digits", "--support", model, "--with", "shift(1)", "-o", more});
    const auto support = trained["support_vectors"].get<std::size_t>();
    EXPECT_EQ(report["used_rows"], support);
    EXPECT_EQ(read(more).size(), 9 * support);
    const std::string straight = folder.path("straight.csv");
    const json replaced =
        json_of({"virtual", "@digits", "--with", "deskew", "--replace", "-o", straight});
    EXPECT_EQ(read(straight).size(), read("@digits").size());
    EXPECT_EQ(replaced["rounded"], true);
    refused({"virtual", "@iris", "--with", "shift(1)", "--shape", "3x3"}, "no picture");
    refused({"virtual", "@digits", "--with", "spin(1)"}, "spin");
}

TEST(TangentCommand, LambdaOneLeavesRowsAndLessMovesThem) {
    const Folder folder;
    const std::string one = folder.path("one.csv"), less = folder.path("less.csv");
    json_of({"tangent", "@digits", "--with", "shift(0.5)", "--lambda", "1", "-o", one});
    json_of({"tangent", "@digits", "--with", "shift(0.5)", "--lambda", "0.1", "-o", less});
    const Dataset x = read("@digits"), a = read(one), b = read(less);
    std::vector<double> p(64), q(64), r(64);
    double same = 0, moved = 0;
    for (std::size_t i = 0; i < 50; ++i) {
        x.x.copy_row(i, p);
        a.x.copy_row(i, q);
        b.x.copy_row(i, r);
        for (std::size_t k = 0; k < 64; ++k) {
            same = std::max(same, std::fabs(p[k] - q[k]));
            moved = std::max(moved, std::fabs(p[k] - r[k]));
        }
    }
    EXPECT_LT(same, 1e-4);
    EXPECT_GT(moved, 0.5);
    const json map =
        json_of({"tangent", "@digits", "--with", "shift(0.5)", "--kernel", "rbf(gamma=0.001)",
                 "--landmarks", "100", "--components", "20", "-o", folder.path("map.csv")});
    EXPECT_EQ(map["features"], 20);
}

TEST(DetectCommand, ReportsEveryScaleAndDraws) {
    const Folder folder;
    const std::string model = folder.path("m.mercer"), two = folder.path("two.csv");
    // Zeros and ones of the sample.
    const Dataset all = read("@digits");
    std::string text;
    std::vector<double> row(64);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all.y.values[i] > 1) continue;
        all.x.copy_row(i, row);
        for (const double v : row) text += std::to_string(v) + ",";
        text += std::to_string(static_cast<int>(all.y.values[i])) + "\n";
    }
    json_of({"train", folder.file("two.csv", text), model, "--kernel", "linear"});
    const std::string picture = folder.path("p.pgm"), out = folder.path("found.png");
    Image image = Image::filled(24, 30, 1, 0);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
        image.pixels[i] = static_cast<std::uint8_t>(i * 7 % 256);
    }
    write_image(image, picture);
    const json report = json_of({"detect", model, picture, "-o", out, "--keep", "1", "--scale", "2",
                                 "--threshold", "-1000"});
    EXPECT_EQ(report["scales"], 2);
    EXPECT_EQ(report["patches"], 17 * 23 + 5 * 8);
    EXPECT_EQ(report["accepted"], report["patches"]);
    EXPECT_GT(report["found"].size(), 0U);
    EXPECT_EQ(read_image(out).channels, 3U);
    refused({"detect", model, picture, "--shape", "5x5"}, "no picture");
}

}  // namespace
}  // namespace mercer::test
