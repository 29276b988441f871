// One setting of a machine, described once: the command line, Python, searches, model files and the
// documents all read it from here (learn/registry.hpp has those of every machine).
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// What a setting can hold: yes or no, a count, a number, a word or text, several of either.
using SettingValue = std::variant<bool, std::size_t, double, std::string, std::vector<double>,
                                  std::vector<std::string>>;
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

}  // namespace mercer
