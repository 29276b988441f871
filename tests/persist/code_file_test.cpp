// Files of codes: there and back, and damaged ones.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "data/support.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/persist/code_file.hpp"
#include "mercer/persist/detail/checksum.hpp"
#include "mercer/picture/image.hpp"

namespace mercer {
namespace {

using testing::full;

CodeFile random_codes(std::size_t codes, std::size_t rows) {
    Random random(codes);
    std::vector<float> values(codes * 3);
    for (float& v : values) v = static_cast<float>(random.normal());
    CodeFile file{.codes = Rows::dense(std::move(values), 3), .radius = 0.25};
    for (std::size_t i = 0; i < rows; ++i) file.index.push_back(random.below(codes));
    return file;
}

Image random_image(std::size_t height, std::size_t width, std::size_t channels) {
    Random random(height + width);
    Image image = Image::filled(height, width, channels, 0);
    for (std::uint8_t& pixel : image.pixels) pixel = static_cast<std::uint8_t>(random.below(256));
    return image;
}

TEST(CodeFile, ReadsBackWhatWasWritten) {
    for (const std::size_t codes : {1U, 2U, 3U, 16U, 17U, 1000U}) {
        const CodeFile file = random_codes(codes, 77);
        const std::string bytes = codes_to_memory(file);
        const CodeFile back = codes_from_memory(bytes);
        EXPECT_EQ(back.index, file.index);
        EXPECT_EQ(back.radius, 0.25);
        EXPECT_EQ(full(back.codes), full(file.codes));
        EXPECT_FALSE(back.is_image());
        EXPECT_EQ(codes_to_memory(back), bytes);
    }
}

// One code needs no bytes for the numbers of rows, of which 68 bytes once claimed 2^28.
TEST(CodeFile, RowsThatTakeNoBytesAreBounded) {
    CodeFile file{.codes = Rows::dense(std::vector<float>{1}, 1)};
    file.index.assign(1000, 0);
    std::string bytes = codes_to_memory(file);
    EXPECT_EQ(codes_from_memory(bytes).index.size(), 1000U);
    const std::uint64_t rows = std::uint64_t{1} << 28;
    std::memcpy(bytes.data() + 24, &rows, sizeof rows);
    persist::Checksum sum;
    sum.add(std::string_view(bytes).substr(16));
    const std::uint32_t checksum = sum.value();
    std::memcpy(bytes.data() + 12, &checksum, sizeof checksum);
    try {
        codes_from_memory(bytes, "small.vq");
        FAIL() << "accepted";
    } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find("268435456 codes would take 2048 MB"),
                  std::string::npos)
            << error.what();
    }
}

TEST(CodeFile, APictureInSquares) {
    for (const auto& [height, width, channels] :
         {std::array<std::size_t, 3>{16, 24, 3}, {13, 21, 1}, {5, 40, 3}}) {
        const Image image = random_image(height, width, channels);
        const Rows blocks = image_blocks(image, 8);
        EXPECT_EQ(blocks.size(), (height + 7) / 8 * ((width + 7) / 8));
        EXPECT_EQ(image_from_blocks(blocks, height, width, channels, 8).pixels, image.pixels);
        CodeFile file{
            .codes = blocks, .height = height, .width = width, .channels = channels, .side = 8};
        for (std::size_t i = 0; i < blocks.size(); ++i) file.index.push_back(i);
        const CodeFile back = codes_from_memory(codes_to_memory(file));
        EXPECT_EQ(image_from_blocks(back.decoded(), height, width, channels, 8).pixels,
                  image.pixels);
    }
    EXPECT_THROW(image_blocks(random_image(8, 8, 1), 0), InvalidInput);
    EXPECT_THROW(image_from_blocks(image_blocks(random_image(8, 8, 1), 4), 9, 8, 1, 4),
                 InvalidInput);
}

TEST(CodeFile, DamageIsFound) {
    const std::string bytes = codes_to_memory(random_codes(20, 50));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string broken = bytes;
        broken[i] = static_cast<char>(broken[i] ^ 0x41);
        EXPECT_THROW(codes_from_memory(broken), InvalidInput) << "byte " << i;
        EXPECT_THROW(codes_from_memory(std::string_view(bytes).substr(0, i)), InvalidInput);
    }
    CodeFile wrong = random_codes(4, 5);
    wrong.index[2] = 4;
    EXPECT_THROW(codes_to_memory(wrong), InvalidInput);
    EXPECT_THROW(codes_to_memory({}), InvalidInput);
}

}  // namespace
}  // namespace mercer
