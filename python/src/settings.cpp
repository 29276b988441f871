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

}  // namespace mercer::python
