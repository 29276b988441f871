// A setting has one default, that of the C++ settings: machines that share an option of the command
// line share its default, and the Python classes have the same ones.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>

#include "mercer/learn/components/dependency.hpp"
#include "mercer/learn/components/hebbian.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/groups/label_spreading.hpp"
#include "mercer/learn/multi_label.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/risk/class_means.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

TEST(Defaults, MachinesThatShareAnOptionShareItsDefault) {
    EXPECT_EQ(AdatronSettings{}.C, SvmSettings{}.C);
    EXPECT_EQ(MultiLabelSettings{}.C, SvmSettings{}.C);
    EXPECT_EQ(AdatronSettings{}.tolerance, SvmSettings{}.tolerance);
    EXPECT_EQ(ParzenSettings{}.nu, SvmSettings{}.nu);
    EXPECT_EQ(HebbianSettings{}.components, KernelPcaSettings{}.components);
    EXPECT_EQ(RiskSettings{}.lambda, RidgeSettings{}.lambda);
    EXPECT_EQ(DependencySettings{}.lambda, RidgeSettings{}.lambda);
}

/// The default of a parameter in the constructor of a Python class, read off its source.
std::optional<double> python_default(const std::string& file, const std::string& name,
                                     const std::string& parameter) {
    std::ifstream in(std::string(MERCER_SOURCE_DIRECTORY) + "/python/mercer/_estimators/" + file);
    const std::string source{std::istreambuf_iterator<char>(in), {}};
    const std::size_t start = source.find("\nclass " + name + "(");
    if (start == std::string::npos) return {};
    const std::size_t first = source.find("def __init__(", start);
    const std::string words = source.substr(first, source.find(") -> None", first) - first);
    std::smatch found;
    const std::regex form("\\b" + parameter + ": [^=,]*= ([-0-9.e]+)");
    if (!std::regex_search(words, found, form)) return {};
    return std::stod(found[1]);
}

TEST(Defaults, PythonClassesHaveThoseOfTheLibrary) {
    const struct {
        const char *file, *name, *parameter;
        double value;
    } table[]{
        {"svc.py", "SVC", "C", SvmSettings{}.C},
        {"svc.py", "NuSVC", "nu", SvmSettings{}.nu},
        {"svr.py", "SVR", "C", SvmSettings{}.C},
        {"svr.py", "SVR", "epsilon", SvmSettings{}.epsilon},
        {"svr.py", "NuSVR", "nu", SvmSettings{}.nu},
        {"one_class.py", "OneClassSVM", "nu", SvmSettings{}.nu},
        {"one_class.py", "SVDD", "nu", SvmSettings{}.nu},
        {"machines.py", "ParzenRegion", "nu", ParzenSettings{}.nu},
        {"machines.py", "Adatron", "C", AdatronSettings{}.C},
        {"machines.py", "Adatron", "rate", AdatronSettings{}.rate},
        {"machines.py", "Adatron", "tol", AdatronSettings{}.tolerance},
        {"machines.py", "Adatron", "max_iter", static_cast<double>(AdatronSettings{}.passes)},
        {"perceptron.py", "KernelPerceptron", "max_iter",
         static_cast<double>(PerceptronSettings{}.passes)},
        {"machines.py", "KernelKMeans", "n_clusters",
         static_cast<double>(KMeansSettings{}.clusters)},
        {"machines.py", "KernelKMeans", "n_init", static_cast<double>(KMeansSettings{}.starts)},
        {"machines.py", "KernelKMeans", "max_iter", static_cast<double>(KMeansSettings{}.passes)},
        {"hebbian.py", "KernelHebbian", "n_components",
         static_cast<double>(HebbianSettings{}.components)},
        {"hebbian.py", "KernelHebbian", "dictionary_size",
         static_cast<double>(HebbianSettings{}.dictionary)},
        {"hebbian.py", "KernelHebbian", "rate", HebbianSettings{}.rate},
        {"hebbian.py", "KernelHebbian", "passes", static_cast<double>(HebbianSettings{}.passes)},
        {"regression.py", "KernelRidge", "alpha", RidgeSettings{}.lambda},
        {"spreading.py", "LabelSpreading", "alpha", SpreadSettings{}.alpha},
        {"multilabel.py", "MultiLabelClassifier", "C", MultiLabelSettings{}.C},
        {"multilabel.py", "MultiLabelClassifier", "tol", MultiLabelSettings{}.tolerance},
        {"multilabel.py", "MultiLabelClassifier", "max_iter",
         static_cast<double>(MultiLabelSettings{}.passes)},
    };
    for (const auto& row : table) {
        const auto found = python_default(row.file, row.name, row.parameter);
        ASSERT_TRUE(found) << row.name << " has no " << row.parameter;
        EXPECT_EQ(*found, row.value) << row.name << "(" << row.parameter << ")";
    }
}

}  // namespace
}  // namespace mercer
