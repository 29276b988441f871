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

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

/// What a setting can hold: yes or no, a count, a number, a word or text, several of either.
class SettingValue : public std::variant<bool, std::size_t, double, std::string,
                                         std::vector<double>, std::vector<std::string>> {
   public:
    using variant::variant;
    SettingValue() = default;
    /// GCC's variant of these kinds, when a copy finds no memory, destroys what it does not hold
    /// yet, which crashes (_M_valid takes their having a value for granted). Made of the value
    /// itself it does not.
    SettingValue(const SettingValue& other)
        : variant(std::visit(
              [](const auto& held) {
                  return variant(std::in_place_type<std::remove_cvref_t<decltype(held)>>, held);
              },
              other.as_variant())) {}
    SettingValue(SettingValue&&) noexcept = default;
    SettingValue& operator=(const SettingValue&) = default;
    SettingValue& operator=(SettingValue&&) noexcept = default;
    ~SettingValue() = default;

   private:
    const variant& as_variant() const { return *this; }
};
/// Settings by name; those that are absent keep their defaults.
using SettingValues = std::map<std::string, SettingValue>;

/// As people write it: "true", "0.5", "plain", "0.1,1,10".
std::string value_text(const SettingValue& value);

/// Which numbers are allowed.
struct Range {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool low_open = false;   ///< low itself is not allowed
    bool high_open = false;  ///< likewise
    std::string words{};     ///< for messages where numbers alone say too little

    static Range above(double low);
    static Range at_least(double low);
    static Range between(double low, double high);  ///< ends included
    static Range inside(double low, double high);   ///< ends excluded

    bool holds(double value) const;
    /// "greater than 0 and less than 1".
    std::string text() const;
};

/// A value that is not even of the kind a setting holds: a word where a number should be.
class WrongKind : public InvalidSetting {
   public:
    using InvalidSetting::InvalidSetting;
};

struct Setting {
    std::string name;                  ///< that of the member: "lambda"
    std::string about;                 ///< a line for people
    SettingValue fallback{};           ///< the default; what it holds is the kind of the setting
    Range range{};                     ///< of numbers and counts
    std::vector<std::string> words{};  ///< what a choice chooses from; empty: any text
    bool tunable = false;              ///< a search may move it
    bool of_solver = false;            ///< how the optimum is found, not which one it is
    /// Its word on the command line, without dashes: "C,cost". Empty: its name, or no-name for what
    /// is on by default; "-": it is not there.
    std::string flag{};
    std::string placeholder{};  ///< for its value in help texts, where X and N say too little

    /// "-C,--cost"; empty: none.
    std::string command_line_flag() const;
    /// The value as this setting holds it: whole numbers serve as counts and as numbers, a single
    /// word as a list of one. Throws WrongKind for another kind, InvalidSetting for a number out of
    /// range and a word that is none of `words`.
    SettingValue read(const SettingValue& given) const;
    /// Throws InvalidSetting for a value out of range.
    void check(const SettingValue& value) const;
};

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
    /// Under the linear kernel it goes over many rows in passes, each rank over its own.
    bool linear_by_passes = false;
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
