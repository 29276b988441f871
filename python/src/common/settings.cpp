#include "settings.hpp"

#include <algorithm>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer::python {

void Settings::check(const std::string& what) const {
    for (const auto& [key, value] : values_) {
        const std::string name = nanobind::cast<std::string>(key);
        if (std::ranges::find(known_, name) != known_.end()) continue;
        const auto near = nearest_word(name, known_);
        std::string message = what + " has no setting " + quoted(name) + "; " +
                              (near ? "did you mean " + *near + "? There are" : "there are");
        std::vector<std::string> names = known_;
        std::ranges::sort(names);
        names.erase(std::unique(names.begin(), names.end()), names.end());
        for (const std::string& known : names)
            message += (&known == &names[0] ? " " : ", ") + known;
        throw InvalidInput(message);
    }
}

void Settings::refuse(const char* name, const char* kind, nanobind::object value) {
    const std::string found = nanobind::cast<std::string>(nanobind::repr(value));
    throw nanobind::type_error((std::string(name) + " = " + found + " must be " + kind).c_str());
}

namespace {

template <class T>
bool take(nanobind::object value, SettingValues& values, const std::string& name) {
    T held;
    if (!nanobind::try_cast<T>(value, held, false)) return false;
    values[name] = std::move(held);
    return true;
}

}  // namespace

SettingValues values_of(const nanobind::dict& settings, const std::vector<std::string>& known) {
    SettingValues values;
    for (const auto& [key, item] : settings) {
        const std::string name = nanobind::cast<std::string>(key);
        const nanobind::object value = nanobind::borrow(item);
        if (value.is_none() || std::ranges::find(known, name) != known.end()) continue;
        // A bool is an int to Python: asked first.
        const bool taken = nanobind::isinstance<nanobind::bool_>(value)
                               ? take<bool>(value, values, name)
                               : take<std::size_t>(value, values, name) ||
                                     take<double>(value, values, name) ||
                                     take<std::string>(value, values, name) ||
                                     take<std::vector<double>>(value, values, name) ||
                                     take<std::vector<std::string>>(value, values, name);
        if (taken) continue;
        double number = 0;  // a negative int, a number of NumPy
        if (nanobind::try_cast<double>(value, number)) {
            values[name] = number;
            continue;
        }
        const std::string found = nanobind::cast<std::string>(nanobind::repr(value));
        throw nanobind::type_error(
            (name + " = " + found + " is no number, word or list of them").c_str());
    }
    return values;
}

}  // namespace mercer::python
