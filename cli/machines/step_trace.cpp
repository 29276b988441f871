#include "cli/machines/step_trace.hpp"

#include <fmt/format.h>

#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"

namespace mercer::cli {
namespace {

constexpr const char* column_names =
    "problem,step,row_1,row_2,y_1,y_2,alpha_1,alpha_2,E_1,E_2,curvature,unclipped,U,V,"
    "new_alpha_1,new_alpha_2,objective,violation\n";

}  // namespace

std::function<void(const FitStep&)> StepTrace::listener() {
    return [this](const FitStep& traced) {
        const TwoPointStep& s = traced.step;
        std::string& lines = lines_[traced.number];
        lines += fmt::format("{},{},{},{}", traced.number + 1, s.step, s.row[0] + 1, s.row[1] + 1);
        for (const double value : {s.label[0], s.label[1], s.alpha[0], s.alpha[1], s.error[0],
                                   s.error[1], s.curvature, s.unclipped, s.clip[0], s.clip[1],
                                   s.moved_to[0], s.moved_to[1], s.objective, s.violation}) {
            lines += ',' + format_number(value);
        }
        lines += '\n';
    };
}

void StepTrace::write(const std::string& path) const {
    write_whole(path, [&](Output& out) {
        out.write(column_names);
        for (const auto& [problem, lines] : lines_) out.write(lines);
    });
}

}  // namespace mercer::cli
