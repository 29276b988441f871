// The options of training, from words to settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/common/session.hpp"
#include "cli/common/setting_flags.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer::cli {

/// As they stand on the command line. Settings of machines and their defaults are those of the
/// registry; what stands here is the same for all.
struct TrainOptions {
    std::string model{};
    std::string task = "svc";
    std::string kernel = "rbf(gamma=scale)";
    std::string scale = "none";
    std::string target_scale = "auto";
    SettingFlags settings{};  ///< those of the machines
    std::string curve{};

    std::string approximate{};  ///< as `approximate` reads it, or auto; empty: all rows
    double time_limit = 0;
    std::size_t memory = usual_memory();
    std::size_t folds = 0;
    std::uint64_t seed = FitSettings{}.seed;
    bool double_precision = false;
    std::string trace{};  ///< where to write the steps of smo
    std::string from{};   ///< a model to begin from

    const MachineEntry& machine() const { return machine_entry(task); }
    bool given(const std::string& flag) const { return settings.given(flag); }
};

/// Adds the positional MODEL and the options.
std::shared_ptr<TrainOptions> add_train_options(CLI::App& command, Session& session);

/// Adds the options that say which machine and how much time and memory it may have, and no others.
std::shared_ptr<TrainOptions> add_machine_only_options(CLI::App& command, Session& session);

/// Adds --approximate.
CLI::Option* add_approximate(CLI::App& command, TrainOptions& options, const std::string& about);

/// Throws InvalidInput for options that contradict one another, and for limits out of range.
void check_options(const TrainOptions& options);

/// What `make` makes; a setting it cannot take is named as the option that gave it.
template <class Make>
auto in_flags_of(const TrainOptions& options, const Make& make) {
    try {
        return make();
    } catch (const InvalidSetting& error) {
        throw InvalidSetting(options.settings.in_flags(options.machine(), error.what()));
    }
}

/// What all machines are told alike.
FitSettings common_of(const TrainOptions& options, const Progress& progress = {});

/// The settings of a support vector machine. Throws InvalidInput.
SvmSettings svm_settings_of(const TrainOptions& options);

/// The widths of a tube given as @column, which is then no feature any more.
void take_tube(const TrainOptions& options, Dataset& data, SvmSettings& settings);

/// Share of the predictions that are +1.
double inside(const Labels& predictions);

}  // namespace mercer::cli
