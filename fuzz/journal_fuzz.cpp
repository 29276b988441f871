// Made-up bytes as the journal of a search, behind its first line. A byte 0 at the end of a line
// stands for the checksum that is right.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "mercer/select/detail/journal.hpp"
#include "reader.hpp"

namespace {

std::string sealed_lines(std::string_view bytes) {
    std::string text = "mercer search journal 2 0000000000000007\n";
    std::size_t first = text.size();
    for (const char c : bytes) {
        if (c != '\0') {
            text += c;
        } else {
            mercer::Fingerprint sum;
            sum.add(std::string_view(text).substr(first));
            char digits[17];
            std::snprintf(digits, sizeof digits, "%016llx",
                          static_cast<unsigned long long>(sum.value()));
            text += digits;
            text += '\n';
        }
        if (text.back() == '\n') first = text.size();
    }
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::string path =
        (std::filesystem::temp_directory_path() / ("mercer-journal-" + std::to_string(getpid())))
            .string();
    std::ofstream(path, std::ios::binary) << sealed_lines(mercer::fuzz::view_of(data, size));
    try {
        const mercer::Journal journal(path, 7, 3);
        const auto score = journal.find(std::vector<double>{1, 1}, 40);
        if (score && !score->scores.empty() && score->scores.size() != 3) std::abort();
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    std::remove(path.c_str());
    return 0;
}
