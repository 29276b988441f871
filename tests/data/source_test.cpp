#include "mercer/data/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "data/support.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"

namespace mercer {
namespace {

using testing::Folder;
using testing::message_of;

/// Bytes that compress somewhat, of a length that is no multiple of anything.
std::string noise(std::size_t length) {
    Random random(1);
    std::string text(length, '\0');
    for (char& c : text) c = static_cast<char>('0' + random.below(16));
    return text;
}

TEST(Source, EveryCompressionIsKnownByItsContent) {
    const Folder folder;
    const std::string text = noise(1'000'001);
    for (const char* suffix : {"", ".gz", ".bz2", ".xz", ".zst"}) {
        const std::string path = folder.file(std::string("data") + suffix);
        write_whole(path, [&](Output& output) { output.write(text); });
        const std::string packed = testing::content_of(path);
        EXPECT_EQ(is_compressed(packed), *suffix != '\0') << suffix;
        const std::string plain = folder.file("no-suffix", packed);
        EXPECT_EQ(read_bytes(plain).view(), text) << suffix;
        if (*suffix == '\0') continue;
        EXPECT_LT(packed.size(), text.size());
        EXPECT_EQ(unpack(packed, "t").view(), text) << suffix;
        // Cut short anywhere: an error, or at the very least not the whole.
        for (const std::size_t part : {packed.size() / 7, packed.size() / 2, packed.size() - 3}) {
            EXPECT_NE(message_of([&] { unpack(packed.substr(0, part), "t"); }), "") << suffix;
        }
    }
}

TEST(Source, MembersOneAfterAnother) {
    const Folder folder;
    for (const char* name : {"a.gz", "b.gz"}) {
        write_whole(folder.file(name), [&](Output& output) { output.write("1,2\n3,4\n"); });
    }
    const std::string both =
        testing::content_of(folder.file("a.gz")) + testing::content_of(folder.file("b.gz"));
    EXPECT_EQ(read(folder.file("both.csv", both)).size(), 4U);
}

TEST(Source, PipesThatGiveAByteAtATime) {
    const Folder folder;
    write_whole(folder.file("a.gz"), [](Output& output) { output.write("1 1:2\n3 2:4\n"); });
    for (const std::string& content :
         {std::string("1 1:2\n3 2:4\n"), testing::content_of(folder.file("a.gz"))}) {
        const std::string path = folder.file("pipe");
        ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
        std::thread feeder([&] {
            const int pipe = open(path.c_str(), O_WRONLY);
            for (const char c : content) {
                if (::write(pipe, &c, 1) != 1) break;
            }
            close(pipe);
        });
        const Dataset data = read(path);
        feeder.join();
        EXPECT_EQ(data.y.values, (std::vector<double>{1, 3}));
        unlink(path.c_str());
    }
}

TEST(Source, ContentGrowsWithoutLosingAnything) {
    Content content;
    std::string expected;
    const std::string piece = noise(700'001);
    for (int k = 0; k < 20; ++k) {
        content.append(piece);
        expected += piece;
    }
    EXPECT_TRUE(content.view() == expected);
    Content other = std::move(content);
    EXPECT_TRUE(other.view() == expected);
    EXPECT_THROW(other.reserve(physical_memory() + 1), std::bad_alloc);
    EXPECT_TRUE(other.view() == expected);
}

TEST(Source, ReadingTellsItsProgressAndStops) {
    const Folder folder;
    const std::string path = folder.file("data.gz");
    write_whole(path, [](Output& output) { output.write(noise(3'000'000)); });
    double last = -2;
    read_bytes(path, [&](const Moment& moment) {
        EXPECT_GE(moment.fraction, last);
        last = moment.fraction;
        return true;
    });
    EXPECT_EQ(last, 1);
    EXPECT_THROW(read_bytes(path, [](const Moment&) { return false; }), Cancelled);
}

TEST(Source, SamplesAreFilesToo) {
    EXPECT_EQ(read("@iris").size(), 150U);
    const Dataset digits = read("@digits", {.double_precision = true, .form = RowForm::sparse});
    EXPECT_EQ(digits.size(), 1797U);
    EXPECT_EQ(digits.columns(), 64U);
    EXPECT_TRUE(digits.x.is_sparse());
    EXPECT_TRUE(digits.x.is_double());
}

}  // namespace
}  // namespace mercer
