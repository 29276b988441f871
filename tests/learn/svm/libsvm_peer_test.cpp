// The five problem types of LIBSVM with its four kernels, on real data, against LIBSVM itself. Each
// machine must also carry a certificate that holds when it is computed again.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <numeric>
#include <span>

#include "learn/certificate.hpp"
#include "learn/libsvm.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/scaling.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::Peer;
using testing::PeerAnswer;

struct Source {
    const char* name;
    const char* file;  ///< in MERCER_DATA, or "@…" for an embedded set
    const char* label;
    const char* scaling;
    bool regression;
};

const Source sources[] = {
    {"heart", "heart/heart_scale", "", "none", false},
    {"australian", "australian/australian_scale", "", "none", false},
    {"diabetes", "pima_diabetes/diabetes_scale", "", "none", false},
    {"breast_cancer", "breast_cancer_wisconsin/breast-cancer_scale", "", "none", false},
    {"ionosphere", "ionosphere/ionosphere_scale", "", "none", false},
    {"sonar", "sonar/sonar_scale", "", "none", false},
    {"dna", "dna/dna.gz", "", "none", false},
    {"iris", "@iris", "", "minmax(0,1)", false},
    {"wine", "wine/wine_data.csv", "", "minmax(-1,1)", false},
    {"digits", "@digits", "", "1/16", false},
    {"usps", "usps/zip.train.gz", "first", "none", false},
    {"svmguide1", "svmguide1/svmguide1", "", "minmax(-1,1)", false},
    {"housing", "boston_housing/housing_scale", "", "none", true},
    {"abalone", "abalone/abalone_scale", "", "none", true},
    {"cpusmall", "cpusmall/cpusmall_scale.gz", "", "none", true},
    {"space_ga", "space_ga/space_ga_scale.gz", "", "none", true},
    {"concrete", "concrete/concrete.csv", "strength_mpa", "minmax(-1,1)", true},
    {"airfoil", "airfoil/airfoil_self_noise.dat", "last", "minmax(-1,1)", true},
};

enum class Form { linear, polynomial, rbf, sigmoid };

struct PeerCase {
    Source source;
    Form form;
};

void PrintTo(const PeerCase& c, std::ostream* out) {
    *out << c.source.file;
}

std::string case_name(const ::testing::TestParamInfo<PeerCase>& info) {
    const char* forms[] = {"linear", "polynomial", "rbf", "sigmoid"};
    return std::string(info.param.source.name) + '_' + forms[static_cast<int>(info.param.form)];
}

std::vector<PeerCase> all_cases() {
    std::vector<PeerCase> cases;
    for (const Source& source : sources) {
        for (const Form form : {Form::linear, Form::polynomial, Form::rbf, Form::sigmoid}) {
            cases.push_back({source, form});
        }
    }
    return cases;
}

/// At most so many rows, drawn at random; empty when the file is not there.
Dataset load(const Source& source, std::size_t most) {
    const std::string name = source.file;
    const std::string path = name[0] == '@' ? name : testing::shared_data(name);
    if (path.empty()) return {};
    Dataset data =
        read(path, {.label = source.label, .double_precision = true, .form = RowForm::dense});
    std::vector<std::size_t> order(data.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random(7).shuffle(std::span(order));
    order.resize(std::min(order.size(), most));
    // LIBSVM orders classes by their first appearance, and gives a tied vote to the first: so that
    // ties fall alike, the rows come class by class.
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return data.y.values[a] < data.y.values[b]; });
    data = data.select(order);
    data.x = Scaling::fit(ScalingRule::parse(source.scaling), data.x).apply(data.x);
    data.y.names.clear();  // classes by number, as LIBSVM needs them
    return data;
}

struct Choice {
    Kernel kernel;
    std::string options;
};

/// The kernel and how LIBSVM is told about it. tanh(γ x·z + r) is indefinite in general; with r
/// well below 0 and a small γ it is conditionally positive definite but for terms of high order
/// (Lin and Lin 2003), so that there is one optimum for both to find.
Choice choose_kernel(Form form, std::size_t columns) {
    const double gamma = 1.0 / static_cast<double>(columns);
    const std::string g = " -g " + format_number(gamma);
    switch (form) {
        case Form::linear: return {linear(), "-t 0"};
        case Form::polynomial:
            return {polynomial({.degree = 3, .gamma = gamma, .coef0 = 1}), "-t 1 -d 3 -r 1" + g};
        case Form::rbf: return {rbf({.gamma = gamma}), "-t 2" + g};
        default: return {sigmoid({.gamma = gamma, .coef0 = -1.2}), "-t 3 -r -1.2" + g};
    }
}

/// ν for classifiers: four fifths of the largest that every pair of classes can meet. Much smaller
/// ones leave no margin on sets that overlap (ρ = 0), and nothing to compare.
double nu_for(const Dataset& data) {
    const Classes classes = classes_of(data.y);
    std::vector<double> rows(classes.count(), 0.0);
    for (const std::int32_t index : classes.index) ++rows[static_cast<std::size_t>(index)];
    const auto [least, most] = std::ranges::minmax(rows);
    return 0.8 * 2 * least / (least + most);
}

const char* libsvm_type(Task task) {
    switch (task) {
        case Task::svc: return " -s 0";
        case Task::nu_svc: return " -s 1";
        case Task::one_class: return " -s 2";
        case Task::svr: return " -s 3";
        default: return " -s 4";
    }
}

/// ½ Σ |β_i β_j k(x_i, x_j)|: what a relative error of every kernel value does to the objective.
double absolute_quadratic(const Expansion& e, std::size_t output) {
    const auto points = testing::full(e.points);
    double sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = 0; j < points.size(); ++j) {
            const double weight = e.coefficients(output, i) * e.coefficients(output, j);
            if (weight != 0) sum += std::abs(weight * e.kernel(points[i], points[j]));
        }
    }
    return sum / 2;
}

/// One machine of ours beside LIBSVM's.
class Comparison {
   public:
    Comparison(Task task, const Dataset& data, const Choice& choice, double tolerance,
               bool double_precision)
        : data_(data), peer_(data), tolerance_(tolerance) {
        settings_.task = task;
        settings_.common.kernel = choice.kernel;
        // 0.303 m / 2 is no whole number: then some points are free and b is unique.
        settings_.nu = task == Task::nu_svc ? nu_for(data) : 0.303;
        settings_.tolerance = tolerance;
        settings_.common.double_precision = double_precision;
        options_ =
            choice.options + libsvm_type(task) + " -c 1 -p 0.1 -n " + format_number(settings_.nu);
        model_ = Svm(settings_).fit(data);
        labels_ = model_.predict_labels(data.x);
        decisions_ = model_.decision(data.x);
    }

    const Model& model() const { return model_; }
    const SvmSettings& settings() const { return settings_; }

    void expect_agreement(double relative) {
        PeerAnswer answer = run(tolerance_);
        if (!answer.converged) {
            std::cout << "LIBSVM did not converge: " << options_ << '\n';
            return;
        }
        ASSERT_EQ(answer.problems.size(), model_.reports().size()) << answer.log;
        const Distance at_same = distance(answer, relative);
        EXPECT_LE(at_same.worse, relative) << "LIBSVM " << options_ << '\n' << answer.log;
        // Where ours is better by more, LIBSVM has stopped short and has to try harder.
        if (at_same.better > relative || wrong_predictions(answer) > 0) {
            answer = run(tolerance_ * 1e-3);
            if (!answer.converged) return;
            const Distance at_finer = distance(answer, relative);
            EXPECT_LE(at_finer.better, relative) << "LIBSVM " << options_ << '\n' << answer.log;
            EXPECT_LE(at_finer.worse, relative) << "LIBSVM " << options_ << '\n' << answer.log;
        }
        EXPECT_EQ(wrong_predictions(answer), 0U) << "of " << data_.size() << ", " << options_;
    }

   private:
    struct Distance {
        double worse = 0;
        double better = 0;
    };

    PeerAnswer run(double tolerance) const {
        return peer_.train(options_ + " -e " + format_number(tolerance), true);
    }

    /// How far apart the objectives are, relative to their size, beyond what LIBSVM's own numbers
    /// can tell: it prints six decimals and keeps kernel values in float.
    Distance distance(const PeerAnswer& answer, double relative) const {
        const auto positions = is_classifier(settings_.task) ? peer_.pair_positions(data_)
                                                             : std::vector<std::size_t>{0};
        Distance worst;
        for (std::size_t k = 0; k < answer.problems.size(); ++k) {
            const Report& r = model_.reports()[positions[k]];
            double ours = -r.dual;
            double theirs = answer.problems[k].objective;
            double unit = 1;
            double unsure = 5e-7;
            if (settings_.task == Task::nu_svc) {
                // LIBSVM prints ½‖w‖² of the machine divided by ρ, and 1/ρ: the objective is that
                // of the undivided one.
                const double c = answer.problems[k].inverse_rho;
                unit = r.rho * r.rho;
                ours = 0.5 * r.squared_norm * unit;
                unsure = (unsure + 2 * theirs * unsure / c) / (c * c);
                theirs /= c * c;
            }
            const double size = std::abs(theirs);
            if (std::abs(ours - theirs) - unsure > relative * size) {
                constexpr double half_unit = std::numeric_limits<float>::epsilon() / 2;
                unsure += half_unit * unit * absolute_quadratic(model_.expansion(), positions[k]);
            }
            worst.worse = std::max(worst.worse, (ours - theirs - unsure) / size);
            worst.better = std::max(worst.better, (theirs - ours - unsure) / size);
        }
        return worst;
    }

    /// Rows on which the two differ although our machine is sure of itself.
    std::size_t wrong_predictions(const PeerAnswer& answer) const {
        EXPECT_EQ(answer.predictions.size(), data_.size());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < std::min(data_.size(), answer.predictions.size()); ++i) {
            const double difference = std::abs(labels_.values[i] - answer.predictions[i]);
            if (is_regressor(settings_.task)) {
                // svm-predict writes six digits.
                const double printed = 5e-6 * std::abs(answer.predictions[i]);
                wrong += difference > 5 * tolerance_ + printed ? 1 : 0;
                continue;
            }
            double surest = std::numeric_limits<double>::infinity();
            for (const double f : decisions_.row(i)) surest = std::min(surest, std::abs(f));
            wrong += difference != 0 && surest >= tolerance_ ? 1 : 0;
        }
        return wrong;
    }

    const Dataset& data_;
    Peer peer_;
    double tolerance_;
    SvmSettings settings_{};
    std::string options_{};
    Model model_{};
    Labels labels_{};
    Matrix<double> decisions_{};
};

class LibsvmPeer : public ::testing::TestWithParam<PeerCase> {
   protected:
    void agree(std::size_t rows, double tolerance, bool double_precision, double relative) {
        if (!testing::libsvm_is_installed()) GTEST_SKIP() << "svm-train is not installed";
        const Source& source = GetParam().source;
        const Dataset data = load(source, rows);
        if (data.size() == 0) GTEST_SKIP() << source.file << " is not in MERCER_DATA";
        const Choice choice = choose_kernel(GetParam().form, data.columns());
        const auto tasks = source.regression
                               ? std::vector<Task>{Task::svr, Task::nu_svr}
                               : std::vector<Task>{Task::svc, Task::nu_svc, Task::one_class};
        for (const Task task : tasks) {
            SCOPED_TRACE(task_name(task));
            Comparison comparison(task, data, choice, tolerance, double_precision);
            comparison.expect_agreement(relative);
            testing::expect_certified(comparison.model(), data, comparison.settings());
            testing::expect_nu_property(comparison.model(), data, comparison.settings());
        }
    }
};

TEST_P(LibsvmPeer, AgreesAtTheDefaultTolerance) {
    agree(400, 1e-3, false, 1e-5);
}

TEST_P(LibsvmPeer, AgreesAtATightTolerance) {
    agree(150, 1e-6, true, 1e-7);
}

INSTANTIATE_TEST_SUITE_P(RealData, LibsvmPeer, ::testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace mercer
