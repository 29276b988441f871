// gzip, written and read in pieces of any size; damage is seen.
#include "mercer/base/detail/deflate.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "mercer/base/random.hpp"

namespace mercer {
namespace {

class TextOutput : public Output {
   public:
    void write(std::string_view bytes) override { text += bytes; }
    std::string text{};
};

std::string packed(const std::string& text) {
    TextOutput out;
    GzipOutput gzip(out);
    // In uneven pieces.
    for (std::size_t at = 0, size = 1; at < text.size(); at += size, size = 3 * size + 1) {
        gzip.write(std::string_view(text).substr(at, size));
    }
    gzip.finish();
    return out.text;
}

struct Unpacked {
    std::string text{};
    bool finished = false;
};
Unpacked unpacked(std::string_view bytes, std::size_t piece, std::size_t room) {
    Inflater inflater(Inflater::Form::gzip);
    Unpacked result;
    std::string buffer(room, '\0');
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
        inflater.feed(bytes.substr(0, piece));
        while (const std::size_t count = inflater.take(buffer.data(), room)) {
            result.text.append(buffer, 0, count);
        }
    }
    result.finished = inflater.finished();
    return result;
}

std::string sample_text(std::size_t size) {
    Random random(1);
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += static_cast<char>('a' + random.below(1 + i % 26));
    }
    return text;
}

TEST(Deflate, ComesBackWhateverThePieces) {
    for (const std::size_t size : {0U, 1U, 100U, 300000U}) {
        const std::string text = sample_text(size);
        const std::string bytes = packed(text);
        EXPECT_EQ(bytes, packed(text));
        EXPECT_EQ(bytes.substr(0, 2), "\x1f\x8b");
        for (const std::size_t piece : {1U, 7U, 100000U}) {
            if (size == 300000U && piece == 1U) continue;
            const Unpacked back = unpacked(bytes, piece, piece == 7U ? 3U : 65536U);
            EXPECT_EQ(back.text, text);
            EXPECT_TRUE(back.finished);
        }
    }
}

TEST(Deflate, FilesOneAfterAnotherAreOneAndPaddingIsNone) {
    const std::string bytes = packed("first ") + packed("second");
    for (const std::size_t piece : {1U, 1000U}) {
        EXPECT_EQ(unpacked(bytes, piece, 100).text, "first second");
        const Unpacked padded = unpacked(bytes + std::string(512, '\0'), piece, 100);
        EXPECT_EQ(padded.text, "first second");
        EXPECT_TRUE(padded.finished);
    }
}

TEST(Deflate, DamageAndLossAreSeen) {
    const std::string text = sample_text(5000);
    const std::string bytes = packed(text);
    EXPECT_FALSE(unpacked(bytes.substr(0, bytes.size() - 1), 1000, 1000).finished);
    EXPECT_FALSE(unpacked(bytes.substr(0, bytes.size() / 2), 1000, 1000).finished);
    std::size_t seen = 0;
    std::size_t tried = 0;
    for (std::size_t at = 12; at < bytes.size(); at += 7, ++tried) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        try {
            // The bits after the last block up to the next byte mean nothing.
            const Unpacked back = unpacked(damaged, 1000, 1000);
            if (!back.finished || back.text == text) ++seen;
        } catch (const std::runtime_error&) {
            ++seen;
        }
    }
    EXPECT_EQ(seen, tried);
}

TEST(Deflate, HasTheCheckSumOfZip) {
    EXPECT_EQ(crc32_of(0, "123456789"), 0xCBF43926U);
    EXPECT_EQ(crc32_of(crc32_of(0, "1234"), "56789"), 0xCBF43926U);
}

}  // namespace
}  // namespace mercer
