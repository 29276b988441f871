#include "mercer/picture/image.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/support.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

using testing::Folder;
using testing::message_of;

void append_big_endian(std::string& bytes, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<char>(value >> shift & 0xFF));
    }
}

/// The checksum of PNG's chunks, a bit at a time.
std::uint32_t crc(std::string_view bytes) {
    std::uint32_t state = 0xFFFFFFFF;
    for (const char c : bytes) {
        state ^= static_cast<unsigned char>(c);
        for (int k = 0; k < 8; ++k) state = (state >> 1) ^ (state & 1 ? 0xEDB88320 : 0);
    }
    return ~state;
}

std::string chunk(std::string_view type, std::string_view content) {
    std::string bytes;
    append_big_endian(bytes, static_cast<std::uint32_t>(content.size()));
    const std::string checked = std::string(type) + std::string(content);
    bytes += checked;
    append_big_endian(bytes, crc(checked));
    return bytes;
}

/// A zlib stream of stored blocks: nothing is compressed.
std::string stored(std::string_view content) {
    std::string bytes("\x78\x01\x01", 3);
    const auto length = static_cast<std::uint16_t>(content.size());
    for (const auto half : {length, static_cast<std::uint16_t>(~length)}) {
        bytes.push_back(static_cast<char>(half & 0xFF));
        bytes.push_back(static_cast<char>(half >> 8));
    }
    bytes += content;
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char c : content) {
        a = (a + static_cast<unsigned char>(c)) % 65521;
        b = (b + a) % 65521;
    }
    append_big_endian(bytes, b << 16 | a);
    return bytes;
}

/// A PNG made by hand: `lines` has the filter byte (0) at the head of every row.
std::string png(std::uint32_t width, std::uint32_t height, int depth, int colour,
                std::string_view lines, std::string_view before_data = {}) {
    std::string head;
    append_big_endian(head, width);
    append_big_endian(head, height);
    head += {static_cast<char>(depth), static_cast<char>(colour), 0, 0, 0};
    return "\x89PNG\r\n\x1A\n" + chunk("IHDR", head) + std::string(before_data) +
           chunk("IDAT", stored(lines)) + chunk("IEND", "");
}

template <std::size_t N>
std::string_view bytes_of(const char (&text)[N]) {
    return {text, N - 1};
}

Image noise(std::size_t height, std::size_t width, std::size_t channels) {
    Random random(7);
    Image image = Image::filled(height, width, channels, 0);
    for (std::uint8_t& pixel : image.pixels) pixel = static_cast<std::uint8_t>(random.below(256));
    return image;
}

void expect_same(const Image& a, const Image& b) {
    EXPECT_EQ(a.height, b.height);
    EXPECT_EQ(a.width, b.width);
    EXPECT_EQ(a.channels, b.channels);
    EXPECT_EQ(a.pixels, b.pixels);
}

using Bytes = std::vector<std::uint8_t>;

TEST(Images, WhatIsWrittenReadsBackEqual) {
    const Folder folder;
    for (const std::size_t channels : {1U, 3U}) {
        const Image image = noise(13, 31, channels);
        for (const char* name : {"a.png", "a.pnm", "a.pnm.gz", channels == 1 ? "a.pgm" : "a.ppm"}) {
            write_image(image, folder.file(name));
            expect_same(read_image(folder.file(name)), image);
        }
    }
}

TEST(Images, PngOfEveryKind) {
    // Grey, 8 bits.
    EXPECT_EQ(decode_image(png(2, 1, 8, 0, bytes_of("\0\x10\xF0")), "t").pixels,
              (Bytes{0x10, 0xF0}));
    // Grey, 1 bit: 1 0 1.
    EXPECT_EQ(decode_image(png(3, 1, 1, 0, bytes_of("\0\xA0")), "t").pixels, (Bytes{255, 0, 255}));
    // Grey, 16 bits: 0x8080 is half way, as 0x80 is.
    EXPECT_EQ(decode_image(png(2, 1, 16, 0, bytes_of("\0\x80\x80\xFF\xFF")), "t").pixels,
              (Bytes{0x80, 255}));
    // RGB.
    const Image rgb = decode_image(png(1, 2, 8, 2, bytes_of("\0\1\2\3\0\4\5\6")), "t");
    EXPECT_EQ(rgb.channels, 3U);
    EXPECT_EQ(rgb.pixels, (Bytes{1, 2, 3, 4, 5, 6}));
    // A palette of two colours.
    const std::string palette = chunk("PLTE", bytes_of("\x09\x08\x07\xFF\x00\x10"));
    EXPECT_EQ(decode_image(png(2, 1, 8, 3, bytes_of("\0\1\0"), palette), "t").pixels,
              (Bytes{255, 0, 16, 9, 8, 7}));
    // Transparency lies over white: opaque black stays, clear black is gone.
    EXPECT_EQ(decode_image(png(2, 1, 8, 4, bytes_of("\0\0\xFF\0\0")), "t").pixels, (Bytes{0, 255}));
    EXPECT_EQ(decode_image(png(1, 1, 8, 6, bytes_of("\0\1\2\3\xFF")), "t").pixels,
              (Bytes{1, 2, 3}));
}

TEST(Images, PnmOfEveryKind) {
    EXPECT_EQ(decode_image("P2 # grey\n2 2\n15\n0 15\n5 10\n", "t").pixels,
              (Bytes{0, 255, 85, 170}));
    const Image colour = decode_image("P3\n1 2 255 1 2 3 4 5 6", "t");
    EXPECT_EQ(colour.height, 2U);
    EXPECT_EQ(colour.pixels, (Bytes{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(decode_image("P5 2 1 255\nAB", "t").pixels, (Bytes{'A', 'B'}));
    EXPECT_EQ(decode_image("P6 1 1 255 \nB!", "t").pixels, (Bytes{'\n', 'B', '!'}))
        << "one white space ends the head, the next is a sample";
    EXPECT_EQ(decode_image(bytes_of("P5 2 1 65535\n\xFF\xFF\x80\x80"), "t").pixels,
              (Bytes{255, 128}));
}

TEST(Images, CutShortAnywhereIsAnError) {
    const Folder folder;
    const Image image = noise(9, 9, 3);
    for (const char* name : {"a.png", "a.ppm"}) {
        write_image(image, folder.file(name));
        const std::string whole = testing::content_of(folder.file(name));
        // The end mark of a PNG is no part of the picture: what lacks only that may be taken.
        const std::size_t marked = std::string_view(name) == "a.png" ? 12 : 0;
        for (std::size_t size = 0; size + marked < whole.size(); ++size) {
            EXPECT_NE(message_of([&] { decode_image(whole.substr(0, size), name); }), "")
                << name << " cut to " << size;
        }
    }
    EXPECT_NE(message_of([] { decode_image("P2 3 1 255 1 2", "t"); }), "");
    EXPECT_NE(message_of([] { decode_image("P2 3", "t"); }).find("ends before the height"),
              std::string::npos);
}

TEST(Images, DamageIsAnErrorOrAPicture) {
    const Folder folder;
    write_image(noise(9, 9, 3), folder.file("a.png"));
    const std::string whole = testing::content_of(folder.file("a.png"));
    Random random(3);
    std::size_t refused = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string damaged = whole;
        damaged[random.below(damaged.size())] ^= static_cast<char>(1 + random.below(255));
        // Nothing but InvalidInput may come out of it.
        refused += message_of([&] { decode_image(damaged, "damaged").check(); }).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 1500U) << "the checksums see nearly all of it";
}

TEST(Images, AbsurdSizesAreRefusedBeforeAnythingIsAllocated) {
    const std::string huge = png(0x40000000, 0x40000000, 8, 0, bytes_of("\0\1"));
    EXPECT_NE(message_of([&] { decode_image(huge, "huge.png"); }), "");
    const std::string large = png(16000, 16000, 8, 0, bytes_of("\0\1"));
    EXPECT_NE(message_of([&] { decode_image(large, "large.png"); }).find("bytes can hold"),
              std::string::npos);
    EXPECT_NE(message_of([] { decode_image("P5 99999999 99999999 255\n", "t"); }).find("at most"),
              std::string::npos);
    EXPECT_NE(message_of([] { decode_image("P5 16000 16000 255\nA", "t"); }).find("cut short"),
              std::string::npos);
    EXPECT_NE(message_of([] { decode_image("P2 16000 16000 255\n1", "t"); }).find("cut short"),
              std::string::npos);
    EXPECT_NE(message_of([] { decode_image("P5 99999999999999999999999 1 255\n", "t"); }), "");
}

TEST(Images, OtherFormatsAreCalledByTheirNames) {
    const auto message = [](std::string_view bytes) {
        return message_of([&] { decode_image(bytes, "photo"); });
    };
    EXPECT_EQ(message("\xFF\xD8\xFF\xE0"),
              "photo: found a JPEG picture, expected PNG or PNM (P2, P3, P5, P6); convert it to "
              "PNG");
    EXPECT_NE(message("GIF89a").find("a GIF"), std::string::npos);
    EXPECT_NE(message("RIFF1234WEBP").find("a WebP"), std::string::npos);
    EXPECT_NE(message("P4 8 1 x").find("PBM"), std::string::npos);
    EXPECT_NE(message("1,2,3\n").find("begin with '1,2,3"), std::string::npos);
    EXPECT_NE(message("").find("is empty"), std::string::npos);
    EXPECT_NE(message("P5 x 1 255 A").find("'x' where the width"), std::string::npos);
    EXPECT_NE(message("P5 1 1 70000 A").find("1 to 65535"), std::string::npos);
    EXPECT_NE(message("P2 1 1 9 10").find("a sample of 10"), std::string::npos);
    EXPECT_NE(message("P5 0 4 255 ").find("no pixels"), std::string::npos);
}

TEST(Images, NamesThatDoNotFitAreRefusedAndNothingIsLeft) {
    const Folder folder;
    const Image grey = noise(2, 2, 1);
    EXPECT_NE(message_of([&] { write_image(grey, folder.file("a.jpg")); }), "");
    EXPECT_NE(message_of([&] { write_image(grey, folder.file("a.ppm")); }), "");
    EXPECT_NE(message_of([&] { write_image(Image{}, folder.file("a.png")); }), "");
    Image wrong = grey;
    wrong.pixels.pop_back();
    EXPECT_NE(message_of([&] { write_image(wrong, folder.file("a.png")); }), "");
    EXPECT_EQ(folder.count(), 0U);
}

TEST(Images, SheetsGreyAndValues) {
    const std::vector<Image> three(3, Image::filled(2, 3, 1, 7));
    const Image sheet = contact_sheet(three, 2, 1);
    EXPECT_EQ(sheet.height, 5U);
    EXPECT_EQ(sheet.width, 7U);
    EXPECT_EQ(sheet.at(4, 2), 7);
    EXPECT_EQ(sheet.at(2, 2), 255) << "the gap";
    EXPECT_EQ(sheet.at(4, 4), 255) << "no fourth picture";
    const std::vector<Image> mixed{Image::filled(2, 3, 1, 7), Image::filled(3, 2, 1, 7)};
    EXPECT_NE(message_of([&] { contact_sheet(mixed, 2); }), "");

    Image red = Image::filled(1, 1, 3, 0);
    red.at(0, 0, 0) = 255;
    EXPECT_EQ(grey_image(red).pixels, Bytes{76});
    EXPECT_EQ(image_of_values(std::vector<double>{-1, 0, 1, 5}, 2, 2, -1, 1).pixels,
              (Bytes{0, 128, 255, 255}));
}

TEST(Images, RealPhotographs) {
    MERCER_NEEDS_DATA(photo, "images/kodim23.png");
    const Image image = read_image(photo);
    EXPECT_EQ(image.height * image.width, 768U * 512U);
    EXPECT_EQ(image.channels, 3U);
    MERCER_NEEDS_DATA(camera, "images/camera.pgm");
    EXPECT_EQ(read_image(camera).channels, 1U);
}

}  // namespace
}  // namespace mercer
