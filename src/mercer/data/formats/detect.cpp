// Which format a file is in: the one the options name, else the one that its content tells.
#include <algorithm>

#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/input.hpp"
#include "mercer/data/source.hpp"

namespace mercer::formats {
namespace {

constexpr std::size_t head_bytes = std::size_t{1} << 16;

std::string readable_titles() {
    return listed_formats(
        [](const Format& f) {
            return f.read != nullptr && f.recognise != nullptr && f.kind != Format::Kind::folder;
        },
        &Format::title);
}

/// The format of this kind that recognises the input best.
const Format* recognised(const Input& input, Format::Kind kind) {
    const Format* best = nullptr;
    Match highest;
    for (const Format* format : all_formats()) {
        if (format->kind != kind || format->recognise == nullptr) continue;
        const Match match = format->recognise(input);
        const bool surer = match.certainty > highest.certainty;
        const bool earlier = match.certainty == highest.certainty && match.line < highest.line;
        if (!surer && !(best != nullptr && earlier)) continue;
        best = format;
        highest = match;
    }
    if (best != nullptr && best->read == nullptr) {
        fail(input, "found " + best->about + ", expected " + readable_titles() +
                        (best->remedy.empty() ? "" : "; " + best->remedy));
    }
    return best;
}

bool is_wide(std::string_view bytes) {
    return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

void refuse_binary(const Input& input) {
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && (c < '\t' || c > '\r');
    };
    const std::string_view head = input.bytes.substr(0, head_bytes);
    const std::string_view start = input.bytes.substr(0, 512);
    const bool binary = head.find('\0') != std::string_view::npos ||
                        std::any_of(start.begin(), start.end(), is_control);
    if (!binary || is_wide(input.bytes)) return;
    fail(input, "found binary data that begins with " + quoted(input.bytes.substr(0, 8)) +
                    ", expected " + readable_titles());
}

/// Without a byte order mark, and with a newline at its end. Only a text without one is copied.
void make_text(Input& input, Content& copy) {
    std::string_view& bytes = input.bytes;
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
    if (is_wide(bytes)) {
        fail(input, "found UTF-16 text, expected UTF-8; convert it with iconv");
    }
    if (bytes.ends_with('\n')) return;
    copy.append(bytes);
    copy.append("\n");
    bytes = copy.view();
}

}  // namespace

const Format& settle_format(Input& input, Content& copy) {
    const std::string& given = input.options.format;
    const Format* format = given.empty() ? recognised(input, Format::Kind::bytes)
                                         : &find_format(given, FormatUse::reading);
    if (format != nullptr && format->kind == Format::Kind::folder) {
        fail(input, "is a file, but " + format->title + " is a folder; name the folder");
    }
    if (format != nullptr && format->kind == Format::Kind::bytes) return *format;
    if (format == nullptr) refuse_binary(input);
    make_text(input, copy);
    if (format == nullptr) format = recognised(input, Format::Kind::text);
    if (format == nullptr) fail(input, "is in no format known; expected " + readable_titles());
    return *format;
}

const Format* folder_format(const Input& input) {
    const std::string& given = input.options.format;
    if (given.empty()) return recognised(input, Format::Kind::folder);
    const Format& format = find_format(given, FormatUse::reading);
    return format.kind == Format::Kind::folder ? &format : nullptr;
}

Match match_line(const Input& input, bool (*tells)(std::string_view line)) {
    const std::string_view head = input.bytes.substr(0, head_bytes);
    std::size_t begin = 0;
    for (std::size_t line = 0; line < 100 && begin < head.size(); ++line) {
        const std::size_t end = std::min(head.find('\n', begin), head.size());
        if (tells(head.substr(begin, end - begin))) return {Certainty::likely, line};
        begin = end + 1;
    }
    return {};
}

}  // namespace mercer::formats
