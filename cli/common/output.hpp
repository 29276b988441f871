// Everything the program writes. Files appear whole or not at all (base/file.hpp).
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "cli/common/interrupt.hpp"
#include "cli/common/session.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/write.hpp"

namespace mercer::cli {

/// Text to standard output.
template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::print(stdout, format, std::forward<Arguments>(arguments)...);
}

/// Throws std::runtime_error for a number in it that is not finite.
void print_json(const nlohmann::ordered_json& value);
/// null for "there is none": infinite bounds, gaps that are not known yet.
nlohmann::ordered_json json_number(double value);
/// A number of a result, to be read back exactly. Throws std::runtime_error when it is not finite.
std::string result_text(double value);

/// Where the authors that an output cites are listed.
std::string sources_line();

/// Flushes standard output; throws std::runtime_error when it could not take everything.
void finish_standard_output();

/// Where and how data is written, as it stands on a command line.
struct OutputOptions {
    std::string path = "-";
    std::string format = "auto";
    std::string header = "auto";
    WriteOptions write;
    CLI::Option* place = nullptr;         ///< -o
    std::vector<CLI::Option*> options{};  ///< the others
};

/// Adds -o, --to and what belongs to them.
std::shared_ptr<OutputOptions> add_output(CLI::App& command, Session& session);

/// How the library is to write it.
WriteOptions write_options(const OutputOptions& output);

/// Tells the check of files of the labels that are written beside the file this option names.
void watch_labels(Session& session, const CLI::Option* place,
                  std::shared_ptr<const OutputOptions> output);

/// Throws InvalidInput where data and a JSON report would both go to standard output. Call it
/// before the work.
void check_output(const OutputOptions& output, const Session& session);

/// Writes the data; with --json reports it on standard output, with `report` added.
void write_data(const Dataset& data, const OutputOptions& output, const Session& session,
                const nlohmann::ordered_json& report = nlohmann::ordered_json::object());

}  // namespace mercer::cli
