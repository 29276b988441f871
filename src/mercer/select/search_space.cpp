#include "mercer/select/search_space.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

constexpr std::size_t most_values = 10'000;
constexpr std::size_t most_points = 1'000'000;

[[noreturn]] void refuse_axis(std::string_view text, const std::string& why) {
    throw InvalidInput("the axis " + quoted(text) + " " + why +
                       "; write name=1,2,3 or name=low:high:count or name=low:high:logcount");
}

std::vector<std::string> cut(std::string_view text, char at) {
    std::vector<std::string> parts;
    for (std::size_t first = 0;;) {
        const std::size_t next = text.find(at, first);
        parts.emplace_back(text.substr(first, next - first));
        if (next == std::string_view::npos) return parts;
        first = next + 1;
    }
}

double number_in(std::string_view axis, const std::string& word) {
    const auto value = parse_number(word);
    if (!value) refuse_axis(axis, "has " + quoted(word) + " where a number should be");
    return *value;
}

void fill_range(std::string_view text, const std::vector<std::string>& parts, Axis& axis) {
    const double low = number_in(text, parts[0]);
    const double high = number_in(text, parts[1]);
    std::string count = parts[2];
    axis.range = true;
    axis.logarithmic = count.starts_with("log");
    if (axis.logarithmic) count.erase(0, 3);
    const double wanted = number_in(text, count);
    if (!(wanted >= 1 && wanted <= static_cast<double>(most_values) &&
          wanted == std::floor(wanted))) {
        refuse_axis(text, "asks for " + quoted(count) + " values, and may have 1 to " +
                              std::to_string(most_values));
    }
    if (axis.logarithmic && !(low > 0 && high > 0)) {
        refuse_axis(text, "cannot run over logarithms of numbers that are not greater than 0");
    }
    const auto values = static_cast<std::size_t>(wanted);
    for (std::size_t i = 0; i < values; ++i) {
        const double t = values == 1 ? 0 : static_cast<double>(i) / static_cast<double>(values - 1);
        const bool last = i > 0 && i + 1 == values;
        axis.values.push_back(i == 0 ? low
                              : last ? high
                              : axis.logarithmic
                                  ? std::exp(std::log(low) + t * (std::log(high) - std::log(low)))
                                  : low + t * (high - low));
    }
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The text with $name replaced by what `value_of` says; names it does not know are an error.
template <class ValueOf>
std::string substituted(const std::string& text, const ValueOf& value_of) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '$') {
            result += text[i];
            continue;
        }
        std::size_t last = i + 1;
        while (last < text.size() && is_word(text[last])) ++last;
        result += value_of(text.substr(i + 1, last - i - 1));
        i = last - 1;
    }
    return result;
}

/// How the parameters of a kernel are called: by name, those that share one with their number.
std::vector<std::string> parameter_names(const Kernel& kernel) {
    std::vector<std::string> names;
    std::map<std::string, std::size_t> count;
    const auto list = parameters(kernel);
    for (const KernelParameter& p : list) ++count[p.name];
    std::map<std::string, std::size_t> seen;
    for (const KernelParameter& p : list) {
        names.push_back(count[p.name] == 1 ? p.name
                                           : p.name + '#' + std::to_string(++seen[p.name]));
    }
    return names;
}

}  // namespace

Axis Axis::parse(std::string_view text) {
    const std::size_t at = text.find('=');
    if (at == std::string_view::npos || at == 0) refuse_axis(text, "has no name before a =");
    Axis axis;
    axis.name = std::string(text.substr(0, at));
    const std::string_view rest = text.substr(at + 1);
    if (rest.empty()) refuse_axis(text, "is empty");
    const auto parts = cut(rest, ':');
    if (parts.size() == 3) {
        fill_range(text, parts, axis);
        return axis;
    }
    if (parts.size() != 1) refuse_axis(text, "needs three numbers between its colons");
    const auto words = cut(rest, ',');
    if (words.size() > most_values) {
        refuse_axis(text, "has " + std::to_string(words.size()) + " values, and may have 1 to " +
                              std::to_string(most_values));
    }
    for (const std::string& word : words) axis.values.push_back(number_in(text, word));
    return axis;
}

namespace {

/// What of the settings that all machines share a score depends on. The binding does not compile
/// when there is one that is not here.
std::string shared_text(const FitSettings& common) {
    const auto& [kernel, scaling, target_scale, seed, time_limit, memory_bytes, double_precision,
                 progress] = common;
    static_cast<void>(kernel);  // told as the text of the task
    static_cast<void>(memory_bytes);
    static_cast<void>(progress);
    return "scaling=" + scaling.text() + " target_scale=" + target_scale_name(target_scale) +
           " seed=" + std::to_string(seed) + " time_limit=" + format_number(time_limit) +
           " double_precision=" + (double_precision ? "1 " : "0 ");
}

SearchTask begin_task(const MachineEntry& machine, const FitSettings& common,
                      const std::string& kernel, const std::string& settings) {
    SearchTask task;
    task.task = machine.task;
    task.kernel = kernel;
    task.scaling = common.scaling;
    task.fingerprint = "task=" + machine.name + ' ' + shared_text(common) + settings;
    for (const Setting& setting : machine.settings) {
        if (setting.tunable) task.settings.push_back(setting.name);
    }
    return task;
}

void put(SvmSettings& settings, const std::map<std::string, double>& values) {
    for (const auto& [name, value] : values) {
        (name == "C" ? settings.C : name == "nu" ? settings.nu : settings.epsilon) = value;
    }
}

}  // namespace

namespace {

/// Puts in how the machine is made, of all rows or in the span of some.
void set_make(
    SearchTask& task, const FitSettings& common, const std::optional<Nystroem>& how,
    std::function<Machine(const FitSettings&, const std::map<std::string, double>&)> make) {
    if (how) {
        task.fingerprint += " nystroem=" + std::to_string(how->centres);
        task.span = SpanSearch{.how = *how, .common = common, .make = make};
    }
    task.make = [common, how, make](const Kernel& k, const std::map<std::string, double>& values) {
        FitSettings own = common;
        own.kernel = k;
        if (!how) return make(own, values);
        return approximate(own, *how, [make, values](const FitSettings& settled) {
            return make(settled, values);
        });
    };
}

}  // namespace

SearchTask search_task(const MachineEntry& machine, const FitSettings& common,
                       const SettingValues& given, const std::string& kernel,
                       const std::optional<Nystroem>& how) {
    SearchTask task = begin_task(machine, common, kernel, settings_text(machine, given));
    set_make(
        task, common, how,
        [&machine, given](const FitSettings& own, const std::map<std::string, double>& values) {
            SettingValues all = given;
            for (const auto& [name, value] : values) all[name] = value;
            return machine.make(own, all);
        });
    return task;
}

SearchTask svm_search_task(const SvmSettings& settings, const std::string& kernel,
                           const std::optional<Nystroem>& how) {
    SearchTask task = begin_task(machine_entry(settings.task), settings.common, kernel,
                                 settings_text(settings) + (settings.tube_function ? "f" : ""));
    task.svm = settings;
    set_make(task, settings.common, how,
             [settings](const FitSettings& common, const std::map<std::string, double>& values) {
                 SvmSettings own = settings;
                 own.common = common;
                 put(own, values);
                 check_settings(own);
                 return Machine(svm(std::move(own)));
             });
    return task;
}

SearchSpace::SearchSpace(SearchTask task, std::vector<Axis> axes, const Dataset& data)
    : task_(std::move(task)), axes_(std::move(axes)), objects_(data.x.object_names()) {
    if (axes_.empty()) {
        throw InvalidInput(
            "there is nothing to search: give at least one axis, such as C=0.1,1,10");
    }
    if (data.size() == 0) throw InvalidInput("there are no rows to search on");
    const Dataset own = prepared(data);
    names_ = own.feature_names;
    moments_ = column_moments(Scaling::fit(task_.scaling, own.x).apply(own.x));
    if (task_.kernel.find('$') == std::string::npos) {
        const Kernel plain = Kernel::parse(task_.kernel);
        kernel_ = plain.needs_data() ? plain.resolve(moments_, names_, objects_) : plain;
    }
    std::set<std::string> seen;
    for (const Axis& axis : axes_) {
        if (!seen.insert(axis.name).second) {
            throw InvalidInput("the axis " + quoted(axis.name) + " is given twice");
        }
        if (axis.values.empty()) throw InvalidInput("the axis " + quoted(axis.name) + " is empty");
        bound_.push_back(bind(axis));
    }
    check_values();
}

/// Each value of each axis, the other axes at their first: one that no machine can have is a slip
/// to be told of now, not a point to be passed over. (What a value is to the data shows later.)
void SearchSpace::check_values() const {
    std::vector<double> first;
    for (const Axis& axis : axes_) first.push_back(axis.values.front());
    kernel(first);  // placeholders without an axis are found now
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        std::vector<double> values = first;
        for (const double value : axes_[a].values) {
            values[a] = value;
            try {
                machine(values);
            } catch (const InvalidInput& error) {
                throw InvalidInput("no machine can have " + text(values) + ": " + error.what());
            }
        }
    }
}

bool SearchSpace::has_placeholder(const std::string& name) const {
    bool found = false;
    substituted(task_.kernel, [&](const std::string& word) {
        found = found || word == name;
        return std::string();
    });
    return found;
}

SearchSpace::Bound SearchSpace::bind(const Axis& axis) const {
    if (has_placeholder(axis.name)) return {.role = Role::placeholder};
    if (std::ranges::find(task_.settings, axis.name) != task_.settings.end()) {
        return {.role = Role::setting, .setting = axis.name};
    }
    std::vector<std::string> known = task_.settings;
    const auto names = kernel_ ? parameter_names(*kernel_) : std::vector<std::string>{};
    const std::string prefix = "kernel.";
    const std::string wanted =
        axis.name.starts_with(prefix) ? axis.name.substr(prefix.size()) : axis.name;
    for (std::size_t p = 0; p < names.size(); ++p) {
        if (names[p] == wanted) return {.role = Role::parameter, .parameter = p};
        const bool taken = std::ranges::find(task_.settings, names[p]) != task_.settings.end();
        known.push_back(taken ? prefix + names[p] : names[p]);
    }
    std::string message = "there is no parameter " + quoted(axis.name) + " of " +
                          task_name(task_.task) + " or its kernel " + quoted(task_.kernel, 80);
    message += known.empty() ? "; they have none that can be searched" : "; there are";
    for (const std::string& name : known) message += ' ' + name;
    if (const auto near = nearest_word(axis.name, known))
        message += "; did you mean " + *near + '?';
    throw InvalidInput(message);
}

std::string SearchSpace::filled(std::span<const double> values) const {
    return substituted(task_.kernel, [&](const std::string& word) {
        for (std::size_t a = 0; a < axes_.size(); ++a) {
            if (axes_[a].name == word) return format_number(values[a]);
        }
        throw InvalidInput("the kernel " + quoted(task_.kernel, 80) + " has the placeholder $" +
                           word + ", and there is no axis of that name");
    });
}

Kernel SearchSpace::kernel(std::span<const double> values) const {
    if (!kernel_) {
        const Kernel k = Kernel::parse(filled(values));
        return k.needs_data() ? k.resolve(moments_, names_, objects_) : k;
    }
    if (std::ranges::none_of(bound_, [](const Bound& b) { return b.role == Role::parameter; })) {
        return *kernel_;
    }
    std::vector<double> own;
    for (const KernelParameter& p : parameters(*kernel_)) own.push_back(p.value);
    for (std::size_t a = 0; a < bound_.size(); ++a) {
        if (bound_[a].role == Role::parameter) own[bound_[a].parameter] = values[a];
    }
    return with_parameters(*kernel_, own);
}

std::map<std::string, double> SearchSpace::settings(std::span<const double> values) const {
    std::map<std::string, double> result;
    for (std::size_t a = 0; a < bound_.size(); ++a) {
        if (bound_[a].role == Role::setting) result[bound_[a].setting] = values[a];
    }
    return result;
}

Machine SearchSpace::machine(std::span<const double> values) const {
    return task_.make(kernel(values), settings(values));
}

SvmSettings SearchSpace::svm(std::span<const double> values) const {
    SvmSettings own = task_.svm.value();
    own.common.kernel = kernel(values);
    put(own, settings(values));
    return own;
}

std::string SearchSpace::text(std::span<const double> values) const {
    std::string result;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        result += (a == 0 ? "" : " ") + axes_[a].name + '=' + format_number(values[a]);
    }
    return result;
}

std::vector<std::vector<double>> SearchSpace::grid() const {
    std::size_t points = 1;
    for (const Axis& axis : axes_) {
        if (axis.values.size() > most_points / points) {
            throw InvalidInput(
                "the grid has more than a million points; take fewer values, or "
                "search at random");
        }
        points *= axis.values.size();
    }
    std::vector<std::vector<double>> result(points, std::vector<double>(axes_.size()));
    for (std::size_t p = 0; p < points; ++p) {
        std::size_t rest = p;
        for (std::size_t a = axes_.size(); a-- > 0;) {
            result[p][a] = axes_[a].values[rest % axes_[a].values.size()];
            rest /= axes_[a].values.size();
        }
    }
    return result;
}

std::vector<std::vector<double>> SearchSpace::random(std::size_t points, std::uint64_t seed) const {
    if (points < 1 || points > most_points) {
        throw InvalidInput("a random search tries 1 to a million points, not " +
                           std::to_string(points));
    }
    Random random(seed, 1);
    std::vector<std::vector<double>> result(points);
    for (auto& values : result) {
        for (const Axis& axis : axes_) {
            const double low = axis.values.front();
            const double high = axis.values.back();
            values.push_back(!axis.range ? axis.values[random.below(axis.values.size())]
                             : axis.logarithmic
                                 ? std::exp(random.uniform(std::log(low), std::log(high)))
                                 : random.uniform(low, high));
        }
    }
    return result;
}

}  // namespace mercer
