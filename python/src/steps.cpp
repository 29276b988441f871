#include "steps.hpp"

#include <cstdint>

#include "common/arrays.hpp"

namespace mercer::python {

std::function<void(const FitStep&)> StepTable::listener() {
    return [this](const FitStep& at) { steps_[at.number].push_back(at.step); };
}

nb::dict StepTable::columns() const {
    nb::dict table;
    const auto column = [&]<class T>(const char* name, T /*kind*/, const auto& value) {
        std::vector<T> values;
        for (const auto& [problem, steps] : steps_) {
            for (const TwoPointStep& step : steps) {
                values.push_back(static_cast<T>(value(problem, step)));
            }
        }
        table[name] = give(std::move(values));
    };
    const auto whole = [&](const char* name, const auto& value) {
        column(name, std::int64_t{}, value);
    };
    const auto real = [&](const char* name, const auto& value) {
        column(name, double{}, [&](std::size_t, const TwoPointStep& s) { return value(s); });
    };
    using Step = TwoPointStep;
    whole("problem", [](std::size_t problem, const Step&) { return problem; });
    whole("step", [](std::size_t, const Step& s) { return s.step; });
    whole("row_1", [](std::size_t, const Step& s) { return s.row[0]; });
    whole("row_2", [](std::size_t, const Step& s) { return s.row[1]; });
    real("y_1", [](const Step& s) { return s.label[0]; });
    real("y_2", [](const Step& s) { return s.label[1]; });
    real("alpha_1", [](const Step& s) { return s.alpha[0]; });
    real("alpha_2", [](const Step& s) { return s.alpha[1]; });
    real("E_1", [](const Step& s) { return s.error[0]; });
    real("E_2", [](const Step& s) { return s.error[1]; });
    real("curvature", [](const Step& s) { return s.curvature; });
    real("unclipped", [](const Step& s) { return s.unclipped; });
    real("U", [](const Step& s) { return s.clip[0]; });
    real("V", [](const Step& s) { return s.clip[1]; });
    real("new_alpha_1", [](const Step& s) { return s.moved_to[0]; });
    real("new_alpha_2", [](const Step& s) { return s.moved_to[1]; });
    real("objective", [](const Step& s) { return s.objective; });
    real("violation", [](const Step& s) { return s.violation; });
    return table;
}

}  // namespace mercer::python
