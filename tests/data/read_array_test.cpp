#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>

#include "data/support.hpp"
#include "mercer/data/formats/detail/zip.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/write.hpp"

namespace mercer {
namespace {

using testing::Folder;
using testing::full;
using testing::message_of;
using testing::texts;
using Values = std::vector<std::vector<double>>;
using Names = std::vector<std::string>;

template <class T>
std::string bytes_of(T value, bool big_endian) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    if (big_endian != (std::endian::native == std::endian::big)) {
        std::reverse(bytes.begin(), bytes.end());
    }
    return bytes;
}

/// An .npy file by hand.
std::string npy(const std::string& header, const std::string& numbers, char version = 1) {
    std::string text("\x93NUMPY", 6);
    text += version;
    text += '\0';
    const auto length = static_cast<std::uint32_t>(header.size());
    text += version == 1 ? bytes_of(static_cast<std::uint16_t>(length), false)
                         : bytes_of(length, false);
    return text + header + numbers;
}

std::string dictionary(const std::string& type, const std::string& shape, bool fortran = false) {
    return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
           ", 'shape': " + shape + ", }\n";
}

/// 1 … count as elements of type T.
template <class T>
std::string counting(int count, bool big_endian = false) {
    std::string text;
    for (int k = 1; k <= count; ++k) text += bytes_of(static_cast<T>(k), big_endian);
    return text;
}

const Values two_by_three{{1, 2, 3}, {4, 5, 6}};

TEST(ReadNpy, EveryKindOfNumber) {
    const std::vector<std::pair<std::string, std::string>> kinds{
        {"|u1", counting<std::uint8_t>(6)},  {"|i1", counting<std::int8_t>(6)},
        {"<u2", counting<std::uint16_t>(6)}, {"<i2", counting<std::int16_t>(6)},
        {"<u4", counting<std::uint32_t>(6)}, {"<i4", counting<std::int32_t>(6)},
        {"<u8", counting<std::uint64_t>(6)}, {"<i8", counting<std::int64_t>(6)},
        {"<f4", counting<float>(6)},         {"<f8", counting<double>(6)},
        {">f8", counting<double>(6, true)},  {">i2", counting<std::int16_t>(6, true)}};
    for (const auto& [type, numbers] : kinds) {
        for (const char version : {'\1', '\2', '\3'}) {
            const Dataset data = read_text(npy(dictionary(type, "(2, 3)"), numbers, version));
            EXPECT_EQ(full(data.x), two_by_three) << type;
            EXPECT_TRUE(data.y.empty());
        }
    }
    const std::string half = bytes_of<std::uint16_t>(0x3C00, false) +  // 1
                             bytes_of<std::uint16_t>(0xC500, false) +  // -5
                             bytes_of<std::uint16_t>(0x0001, false);   // 2^-24
    EXPECT_EQ(full(read_text(npy(dictionary("<f2", "(1, 3)"), half)).x),
              (Values{{1, -5, 0x1p-24}}));
    const std::string flags("\1\0\1\0", 4);
    EXPECT_EQ(full(read_text(npy(dictionary("|b1", "(2, 2)"), flags)).x), (Values{{1, 0}, {1, 0}}));
}

TEST(ReadNpy, ShapesAndOrders) {
    const std::string six = counting<double>(6);
    EXPECT_EQ(full(read_text(npy(dictionary("<f8", "(6,)"), six)).x).size(), 6U);
    EXPECT_EQ(full(read_text(npy(dictionary("<f8", "(3, 2)", true), six)).x),
              (Values{{1, 4}, {2, 5}, {3, 6}}));
    // numpy.asfortranarray(a).ravel('F') of shape (2, 3, 2): element (i, j, k) is at i + 2j + 6k.
    Values expected(2);
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 2; ++k) {
                expected[static_cast<std::size_t>(i)].push_back(1 + i + 2 * j + 6 * k);
            }
        }
    }
    EXPECT_EQ(full(read_text(npy(dictionary("<f8", "(2, 3, 2)", true), counting<double>(12))).x),
              expected);
}

TEST(ReadNpy, LabelsFromAColumnOrAnotherFile) {
    const std::string array = npy(dictionary("<f8", "(2, 3)"), counting<double>(6));
    const Dataset last = read_text(array, "t", {.label = "last"});
    EXPECT_EQ(last.y.values, (std::vector<double>{3, 6}));
    EXPECT_EQ(full(last.x), (Values{{1, 2}, {4, 5}}));
    std::string letters;
    for (const std::uint32_t point : {0x61U, 0U, 0x3B1U, 0x62U}) letters += bytes_of(point, false);
    const Folder folder;
    const std::string labels = folder.file("y.npy", npy(dictionary("<U2", "(2,)"), letters));
    EXPECT_EQ(texts(read_text(array, "t", {.labels_file = labels}).y), (Names{"a", "αb"}));
}

TEST(ReadNpy, MissingInfiniteAndTooLarge) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::string holes =
        bytes_of(nan, false) + bytes_of(2.0, false) + bytes_of(4.0, false) + bytes_of(6.0, false);
    const std::string array = npy(dictionary("<f8", "(2, 2)"), holes);
    EXPECT_EQ(message_of([&] { read_text(array, "t"); }),
              "t: array: row 1, column 1: found nan, expected a number; to fill in missing values "
              "set `missing=mean`, median or zero");
    EXPECT_EQ(full(read_text(array, "t", {.missing = MissingValues::mean}).x),
              (Values{{4, 2}, {4, 6}}));
    const std::string infinite =
        npy(dictionary("<f8", "(1,)"), bytes_of(std::numeric_limits<double>::infinity(), false));
    EXPECT_EQ(message_of([&] { read_text(infinite, "t", {.missing = MissingValues::zero}); }),
              "t: array: row 1, column 1: found inf, expected a finite number");
    const std::string large = npy(dictionary("<f8", "(1,)"), bytes_of(1e300, false));
    EXPECT_EQ(full(read_text(large, "t").x), (Values{{1e300}}));
}

TEST(ReadNpy, HeadersThatLieAreRefusedBeforeMemoryIsAsked) {
    const std::string six = counting<double>(6);
    for (const char* shape :
         {"(3, 3)", "(1000000000000, 1000)", "(18446744073709551615, 18446744073709551615)",
          "(0, 3)", "(0, 18446744073709551615, 18446744073709551615)", "(2, 2)", "(-1, 6)",
          "(99999999999999999999, 1)", "(2, 3", "2, 3)", "(2 3)"}) {
        const std::string message =
            message_of([&] { read_text(npy(dictionary("<f8", shape), six), "t"); });
        EXPECT_TRUE(message.starts_with("t: ")) << shape << ": " << message;
    }
    for (const char* type :
         {"|O", "<c16", "<f3", "<x8", "f8", "<", "<U0", "|S99999999999999999999"}) {
        EXPECT_NE(message_of([&] { read_text(npy(dictionary(type, "(6,)"), six), "t"); }), "")
            << type;
    }
    const std::string whole = npy(dictionary("<f8", "(2, 3)"), six);
    for (std::size_t length = 6; length < whole.size(); ++length) {
        EXPECT_NE(message_of([&] { read_text(whole.substr(0, length), "t"); }), "") << length;
    }
    EXPECT_NE(message_of([&] { read_text(whole + "x", "t"); }), "");
}

/// Damage of every single byte must end in an error or in data, never worse.
TEST(ReadNpy, DamagedBytesDoNoHarm) {
    const std::string whole = npy(dictionary("<f8", "(2, 3)"), counting<double>(6));
    for (std::size_t place = 0; place < whole.size() - 48; ++place) {
        for (const char byte : {'\0', '9', '\xFF', '(', '\''}) {
            std::string damaged = whole;
            damaged[place] = byte;
            message_of([&] { read_text(damaged, "t"); });
        }
    }
}

Dataset small() {
    Dataset data;
    data.x = Rows::dense(std::vector<double>{1, 0, 3, 0, 5, 6}, 3);
    data.y = {.values = {1, 0}, .names = {"b", "a"}};
    data.weights = {2, 3};
    data.feature_names = {"p", "q", "r"};
    return data;
}

TEST(ReadNpz, ArraysGoByTheirNames) {
    const Folder folder;
    for (const bool sparse : {false, true}) {
        Dataset data = small();
        if (sparse) data.x = data.x.to_sparse();
        const std::string path = folder.file("data.npz");
        write(data, path);
        const Dataset back = read(path, {.double_precision = true});
        testing::expect_equal(back, data);
        EXPECT_EQ(back.x.is_sparse(), sparse);
        EXPECT_EQ(back.feature_names, data.feature_names);
        EXPECT_EQ(back.y.names, data.y.names);
    }
}

TEST(ReadNpz, DamageIsReported) {
    const Folder folder;
    const std::string path = folder.file("data.npz");
    write(small(), path);
    const std::string whole = testing::content_of(path);
    for (std::size_t length = 4; length < whole.size(); length += 7) {
        EXPECT_NE(message_of([&] { read_text(whole.substr(0, length), "t"); }), "") << length;
    }
    for (std::size_t place = 4; place < whole.size(); ++place) {
        std::string damaged = whole;
        damaged[place] = static_cast<char>(damaged[place] ^ 0x55);
        message_of([&] { read_text(damaged, "t"); });
    }
}

std::string idx(char type, const std::vector<std::uint32_t>& shape, const std::string& numbers) {
    std::string text("\0\0", 2);
    text += type;
    text += static_cast<char>(shape.size());
    for (const std::uint32_t extent : shape) text += bytes_of(extent, true);
    return text + numbers;
}

TEST(ReadIdx, EveryKindOfNumber) {
    EXPECT_EQ(full(read_text(idx(8, {2, 3}, counting<std::uint8_t>(6))).x), two_by_three);
    EXPECT_EQ(full(read_text(idx(9, {2, 3}, counting<std::int8_t>(6))).x), two_by_three);
    EXPECT_EQ(full(read_text(idx(11, {2, 3}, counting<std::int16_t>(6, true))).x), two_by_three);
    EXPECT_EQ(full(read_text(idx(12, {2, 3}, counting<std::int32_t>(6, true))).x), two_by_three);
    EXPECT_EQ(full(read_text(idx(13, {2, 3, 1}, counting<float>(6, true))).x), two_by_three);
    EXPECT_EQ(full(read_text(idx(14, {2, 1, 3}, counting<double>(6, true))).x), two_by_three);
}

TEST(ReadIdx, LabelsAreFoundBesideTheImages) {
    const std::string images = idx(8, {2, 1, 3}, counting<std::uint8_t>(6));
    const std::string labels = idx(8, {2}, "\7\11");
    const std::vector<double> expected{7, 9};
    for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
             {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
             {"t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"}}) {
        const Folder folder;
        const std::string path = folder.file(first, images);
        EXPECT_TRUE(read(path).y.empty());
        folder.file(second, labels);
        EXPECT_EQ(read(path).y.values, expected);
        EXPECT_TRUE(read(path, {.label = "none"}).y.empty());
        const std::string other = folder.file("other", idx(8, {3}, "abc"));
        EXPECT_NE(message_of([&] { read(path, {.labels_file = other}); }), "");
        folder.file(second, idx(8, {3}, "abc"));
        EXPECT_NE(message_of([&] { read(path); }).find("found 3 labels, expected 2"),
                  std::string::npos);
    }
}

TEST(ReadIdx, HeadersThatLieAreRefusedBeforeMemoryIsAsked) {
    const std::string numbers = counting<std::uint8_t>(6);
    EXPECT_EQ(message_of([&] {
                  read_text(idx(8, {2, 4}, numbers), "t");
              }),
              "t: array: found 6 bytes of numbers, expected 2 x 4 elements of 1 bytes; the file is "
              "cut short or its header is wrong");
    EXPECT_EQ(message_of([&] {
                  read_text(idx(8, {2, 2}, numbers), "t");
              }),
              "t: array: found 2 bytes too many behind 2 x 2 elements of 1 bytes");
    EXPECT_NE(
        message_of([&] {
            read_text(idx(14, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, numbers), "t");
        }),
        "");
    EXPECT_NE(message_of([&] { read_text(idx(8, {0, 6}, ""), "t"); }), "");
    EXPECT_NE(message_of([&] { read_text(idx(10, {2, 3}, numbers), "t"); }), "");
    const std::string whole = idx(8, {2, 3}, numbers);
    for (std::size_t length = 4; length < whole.size(); ++length) {
        EXPECT_NE(message_of([&] { read_text(whole.substr(0, length), "t"); }), "") << length;
    }
}

TEST(Zip, WhatIsStoredAsItIsIsNotCopied) {
    struct Archive : Output {
        std::string bytes;
        void write(std::string_view more) override { bytes += more; }
    } archive;
    formats::ZipWriter zip(archive);
    zip.add("a", "one");
    zip.add("b", std::string(1000, 'x'));
    zip.finish();
    const auto entries = formats::zip_directory(archive.bytes);
    ASSERT_EQ(entries.size(), 2U);
    const formats::Unzipped second = formats::unzip(archive.bytes, entries[1], [] {});
    EXPECT_EQ(second.bytes, std::string(1000, 'x'));
    EXPECT_GE(second.bytes.data(), archive.bytes.data());
    EXPECT_LE(second.bytes.data() + 1000, archive.bytes.data() + archive.bytes.size());
    archive.bytes[static_cast<std::size_t>(second.bytes.data() - archive.bytes.data())] = 'y';
    EXPECT_THROW(formats::unzip(archive.bytes, entries[1], [] {}), std::runtime_error);
}

}  // namespace
}  // namespace mercer
