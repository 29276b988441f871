// Which format a file is in, from its first bytes.
#include <algorithm>

#include "mercer/base/text.hpp"
#include "mercer/data/format-inl.hpp"

namespace mercer::formats {
namespace {

/// "12:" with something behind it that could be a value.
bool is_entry(std::string_view word) {
    const std::size_t colon = word.find_first_not_of("0123456789");
    return colon != 0 && colon != std::string_view::npos && word[colon] == ':';
}

/// True when the line looks like LIBSVM text. Mistakes in it should not hide that, so any word
/// after the first that begins like an entry will do; the first word must be one all through,
/// because a table may begin with a time of day.
bool is_libsvm_line(std::string_view line) {
    bool first = true;
    while (true) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos || line[begin] == '#') return false;
        line.remove_prefix(begin);
        const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
        const std::string_view word = line.substr(0, end);
        line.remove_prefix(end);
        const bool entry = is_entry(word);
        if (entry && !first) return true;
        if (entry && parse_number(word.substr(word.find(':') + 1))) return true;
        if (first && word.find_first_of(";\"") != std::string_view::npos) return false;
        first = false;
    }
}

[[noreturn]] void refuse_binary(const Input& input) {
    const std::string found = quoted(input.bytes.substr(0, 8));
    const bool tar = input.bytes.size() > 262 && input.bytes.substr(257, 5) == "ustar";
    fail(input, (tar ? "found a tar archive" : "found binary data that begins with " + found) +
                    ", expected LIBSVM text, CSV, TSV, NPY, NPZ or idx" +
                    (tar ? "; unpack it and name one file" : ""));
}

}  // namespace

FileFormat detect_format(const Input& input) {
    const std::string_view bytes = input.bytes;
    if (bytes.starts_with("\x93NUMPY")) return FileFormat::npy;
    if (bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6")) return FileFormat::npz;
    if (bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0 && bytes[2] >= 8 && bytes[2] <= 14 &&
        bytes[3] != 0) {
        return FileFormat::idx;
    }
    const std::string_view head = bytes.substr(0, std::size_t{1} << 16);
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && (c < '\t' || c > '\r');
    };
    const std::string_view start = bytes.substr(0, 512);
    const bool wide = bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
    if (!wide && (head.find('\0') != std::string_view::npos ||
                  std::any_of(start.begin(), start.end(), is_control))) {
        refuse_binary(input);
    }

    // A row may have a label and no entry, so one line does not decide.
    std::size_t begin = 0;
    for (int lines = 0; lines < 100 && begin < head.size(); ++lines) {
        const std::size_t end = std::min(head.find('\n', begin), head.size());
        std::string_view line = head.substr(begin, end - begin);
        if (begin == 0 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
        const std::size_t first = line.find_first_not_of(" \t\r");
        if (first != std::string_view::npos &&
            (line[first] == '%' || line.substr(first).starts_with("@relation"))) {
            fail(input, "found an ARFF file, expected LIBSVM text, CSV, TSV, NPY, NPZ or idx");
        }
        if (is_libsvm_line(line)) return FileFormat::libsvm;
        begin = end + 1;
    }
    // The separator of a table is found with its layout.
    return FileFormat::automatic;
}

}  // namespace mercer::formats
