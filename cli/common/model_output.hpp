// Models and their certificates as train, show and verify print them.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/learn/model.hpp"

namespace mercer::cli {

/// "primal     12.3" and so on: a name, and what there is to say.
std::string line(std::string_view name, std::string_view text);
/// A warning on standard error.
void warn(const std::string& text);
/// "1 row", "2 rows"
std::string counted(std::size_t count, const std::string& one, const std::string& many = "");
/// The kernel, cut where it fills pages.
std::string short_text(const Kernel& kernel);
/// 12.3456 %
std::string percent(double fraction);

/// Exit code of a command that did its work, but under a kernel for which nothing bounds how far
/// the machine is from the optimum.
constexpr int exit_stationary = 3;

nlohmann::ordered_json json_of(const Report& report);
/// All a model file holds but the numbers of the expansion.
nlohmann::ordered_json json_of(const Model& model);

/// Task, kernel and its definiteness, scaling, classes.
std::string describe_machine(const Model& model);
/// Status, support vectors and certificate of the model as a whole.
std::string describe_certificate(const Model& model);
/// What is known of the kernel matrix on which the bracket [dual, primal] rests.
std::string describe_curvature(const Model& model);
/// One line of figures for each problem, under a heading; empty when there is but one.
std::string describe_parts(const Model& model);

/// Points of each class: in a pair the sign of the coefficient tells. Empty where it does not.
std::vector<std::size_t> points_by_class(const Model& model);
/// Names of the outputs of the expansion: "3 vs 8", "3 vs rest", "decision".
std::vector<std::string> output_names(const Model& model);

}  // namespace mercer::cli
