// Formats that are recognised so that a message can say what was found.
#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {
namespace {

bool is_arff_line(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    return line.starts_with('%') || line.starts_with("@relation");
}

bool is_tar(std::string_view bytes) {
    return bytes.size() > 262 && bytes.substr(257, 5) == "ustar" &&
           bytes.substr(0, 512).find('\0') != std::string_view::npos;
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

Format tar() {
    return {
        .name = "tar",
        .title = "tar",
        .about = "a tar archive",
        .kind = Format::Kind::bytes,
        .recognise =
            [](const Input& input) {
                return Match{is_tar(input.bytes) ? Certainty::certain : Certainty::none};
            },
        .remedy = "unpack it and name one file",
    };
}

}  // namespace mercer::formats
