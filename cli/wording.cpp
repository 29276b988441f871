#include "cli/wording.hpp"

#include <array>
#include <string_view>

namespace mercer::cli {
namespace {

struct Wording {
    std::string_view setting;
    std::string_view flag;
};

constexpr std::array<Wording, 5> wordings{{
    {"set missing to mean, median or zero", "give --missing mean, median or zero"},
    {"set first_index to 0", "give --first-index 0"},
    {"name a labels_file, or none to leave them out", "give --labels-to FILE, or none"},
    {"name a weights_file, or none to leave them out", "give --weights-to FILE, or none"},
    {"name the right file as labels_file", "name the right file with --labels"},
}};

}  // namespace

std::string in_flags(std::string message) {
    for (const auto& [setting, flag] : wordings) {
        const std::size_t at = message.find(setting);
        if (at != std::string::npos) message.replace(at, setting.size(), flag);
    }
    return message;
}

}  // namespace mercer::cli
