// The real data sets in MERCER_DATA, each against what is publicly known of it: sizes, classes,
// counts. Absent files are skipped.
#include <algorithm>
#include <map>

#include "data/support.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/write.hpp"

namespace mercer {
namespace {

using testing::full;

std::map<std::string, std::size_t> class_counts(const Dataset& data) {
    std::map<std::string, std::size_t> counts;
    const Classes classes = classes_of(data.y);
    for (const std::int32_t index : classes.index) {
        ++counts[classes.names[static_cast<std::size_t>(index)]];
    }
    return counts;
}

struct Shape {
    const char* file;
    std::size_t rows;
    std::size_t columns;
    std::size_t classes;  ///< 0 for regression
    const char* label;    ///< how the label column is named to the reader
};

void PrintTo(const Shape& shape, std::ostream* out) {
    *out << shape.file;
}

class RealData : public ::testing::TestWithParam<Shape> {};

TEST_P(RealData, HasItsPublishedShape) {
    const Shape& shape = GetParam();
    MERCER_NEEDS_DATA(path, shape.file);
    const Dataset data = read(path, {.label = shape.label});
    EXPECT_EQ(data.size(), shape.rows);
    EXPECT_EQ(data.columns(), shape.columns);
    EXPECT_EQ(data.y.size(), shape.rows);
    if (shape.classes != 0) {
        EXPECT_EQ(classes_of(data.y).count(), shape.classes);
    }
    // Written and read again it is the same.
    const testing::Folder folder;
    write(data, folder.file("copy.npz"));
    const RowForm form = data.x.is_sparse() ? RowForm::sparse : RowForm::dense;
    testing::expect_equal(read(folder.file("copy.npz"), {.form = form}), data);
}

INSTANTIATE_TEST_SUITE_P(
    Files, RealData,
    ::testing::Values(
        Shape{"a9a/a9a.gz", 32561, 123, 2, ""}, Shape{"a9a/a9a.t.gz", 16281, 122, 2, ""},
        Shape{"w8a/w8a.gz", 49749, 300, 2, ""}, Shape{"ijcnn1/ijcnn1.gz", 49990, 22, 2, ""},
        Shape{"dna/dna.gz", 2000, 180, 3, ""}, Shape{"svmguide1/svmguide1.t", 4000, 4, 2, ""},
        Shape{"heart/heart_scale", 270, 13, 2, ""},
        Shape{"breast_cancer_wisconsin/breast-cancer", 683, 10, 2, ""},
        Shape{"reuters_lasvm/reuters.trn.gz", 7770, 8315, 2, ""},
        Shape{"space_ga/space_ga_scale.gz", 3107, 6, 0, ""},
        Shape{"boston_housing/housing.data", 506, 13, 0, ""},
        Shape{"boston_housing/housing_scale", 506, 13, 0, ""},
        Shape{"usps/zip.test.gz", 2007, 256, 10, "first"},
        Shape{"covtype/covtype.20k.data.gz", 20000, 54, 7, ""},
        Shape{"covtype/covtype.5000.test.csv.gz", 5142, 54, 2, "first"},
        Shape{"higgs_7500/binary.test.gz", 500, 28, 2, "first"},
        Shape{"iris/iris.csv", 150, 4, 3, ""}, Shape{"wine/wine_data.csv", 178, 13, 3, ""},
        Shape{"breast_cancer_wisconsin/breast_cancer.csv", 569, 30, 2, ""},
        Shape{"digits_8x8/digits.csv.gz", 1797, 64, 10, ""},
        Shape{"spambase/spam.data.gz", 4601, 57, 2, ""},
        Shape{"ionosphere/ionosphere.csv", 351, 34, 2, ""},
        Shape{"sonar/sonar.csv", 208, 60, 2, ""},
        Shape{"pima_diabetes/Pima.te.csv", 332, 7, 2, "type"},
        Shape{"concrete/concrete.csv", 1030, 8, 0, "strength_mpa"},
        Shape{"california_housing/cal_housing.csv.gz", 20640, 8, 0, ""},
        Shape{"airfoil/airfoil_self_noise.dat", 1503, 5, 0, ""},
        Shape{"mcycle/mcycle.csv", 133, 1, 0, "accel"},
        Shape{"mnist/t10k-images-idx3-ubyte.gz", 10000, 784, 10, ""},
        Shape{"olivetti_faces/images-idx3-ubyte.gz", 400, 4096, 40, ""}));

TEST(RealDataDetails, A9aIsSparseAndBinary) {
    MERCER_NEEDS_DATA(path, "a9a/a9a.gz");
    const Dataset data = read(path);
    ASSERT_TRUE(data.x.is_sparse());
    EXPECT_EQ(class_counts(data), (std::map<std::string, std::size_t>{{"-1", 24720}, {"1", 7841}}));
    const SparseView<float> view = data.x.sparse_view<float>();
    EXPECT_TRUE(std::all_of(view.value, view.value + view.nonzeros(),
                            [](float value) { return value == 1.0F; }));
}

TEST(RealDataDetails, IrisKnowsItsSpecies) {
    MERCER_NEEDS_DATA(path, "iris/iris.csv");
    EXPECT_EQ(class_counts(read(path)),
              (std::map<std::string, std::size_t>{
                  {"setosa", 50}, {"versicolor", 50}, {"virginica", 50}}));
}

TEST(RealDataDetails, MnistTrainingImagesAndTheirLabels) {
    MERCER_NEEDS_DATA(path, "mnist/train-images-idx3-ubyte.gz");
    const Dataset data = read(path);
    EXPECT_EQ(data.size(), 60000U);
    EXPECT_EQ(data.columns(), 784U);
    EXPECT_EQ(class_counts(data)["5"], 5421U);
    const auto view = data.x.dense_view<float>();
    EXPECT_EQ(*std::max_element(view.data, view.data + view.rows * view.columns), 255.0F);
}

TEST(RealDataDetails, TheSameHousesInTwoFormats) {
    MERCER_NEEDS_DATA(raw, "boston_housing/housing.data");
    MERCER_NEEDS_DATA(scaled, "boston_housing/housing_scale");
    const Dataset a = read(raw);
    const Dataset b = read(scaled);
    EXPECT_EQ(a.y.values, b.y.values);
    // housing_scale maps each column to [-1, 1], printed with six digits.
    const auto x = full(a.x);
    const auto z = full(b.x);
    for (std::size_t j = 0; j < a.columns(); ++j) {
        double low = x[0][j];
        double high = x[0][j];
        for (const auto& row : x) {
            low = std::min(low, row[j]);
            high = std::max(high, row[j]);
        }
        for (std::size_t i = 0; i < x.size(); ++i) {
            EXPECT_NEAR(z[i][j], -1 + 2 * (x[i][j] - low) / (high - low), 1e-4);
        }
    }
}

TEST(RealDataDetails, FacesInAnArray) {
    MERCER_NEEDS_DATA(path, "lfw_subset/lfw_subset.npy.gz");
    const Dataset data = read(path, {.double_precision = true});
    EXPECT_EQ(data.size(), 200U);
    EXPECT_EQ(data.columns(), 625U);
    EXPECT_TRUE(data.y.empty());
    const auto view = data.x.dense_view<double>();
    const auto [low, high] = std::minmax_element(view.data, view.data + view.rows * view.columns);
    EXPECT_GE(*low, 0);
    EXPECT_LE(*high, 1);
    EXPECT_LT(*low, *high);
}

TEST(RealDataDetails, WhatIsNotNumericSaysSo) {
    for (const char* name : {"images/camera.pgm", "images/kodim10.png"}) {
        MERCER_NEEDS_DATA(path, name);
        const std::string message = testing::message_of([&] { read(path); });
        EXPECT_TRUE(message.starts_with(path + ":")) << name << " " << message;
    }
}

TEST(RealDataDetails, TextsAndGraphsAreReadAsTheyAre) {
    MERCER_NEEDS_DATA(sms, "sms_spam/SMSSpamCollection.gz");
    const Dataset messages = read(sms);
    EXPECT_EQ(messages.size(), 5574U);
    EXPECT_EQ(messages.columns(), 0U);
    EXPECT_EQ(messages.y.names, (std::vector<std::string>{"ham", "spam"}));
    EXPECT_EQ(messages.x.objects()[0].text(1), "Ok lar... Joking wif u oni...");

    MERCER_NEEDS_DATA(reviews, "movie_review_polarity/review_polarity.tar.gz");
    const Dataset films = read(reviews);
    EXPECT_EQ(films.size(), 2000U);
    EXPECT_EQ(films.y.names, (std::vector<std::string>{"neg", "pos"}));

    MERCER_NEEDS_DATA(sites, "c_elegans_acceptor/C_elegans_acc_seq.csv.gz");
    const Dataset splice = read(sites);
    EXPECT_EQ(splice.size(), 2200U);
    EXPECT_EQ(splice.x.objects()[0].text(0).size(), 82U);
    EXPECT_EQ(classes_of(splice.y).names, (std::vector<std::string>{"-1", "1"}));

    MERCER_NEEDS_DATA(mutag, "graphs_mutag/MUTAG_A.txt");
    const Dataset graphs = read(mutag.substr(0, mutag.rfind('/')));
    EXPECT_EQ(graphs.size(), 188U);
    std::size_t nodes = 0;
    for (std::size_t i = 0; i < graphs.size(); ++i) nodes += graphs.x.objects()[0].graph(i).nodes;
    EXPECT_EQ(nodes, 3371U);
    EXPECT_EQ(graphs.x.objects()[0].graph(0).node_labels.size(), 17U);
}

}  // namespace
}  // namespace mercer
