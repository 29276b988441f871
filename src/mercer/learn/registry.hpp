// What is known of every machine, one entry each: what it is called, what it learns, which settings
// it takes, how it is made. Task names, the words of model files, the options of `mercer train`,
// the axes of a search, Python's settings and the tables of the documents are all read from here.
//
//   for (const MachineEntry* entry : machines()) entry->name, entry->about;
//   Machine machine = machine_entry("ridge").make({.kernel = rbf()}, {{"lambda", 0.1}});
//
// A machine of one's own is described the same way (learn/describe.hpp) and added:
//
//   add_machine(describe_toy());
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/setting.hpp"

namespace mercer MERCER_API {

/// What a machine learns.
enum class Learns {
    classes,     ///< from labels
    numbers,     ///< from labels
    region,      ///< where the rows lie: a single class
    groups,      ///< of rows, without labels
    functions,   ///< of the rows, one per output: components, canonical variates, sources
    label_sets,  ///< which of several labels each row has
};

struct MachineEntry {
    Task task{};
    std::string name;    ///< "ridge": on the command line, in model files, in Python
    std::string family;  ///< the folder of learn/ it stands in: "svm", "risk", "online", …
    Learns learns = Learns::classes;
    std::string about;  ///< one line for people
    /// Its reports hold primal and dual value, and where the kernel allows bracket the optimum
    /// (learn/convexity.hpp).
    bool certified = false;
    /// The command that trains it, where that is not `mercer train`: it takes two sets of rows, or
    /// its answer is not a prediction.
    std::string command{};
    std::vector<Setting> settings{};
    /// What its models may have besides their expansion (learn/extra.hpp).
    std::vector<ExtraKind> extras{};
    /// The machine with these settings, the others at their defaults. Throws InvalidSetting for a
    /// name or a value it cannot take. Empty for machines that learn from two sets of rows.
    std::function<Machine(const FitSettings& common, const SettingValues& values)> make{};

    const Setting* find(std::string_view setting) const;  ///< null: it has none of that name
};

/// All of them, in the order of the documents, those added later last.
std::vector<const MachineEntry*> machines();
/// Throws InvalidInput for a task or name that nobody has.
const MachineEntry& machine_entry(Task task);
const MachineEntry& machine_entry(std::string_view name);

/// Makes a machine known to everything that reads the registry, for the rest of the program. Throws
/// InvalidInput when its task or name is taken.
void add_machine(MachineEntry entry);

/// Every setting with its value, in the order of the entry: what a result depends on besides the
/// data and the kernel.
std::string settings_text(const MachineEntry& entry, const SettingValues& values);

}  // namespace mercer
