// Formats that are recognised so that a message can say what was found.
#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {
namespace {

bool is_arff_line(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    return line.starts_with('%') || line.starts_with("@relation");
}

}  // namespace

Format arff() {
    return {
        .name = "arff",
        .title = "ARFF",
        .about = "an ARFF file",
        .recognise = [](const Input& input) { return match_line(input, is_arff_line); },
    };
}

}  // namespace mercer::formats
