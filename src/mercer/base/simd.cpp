#include "mercer/base/simd.hpp"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {

std::vector<std::string> simd_levels() {
    std::vector<std::string> names;
    for (const auto target : hwy::SupportedAndGeneratedTargets()) {
        names.emplace_back(hwy::TargetName(target));
    }
    return names;
}

void use_simd_level(const std::string& level) {
    hwy::SetSupportedTargetsForTest(0);
    if (!level.empty()) {
        bool found = false;
        for (const auto target : hwy::SupportedAndGeneratedTargets()) {
            if (level == hwy::TargetName(target)) {
                hwy::SetSupportedTargetsForTest(target);
                found = true;
                break;
            }
        }
        if (!found) {
            std::string known;
            for (const std::string& name : simd_levels()) known += ' ' + name;
            throw InvalidInput("no vector level " + quoted(level) + " here; there are:" + known);
        }
    }
    hwy::GetChosenTarget().DeInit();  // chosen anew at the next call
}

}  // namespace mercer
