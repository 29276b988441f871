#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/persist/detail/container.hpp"
#include "mercer/persist/detail/json_text.hpp"
#include "mercer/persist/detail/model_text.hpp"

namespace mercer::persist {
namespace {

// The words of the file are written down here, because files outlive the messages of a program.
constexpr Words multi_class_words{std::pair{MultiClass::one_vs_one, "one-vs-one"},
                                  std::pair{MultiClass::one_vs_rest, "one-vs-rest"}};
constexpr Words status_words{std::pair{FitStatus::converged, "converged"},
                             std::pair{FitStatus::time_limit, "time-limit"},
                             std::pair{FitStatus::iteration_limit, "iteration-limit"},
                             std::pair{FitStatus::cancelled, "cancelled"},
                             std::pair{FitStatus::stalled, "stalled"},
                             std::pair{FitStatus::search_limit, "search-limit"},
                             std::pair{FitStatus::not_separable, "not-separable"},
                             std::pair{FitStatus::no_margin, "no-margin"}};
constexpr Words convexity_words{
    std::pair{Convexity::not_asked, "not-asked"}, std::pair{Convexity::by_rule, "by-rule"},
    std::pair{Convexity::on_sample, "on-sample"}, std::pair{Convexity::unknown, "unknown"},
    std::pair{Convexity::refuted, "refuted"}};
constexpr Words bool_words{std::pair{false, "false"}, std::pair{true, "true"}};

/// Throws InvalidInput, naming the place, for a word that is none of them.
template <class T, std::size_t n>
T value_of(const Words<T, n>& words, const std::string& word, const std::string& place) {
    if (const auto found = words.find(word)) return *found;
    std::string known;
    for (const std::string& name : words.words()) known += (known.empty() ? "" : ", ") + name;
    throw InvalidInput(place + " is " + mercer::quoted(word) + "; expected one of " + known);
}

Task task_of(const std::string& word, const std::string& place) {
    std::string known;
    for (const MachineEntry* machine : machines()) {
        if (machine->name == word) return machine->task;
        known += (known.empty() ? "" : ", ") + machine->name;
    }
    throw InvalidInput(place + " is " + mercer::quoted(word) + "; expected one of " + known);
}

/// The columns that are no features, named once for both directions.
template <class T, class Visitor>
void each_role(T& roles, Visitor&& visit) {
    auto& [label, weight, label_name, weight_name] = roles;
    visit("label", label);
    visit("weight", weight);
    visit("label_name", label_name);
    visit("weight_name", weight_name);
}

std::string roles_text(const ColumnRoles& roles) {
    const ColumnRoles absent;
    std::map<std::string, std::string> left_out;
    each_role(absent,
              [&](const char* name, const auto& value) { left_out[name] = json_value(value); });
    std::string text;
    each_role(roles, [&](const char* name, const auto& value) {
        const std::string written = json_value(value);
        if (written == left_out[name]) return;
        text += (text.empty() ? "\"" : ",\"") + std::string(name) + "\":" + written;
    });
    return "{" + text + "}";
}

/// Files of earlier programs have no roles.
void read_roles(const Metadata& metadata, ColumnRoles& roles, const std::string& place) {
    const auto found = metadata.find("roles");
    if (found == metadata.end()) return;
    const std::string where = place + ": roles";
    const Json json = parse_json(found->second, 2, where);
    if (!json.is_object()) throw InvalidInput(where + " must be an object");
    each_role(roles, [&](const char* name, auto& value) {
        if (json.contains(name)) read_json(json.at(name), value, where + ": \"" + name + "\"");
    });
}

/// The members of a report, named once for both directions. Status and hull weights go their own
/// ways: the one is a word, the others are an array of the file. So do convexity, figures, history
/// and the bound on margins, which files of earlier programs do not have. The binding does not
/// compile when a report has got a member that is not here, which would be lost in the file.
template <class R, class Visitor>
void each_member(R& report, Visitor&& visit) {
    auto& [name, status, convexity, least_curvature, curvature_error, primal, dual, gap,
           relative_gap, kkt_violation, infeasibility, margin, squared_norm, bias, rho, epsilon,
           radius, rows, free_support_vectors, bounded_support_vectors, margin_errors, nu,
           fraction_errors, fraction_support, iterations, kernel_evaluations, seconds, hull_weights,
           hull_distance, margin_bound, figures, history] = report;
    visit("name", name);
    visit("primal", primal);
    visit("dual", dual);
    visit("gap", gap);
    visit("relative_gap", relative_gap);
    visit("kkt_violation", kkt_violation);
    visit("infeasibility", infeasibility);
    visit("margin", margin);
    visit("squared_norm", squared_norm);
    visit("bias", bias);
    visit("rho", rho);
    visit("epsilon", epsilon);
    visit("radius", radius);
    visit("rows", rows);
    visit("free_support_vectors", free_support_vectors);
    visit("bounded_support_vectors", bounded_support_vectors);
    visit("margin_errors", margin_errors);
    visit("nu", nu);
    visit("fraction_errors", fraction_errors);
    visit("fraction_support", fraction_support);
    visit("iterations", iterations);
    visit("kernel_evaluations", kernel_evaluations);
    visit("seconds", seconds);
    visit("hull_distance", hull_distance);
}

/// The same for the numbers trained with; `tube_given`, which files of earlier programs do not
/// have, goes its own way.
template <class T, class Visitor>
void each_trained(T& trained, Visitor&& visit) {
    auto& [C, nu, epsilon, tolerance, bias, tube, tube_given, class_weights, numbers] = trained;
    visit("C", C);
    visit("nu", nu);
    visit("epsilon", epsilon);
    visit("tolerance", tolerance);
    visit("bias", bias);
    visit("tube", tube);
}

/// {"name": number, …}, in the order of the names.
std::string named_numbers_text(const std::map<std::string, double>& numbers) {
    std::string text = "{";
    for (const auto& [name, value] : numbers) {
        text += (text.size() > 1 ? ",\"" : "\"") + name + "\":" + json_number(value);
    }
    return text + "}";
}

/// Left out in files of earlier programs: then there are none. Names are checked with the model.
void read_named_numbers(const Json& object, const char* name, std::map<std::string, double>& out,
                        const std::string& place) {
    if (!object.contains(name)) return;
    const std::string where = place + ": \"" + name + "\"";
    const Json& numbers = object.at(name);
    if (!numbers.is_object()) throw InvalidInput(where + " must be an object of numbers");
    for (const auto& [key, value] : numbers.items()) {
        read_json(value, out[key], where + ": " + mercer::quoted(key));
    }
}

}  // namespace

std::string trained_text(const TrainedWith& trained) {
    std::string text = "{";
    each_trained(trained, [&](const char* name, const auto& value) {
        text += "\"" + std::string(name) + "\":" + json_value(value) + ",";
    });
    text += "\"tube_given\":" + json_value(trained.tube_given);
    text += ",\"class_weights\":" + json_list(trained.class_weights);
    if (!trained.numbers.empty()) text += ",\"numbers\":" + named_numbers_text(trained.numbers);
    return text + "}";
}

namespace {

std::string report_text(const Report& report) {
    // How long it took is no property of the model: written, equal models would differ.
    Report timeless = report;
    timeless.seconds = 0;
    std::string text = "{\"status\":\"" + std::string(status_words.word(report.status)) + "\"";
    each_member(timeless, [&](const char* name, const auto& value) {
        text += ",\"" + std::string(name) + "\":" + json_value(value);
    });
    text += ",\"convexity\":\"" + std::string(convexity_words.word(report.convexity)) + "\"";
    if (report.curvature_error > 0) {
        text += ",\"least_curvature\":" + json_number(report.least_curvature) +
                ",\"curvature_error\":" + json_number(report.curvature_error);
    }
    text += ",\"hull_weights\":" + std::to_string(report.hull_weights.size());
    if (has_no_machine(report.status)) {
        text += ",\"margin_bound\":" + json_value(report.margin_bound);
    }
    if (!report.figures.empty()) text += ",\"figures\":" + named_numbers_text(report.figures);
    if (!report.history.empty()) text += ",\"history\":" + json_list(report.history);
    return text + "}";
}

}  // namespace

std::string reports_text(const std::vector<Report>& reports) {
    std::string text = "[";
    for (const Report& report : reports) {
        if (&report != reports.data()) text += ",";
        text += report_text(report);
    }
    return text + "]";
}

namespace {

std::string sigmoids_text(std::span<const Sigmoid> sigmoids) {
    std::string text = "[";
    for (const Sigmoid& sigmoid : sigmoids) {
        if (&sigmoid != sigmoids.data()) text += ",";
        text += json_list(std::vector{sigmoid.a, sigmoid.b});
    }
    return text + "]";
}

}  // namespace

void read_trained(const Json& json, TrainedWith& trained, const std::string& place) {
    each_trained(trained, [&](const char* name, auto& value) {
        read_json(member(json, name, place), value, place + ": \"" + name + "\"");
    });
    if (json.contains("tube_given")) {
        read_json(json.at("tube_given"), trained.tube_given, place + ": \"tube_given\"");
    } else if (trained.tube == "column") {
        // What earlier programs wrote for widths given row by row.
        trained.tube.clear();
        trained.tube_given = true;
    }
    read_json(member(json, "class_weights", place), trained.class_weights,
              place + ": \"class_weights\"");
    read_named_numbers(json, "numbers", trained.numbers, place);
}

Report read_report(const Json& json, std::size_t most_weights, const std::string& place) {
    Report report;
    std::string status;
    read_json(member(json, "status", place), status, place + ": \"status\"");
    report.status = value_of(status_words, status, place + ": \"status\"");
    each_member(report, [&](const char* name, auto& value) {
        read_json(member(json, name, place), value, place + ": \"" + name + "\"");
    });
    if (json.contains("convexity")) {
        std::string word;
        read_json(json.at("convexity"), word, place + ": \"convexity\"");
        report.convexity = value_of(convexity_words, word, place + ": \"convexity\"");
    }
    for (auto& [name, number] :
         {std::pair<const char*, double&>{"least_curvature", report.least_curvature},
          std::pair<const char*, double&>{"curvature_error", report.curvature_error}}) {
        if (json.contains(name)) {
            read_json(json.at(name), number, place + ": \"" + name + "\"");
        }
    }
    const std::string where = place + ": \"hull_weights\"";
    const std::uint64_t weights = read_count(member(json, "hull_weights", place), where);
    if (weights > most_weights) {
        throw InvalidInput(where + " should be " + std::to_string(weights) +
                           " numbers, but the array of that name has only " +
                           std::to_string(most_weights) + " left");
    }
    report.hull_weights.resize(weights);
    if (json.contains("margin_bound")) {
        read_json(json.at("margin_bound"), report.margin_bound, place + ": \"margin_bound\"");
    } else if (report.status == FitStatus::not_separable) {
        // Written when a small distance of the hulls was taken for a proof that they meet.
        report.status = FitStatus::no_margin;
        report.margin_bound = std::numeric_limits<double>::infinity();
    }
    read_named_numbers(json, "figures", report.figures, place);
    if (json.contains("history")) {
        read_json(json.at("history"), report.history, place + ": \"history\"");
    }
    return report;
}

/// A kernel whose text cannot be read back is a damaged file, or one that names a function this
/// program does not have.
Kernel read_kernel(const std::string& text, const std::string& place) {
    try {
        return Kernel::parse(text);
    } catch (const InvalidInput& error) {
        std::string remedy;
        if (text.find("user(") != std::string::npos) {
            remedy =
                "\nThe model uses a kernel function of the program that trained it: register it "
                "with mercer::function(name, …) before the model is loaded.";
        }
        throw InvalidInput(place + ": the kernel cannot be read: " + error.what() + remedy);
    }
}

namespace {

/// A list among the metadata, of items that are read alike.
template <class T>
void read_list(const Metadata& metadata, const std::string& key, std::vector<T>& out,
               const std::string& place) {
    const std::string where = place + ": " + key;
    read_json(parse_json(metadata_text(metadata, key, place), 2, where), out, where);
}

void read_sigmoids(const Metadata& metadata, ModelParts& model, const std::string& place) {
    const std::string where = place + ": sigmoids";
    const Json list = parse_json(metadata_text(metadata, "sigmoids", place), 2, where);
    std::vector<Sigmoid> sigmoids;
    for (const Json& item : array_at(list, where)) {
        std::vector<double> numbers;
        read_json(item, numbers, where);
        if (numbers.size() != 2) throw InvalidInput(where + " must be pairs of numbers");
        sigmoids.push_back({numbers[0], numbers[1]});
    }
    if (!sigmoids.empty()) model.extras.set(Calibration(std::move(sigmoids)));
}

/// Files of earlier programs do not say what a bracket rests on: the kernel's rule does, or nobody.
void derive_convexity(const ModelParts& model, Report& report) {
    if (!has_bracket(model.task) || report.figures.contains("reduced_from")) return;
    // Nested regions once told their bracket as figures, where the rule allowed one.
    for (const auto& [name, place] :
         {std::pair{"primal", &report.primal}, {"dual", &report.dual}}) {
        if (const auto found = report.figures.find(name); found != report.figures.end()) {
            *place = found->second;
            set_gap(report);
        }
    }
    const Convexity found =
        convexity_by_rule(model.expansion.kernel, model.task, model.trained.bias);
    settle_bracket(report, {.convexity = found}, 0);
}

void read_reports(const Metadata& metadata, ModelParts& model, std::size_t hull_weights,
                  const std::string& place) {
    const std::string where = place + ": reports";
    const Json list = parse_json(metadata_text(metadata, "reports", place), 3, where);
    for (const Json& item : array_at(list, where)) {
        const std::string at = where + "[" + std::to_string(model.reports.size()) + "]";
        model.reports.push_back(read_report(item, hull_weights, at));
        hull_weights -= model.reports.back().hull_weights.size();
        if (!item.contains("convexity")) derive_convexity(model, model.reports.back());
    }
    if (hull_weights != 0) {
        throw InvalidInput(where + " leave " + std::to_string(hull_weights) +
                           " hull weights without an owner");
    }
}

}  // namespace

Metadata metadata_of(const Model& model) {
    const Expansion& e = model.expansion();
    Metadata metadata{
        {"format", std::string(format_word)},
        {"version", std::to_string(format_version)},
        {"kernel", e.kernel.text()},
        {"task", task_name(model.task())},
        {"multi_class", std::string(multi_class_words.word(model.multi_class()))},
        {"class_names", json_list(model.class_names())},
        {"class_values", json_list(model.class_values())},
        {"feature_names", json_list(model.feature_names())},
        {"roles", roles_text(model.roles())},
        {"target_names", json_list(model.target_names())},
        {"columns", std::to_string(model.columns())},
        {"self", json_number(e.self)},
        {"scaling", model.scaling().json()},
        {"trained", trained_text(model.trained())},
        {"reports", reports_text(model.reports())},
        {"sigmoids", sigmoids_text(sigmoids_of(model.extras()))},
        {"double_precision", std::string(bool_words.word(model.double_precision()))},
    };
    if (model.recipe()) metadata["recipe"] = model.recipe()->json();
    return metadata;
}

const std::string& metadata_text(const Metadata& metadata, const std::string& key,
                                 const std::string& place) {
    const auto found = metadata.find(key);
    if (found == metadata.end()) {
        throw InvalidInput(place + ": the metadata has no " + mercer::quoted(key));
    }
    return found->second;
}

std::size_t metadata_count(const Metadata& metadata, const std::string& key,
                           const std::string& place) {
    const std::string& text = metadata_text(metadata, key, place);
    std::size_t result = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, result);
    if (error != std::errc() || end != last) {
        throw InvalidInput(place + ": metadata " + mercer::quoted(key) +
                           " must be a whole number from 0, found " + mercer::quoted(text));
    }
    return result;
}

void read_metadata(const Metadata& metadata, std::size_t hull_weights, ModelParts& model,
                   const std::string& place) {
    const auto text = [&](const char* key) -> const std::string& {
        return metadata_text(metadata, key, place);
    };
    model.task = task_of(text("task"), place + ": task");
    model.multi_class = value_of(multi_class_words, text("multi_class"), place + ": multi_class");
    model.double_precision =
        value_of(bool_words, text("double_precision"), place + ": double_precision");
    model.expansion.kernel = read_kernel(text("kernel"), place);
    read_list(metadata, "class_names", model.class_names, place);
    read_list(metadata, "class_values", model.class_values, place);
    read_list(metadata, "feature_names", model.feature_names, place);
    read_roles(metadata, model.roles, place);
    read_list(metadata, "target_names", model.target_names, place);
    model.columns = metadata_count(metadata, "columns", place);
    read_json(parse_json(text("self"), 1, place + ": self"), model.expansion.self,
              place + ": self");
    model.scaling = Scaling::from_json(text("scaling"), place + ": scaling");
    if (const auto recipe = metadata.find("recipe"); recipe != metadata.end()) {
        model.recipe =
            std::make_shared<const Recipe>(Recipe::from_json(recipe->second, place + ": recipe"));
    }
    read_trained(parse_json(text("trained"), 2, place + ": trained"), model.trained,
                 place + ": trained");
    read_sigmoids(metadata, model, place);
    read_reports(metadata, model, hull_weights, place);
}

}  // namespace mercer::persist
