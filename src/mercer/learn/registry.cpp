#include "mercer/learn/registry.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <shared_mutex>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/describe.hpp"

namespace mercer {

// One function a machine, which stands in its own .cpp file and describes it.
std::vector<MachineEntry> svm_entries();
MachineEntry regions_entry();
MachineEntry class_means_entry();
MachineEntry parzen_entry();
std::vector<MachineEntry> nearest_entries();
MachineEntry perceptron_entry();
MachineEntry adatron_entry();
MachineEntry ridge_entry();
std::vector<MachineEntry> risk_entries();
std::vector<MachineEntry> given_risk_entries();
MachineEntry gaussian_process_entry();
MachineEntry gp_classifier_entry();
MachineEntry kmeans_entry();
MachineEntry vector_quantiser_entry();
MachineEntry kernel_pca_entry();
MachineEntry hebbian_entry();
MachineEntry cca_entry();
MachineEntry ica_entry();
MachineEntry tdsep_entry();
MachineEntry dependency_entry();
MachineEntry multi_label_entry();
MachineEntry label_spreading_entry();

namespace {

/// The machines of the library, in the order of the documents.
std::deque<MachineEntry> built_in() {
    std::deque<MachineEntry> all;
    const auto add = [&all](std::vector<MachineEntry> entries) {
        std::ranges::move(entries, std::back_inserter(all));
    };
    add(svm_entries());
    all.push_back(regions_entry());
    all.push_back(class_means_entry());
    all.push_back(parzen_entry());
    add(nearest_entries());
    all.push_back(perceptron_entry());
    all.push_back(adatron_entry());
    all.push_back(ridge_entry());
    add(risk_entries());
    add(given_risk_entries());
    all.push_back(gaussian_process_entry());
    all.push_back(gp_classifier_entry());
    all.push_back(kmeans_entry());
    all.push_back(vector_quantiser_entry());
    all.push_back(kernel_pca_entry());
    all.push_back(hebbian_entry());
    all.push_back(cca_entry());
    all.push_back(ica_entry());
    all.push_back(tdsep_entry());
    all.push_back(dependency_entry());
    all.push_back(multi_label_entry());
    all.push_back(label_spreading_entry());
    return all;
}

/// Entries are added and never taken away, and a deque does not move what it has.
struct Registry {
    std::shared_mutex mutex{};
    std::deque<MachineEntry> entries = built_in();

    template <class Match>
    const MachineEntry* find(const Match& match) {
        const std::shared_lock lock(mutex);
        const auto found = std::ranges::find_if(entries, match);
        return found == entries.end() ? nullptr : &*found;
    }
};

Registry& registry() {
    static Registry all;
    return all;
}

bool learns(Task task, Learns what) {
    return machine_entry(task).learns == what;
}

}  // namespace

const Setting* MachineEntry::find(std::string_view setting) const {
    const auto found = std::ranges::find(settings, setting, &Setting::name);
    return found == settings.end() ? nullptr : &*found;
}

std::vector<const MachineEntry*> machines() {
    Registry& all = registry();
    const std::shared_lock lock(all.mutex);
    std::vector<const MachineEntry*> result;
    for (const MachineEntry& entry : all.entries) result.push_back(&entry);
    return result;
}

const MachineEntry& machine_entry(Task task) {
    const auto* entry = registry().find([task](const MachineEntry& e) { return e.task == task; });
    if (entry) return *entry;
    throw InvalidInput("there is no machine for task number " +
                       std::to_string(static_cast<std::uint32_t>(task)));
}

const MachineEntry& machine_entry(std::string_view name) {
    const auto* entry = registry().find([name](const MachineEntry& e) { return e.name == name; });
    if (entry) return *entry;
    std::vector<std::string> names;
    for (const MachineEntry* other : machines()) names.push_back(other->name);
    std::string message = "no task is called " + quoted(name) + "; there are";
    for (const std::string& other : names) message += ' ' + other;
    if (const auto near = nearest_word(name, names)) message += "; did you mean " + *near + '?';
    throw InvalidInput(message);
}

void add_machine(MachineEntry entry) {
    Registry& all = registry();
    const std::unique_lock lock(all.mutex);
    for (const MachineEntry& other : all.entries) {
        if (other.name == entry.name || other.task == entry.task) {
            throw InvalidInput("there is a machine " + quoted(other.name) + " already");
        }
    }
    all.entries.push_back(std::move(entry));
}

std::string settings_text(const MachineEntry& entry, const SettingValues& values) {
    std::string text;
    for (const Setting& setting : entry.settings) {
        const auto found = values.find(setting.name);
        const SettingValue& value = found == values.end() ? setting.fallback : found->second;
        text += setting.name + '=' + value_text(value) + ' ';
    }
    return text;
}

void refuse_setting(const std::string& task, const std::string& name,
                    const std::vector<std::string>& known) {
    std::vector<std::string> names = known;
    std::ranges::sort(names);
    const auto near = nearest_word(name, names);
    std::string list;
    for (const std::string& other : names) list += (list.empty() ? " " : ", ") + other;
    throw InvalidSetting("the task " + task + " has no setting " + quoted(name) + "; " +
                         (near ? "did you mean " + *near + "? There are" : "there are") + list);
}

void refuse_targets(Task task) {
    throw InvalidInput("the task " + task_name(task) +
                       " learns one output; train a machine for each");
}

// ---- What model.hpp asks.

std::string task_name(Task task) {
    return machine_entry(task).name;
}
Task task_named(std::string_view name) {
    return machine_entry(name).task;
}
bool is_classifier(Task task) {
    return learns(task, Learns::classes);
}
bool is_regressor(Task task) {
    return learns(task, Learns::numbers);
}
bool is_clustering(Task task) {
    return learns(task, Learns::groups);
}
bool is_projection(Task task) {
    return learns(task, Learns::functions);
}
bool is_multi_label(Task task) {
    return learns(task, Learns::label_sets);
}
bool is_svm(Task task) {
    return machine_entry(task).family == "svm";
}

}  // namespace mercer
