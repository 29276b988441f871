// The options of training, from words to settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "mercer/learn/components/hebbian.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer::cli {

/// As they stand on the command line. What the library has a default for is not given another here;
/// machines that share an option share its default (tests/repository/defaults_test.cpp).
struct TrainOptions {
    std::string model{};
    std::string task = "svc";
    std::string kernel = "rbf(gamma=scale)";
    double cost = SvmSettings{}.C;
    double nu = SvmSettings{}.nu;
    double epsilon = SvmSettings{}.epsilon;
    std::string tube{};
    std::vector<std::string> weights{};
    bool balanced = false;
    std::string multi_class = "ovo";
    bool no_bias = false;
    bool probability = false;
    std::string scale = "none";
    std::string target_scale = "auto";

    // Machines outside the support vector family.
    std::size_t passes = 0;  ///< 0: the machine's own number
    std::string order = "given";
    std::string variant = "plain";
    std::size_t budget = 0;
    double rate = AdatronSettings{}.rate;
    std::string curve{};
    std::size_t clusters = KMeansSettings{}.clusters;
    double radius = 0;
    std::size_t components = KernelPcaSettings{}.components;
    bool no_center = false;
    std::size_t dictionary = HebbianSettings{}.dictionary;
    std::size_t batch = HebbianSettings{}.batch;
    std::size_t starts = KMeansSettings{}.starts;
    double lambda = RidgeSettings{}.lambda;
    std::vector<double> lambda_path{};
    bool leave_one_out = false;
    double noise = GaussianProcessSettings{}.noise;
    bool optimise = false;
    std::size_t restarts = 0;
    std::vector<std::string> fixed{};
    double huber = RiskSettings{}.delta;
    double quantile = RiskSettings{}.quantile;

    double tolerance = SvmSettings{}.tolerance;
    double gap = SvmSettings{}.relative_gap;
    double time_limit = 0;
    std::size_t iteration_limit = 0;
    std::size_t memory = SvmSettings{}.memory_bytes >> 20;
    std::size_t folds = 0;
    std::uint64_t seed = 1;
    bool double_precision = false;
    std::string method = "decomposition";
    bool no_shrinking = false;
    std::string trace{};  ///< where to write the steps of smo
    std::string from{};   ///< a model to begin from
    std::string told{};   ///< of a search: all options that a score may depend on
    /// The options whose default depends on the task: which were given?
    std::vector<const CLI::Option*> watched{};
};

/// Adds the positional MODEL and the options.
std::shared_ptr<TrainOptions> add_train_options(CLI::App& command, Session& session);

/// True when the option was given, by any of its names.
bool given(const TrainOptions& options, const std::string& name);

/// Throws InvalidInput for options that contradict one another, and for limits out of range.
void check_options(const TrainOptions& options, Task task);

/// The settings of a support vector machine.
SvmSettings settings_of(const TrainOptions& options);

/// The widths of a tube given as @column, which is then no feature any more.
void take_tube(const TrainOptions& options, Dataset& data, SvmSettings& settings);

/// Share of the predictions that are +1.
double inside(const Labels& predictions);

}  // namespace mercer::cli
