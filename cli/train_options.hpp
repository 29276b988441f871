// The options of training, from words to settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "mercer/learn/svm.hpp"

namespace mercer::cli {

/// As they stand on the command line.
struct TrainOptions {
    std::string model{};
    std::string task = "svc";
    std::string kernel = "rbf(gamma=scale)";
    double cost = 1;
    double nu = 0.5;
    double epsilon = 0.1;
    std::string tube{};
    std::vector<std::string> weights{};
    bool balanced = false;
    std::string multi_class = "ovo";
    bool no_bias = false;
    bool probability = false;
    std::string scale = "none";

    // Machines outside the support vector family.
    std::size_t passes = 0;  ///< 0: the machine's own number
    std::string order = "given";
    std::string variant = "plain";
    std::size_t budget = 0;
    double rate = 1;
    std::string curve{};
    std::size_t clusters = 8;
    double radius = 0;
    std::size_t components = 16;
    bool no_center = false;
    std::size_t dictionary = 500;
    std::size_t batch = 32;
    std::size_t starts = 4;
    double lambda = 1;
    std::vector<double> lambda_path{};
    bool leave_one_out = false;
    double noise = 0.1;
    bool optimise = false;
    std::size_t restarts = 0;
    double huber = 1;
    double quantile = 0.5;

    double tolerance = 1e-3;
    double gap = 0;
    double time_limit = 0;
    std::size_t iteration_limit = 0;
    std::size_t memory = 1024;
    std::size_t folds = 0;
    std::uint64_t seed = 1;
    bool double_precision = false;
    std::string method = "decomposition";
    bool no_shrinking = false;
    std::string from{};  ///< a model to begin from
    /// Which of -C, --nu, … were given, so that one without meaning for the task is not ignored.
    std::vector<const CLI::Option*> watched{};
};

/// Adds the positional MODEL and the options.
std::shared_ptr<TrainOptions> add_train_options(CLI::App& command, Session& session);

/// True when the option was given, by any of its names.
bool given(const TrainOptions& options, const std::string& name);

/// Throws InvalidInput for options the task has no use for, and for limits out of range.
void check_options(const TrainOptions& options, Task task);

/// The settings of a support vector machine.
SvmSettings settings_of(const TrainOptions& options);

/// The widths of a tube given as @column, which is then no feature any more.
void take_tube(const TrainOptions& options, Dataset& data, SvmSettings& settings);

/// Share of the predictions that are +1.
double inside(const Labels& predictions);

}  // namespace mercer::cli
