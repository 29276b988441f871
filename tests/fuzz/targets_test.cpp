// Every fuzz target, for a moment: its corpus as it is, then changed at random, always the same
// way. So none of them rots. `./dev check fuzz` runs them for as long as one likes;
// MERCER_FUZZ_ROUNDS does so here, without clang and blindly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/random.hpp"
#include "targets.hpp"  // written by CMake: the list `targets`

namespace mercer {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus_of(const std::string& name) {
    std::vector<fs::path> paths;
    const fs::path folder = fs::path(MERCER_SOURCE_DIRECTORY) / "fuzz/corpus" / name;
    if (fs::is_directory(folder)) {
        for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    std::vector<std::string> inputs;
    for (const fs::path& path : paths) {
        std::ifstream file(path, std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return inputs;
}

/// A few bytes taken out, put in, repeated or replaced.
std::string changed(std::string bytes, const std::vector<std::string>& others, Random& random) {
    constexpr std::string_view signs = "0123456789-+.,:;{}[]()\"\\\n\t #e";
    for (std::size_t edits = 1 + random.below(5); edits > 0; --edits) {
        const std::size_t at = random.below(bytes.size() + 1);
        const std::size_t count = std::min(1 + random.below(16), bytes.size() - at);
        const std::string& other = others[random.below(others.size())];
        const std::size_t from = random.below(other.size() + 1);
        switch (random.below(6)) {
            case 0: bytes.erase(at, count); break;
            case 1: bytes.insert(at, other.substr(from, 1 + random.below(24))); break;
            case 2:
                bytes.replace(at, count, std::string(count, static_cast<char>(random.below(256))));
                break;
            case 3:
                bytes.insert(at, std::to_string(random.below(std::size_t{1} << random.below(40))));
                break;
            case 4:
                if (at < bytes.size())
                    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
                break;
            default:
                if (at < bytes.size()) bytes[at] = signs[random.below(signs.size())];
        }
    }
    return bytes.substr(0, 4096);
}

class FuzzTarget : public ::testing::TestWithParam<fuzz::Target> {};

TEST_P(FuzzTarget, RefusesOrAnswers) {
    const auto run = [&](const std::string& bytes) {
        const int result =
            GetParam().run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        ASSERT_EQ(result, 0);
    };
    std::vector<std::string> inputs = corpus_of(GetParam().name);
    EXPECT_FALSE(inputs.empty()) << "fuzz/corpus/" << GetParam().name
                                 << " has nothing to begin with";
    inputs.emplace_back("");
    for (const std::string& input : inputs) run(input);
    Random random(17);
    const char* const wish = std::getenv("MERCER_FUZZ_ROUNDS");
    const int rounds = wish == nullptr ? 400 : std::atoi(wish);
    for (int round = 0; round < rounds; ++round) {
        run(changed(inputs[random.below(inputs.size())], inputs, random));
    }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTarget, ::testing::ValuesIn(fuzz::targets),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace mercer
