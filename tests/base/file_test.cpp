#include "mercer/base/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

namespace fs = std::filesystem;

class WriteWhole : public ::testing::Test {
   protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "mercer-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string content(const std::string& name) const {
        std::ifstream in(folder_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
    }

    fs::path folder_;
};

TEST_F(WriteWhole, WritesEverythingAndNothingElse) {
    const std::string large(3'000'000, 'x');
    write_whole(path("a"), [&](Output& output) {
        output.write("begin ");
        output.write(large);
        output.write(" end");
    });
    EXPECT_EQ(content("a"), "begin " + large + " end");
    EXPECT_EQ(files(), 1U);
}

TEST_F(WriteWhole, FailureLeavesTheOldFileAndNoOther) {
    write_whole(path("a"), [](Output& output) { output.write("old"); });
    for (const char* name : {"a", "b", "c.gz", "d.xz"}) {
        EXPECT_THROW(write_whole(path(name),
                                 [](Output& output) {
                                     output.write(std::string(2'000'000, 'y'));
                                     throw std::logic_error("stop");
                                 }),
                     std::logic_error);
    }
    EXPECT_EQ(content("a"), "old");
    EXPECT_EQ(files(), 1U);
}

TEST_F(WriteWhole, SuffixesCompressAndTheSameContentGivesTheSameFile) {
    const std::string text(100'000, 'z');
    for (const char* name : {"a.gz", "a.bz2", "a.xz", "a.zst"}) {
        const auto writer = [&](Output& output) { output.write(text); };
        write_whole(path(name), writer);
        const std::string first = content(name);
        EXPECT_LT(first.size(), text.size() / 50) << name;
        write_whole(path(name), writer);
        EXPECT_EQ(content(name), first) << name;
    }
}

TEST_F(WriteWhole, ModesAndLinksAreKept) {
    write_whole(path("a"), [](Output& output) { output.write("1"); });
    const mode_t mask = umask(022);
    umask(mask);
    struct stat status {};
    ASSERT_EQ(stat(path("a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0666U & ~mask);
    chmod(path("a").c_str(), 0640);
    fs::create_symlink(path("a"), path("link"));
    write_whole(path("link"), [](Output& output) { output.write("2"); });
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(content("a"), "2");
    ASSERT_EQ(stat(path("a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

std::string leftover_name(const std::string& folder, const std::string& target) {
    // As detail/temporary_file.cpp names them: FNV-1a of the target's name.
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const char c : target) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    char text[64];
    std::snprintf(text, sizeof text, "/.mercer-%016llx-killed",
                  static_cast<unsigned long long>(hash));
    return folder + text;
}

TEST_F(WriteWhole, WhatAKilledWriterLeftIsRemovedUnlessItIsStillAtWork) {
    const auto writer = [](Output& output) { output.write("new"); };
    const std::string dead = leftover_name(folder_.string(), "a");
    const std::string of_another = leftover_name(folder_.string(), "b");
    std::ofstream(dead) << "half";
    std::ofstream(of_another) << "half";
    write_whole(path("a"), writer);
    EXPECT_FALSE(fs::exists(dead));
    EXPECT_TRUE(fs::exists(of_another)) << "it belongs to another target";
    std::ofstream(dead) << "half";
    const int held = open(dead.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
    write_whole(path("a"), writer);
    EXPECT_TRUE(fs::exists(dead)) << "somebody is writing it";
    close(held);
    write_whole(path("a"), writer);
    EXPECT_FALSE(fs::exists(dead));
}

TEST_F(WriteWhole, FilesTogetherAppearTogetherOrNotAtAll) {
    const auto write = [&](const char* name, const char* text) {
        write_whole(path(name), [&](Output& output) { output.write(text); });
    };
    write("a", "old a");
    {
        FilesTogether files;
        write("a", "new a");
        write("b", "new b");
        EXPECT_EQ(content("a"), "old a");
        EXPECT_FALSE(fs::exists(path("b")));
    }
    EXPECT_EQ(content("a"), "old a");
    EXPECT_EQ(files(), 1U) << "nothing was kept";
    {
        FilesTogether files;
        write("a", "new a");
        {
            FilesTogether inner;  // one that joins
            write("b", "new b");
            inner.keep();
        }
        EXPECT_FALSE(fs::exists(path("b")));
        {
            FilesTogether apart(FilesTogether::Nested::apart);
            write("c", "c");
            apart.keep();
        }
        EXPECT_EQ(content("c"), "c");
        files.keep();
    }
    EXPECT_EQ(content("a") + content("b"), "new anew b");
    {
        FilesTogether files;
        write("a", "newest a");
        write("d", "d");
        fs::create_directories(path("d/in the way"));  // after the look at the place
        EXPECT_THROW(files.keep(), std::runtime_error);
    }
    EXPECT_EQ(content("a"), "new a") << "given back";
    fs::remove_all(path("d"));
    EXPECT_EQ(files(), 3U);
}

TEST_F(WriteWhole, LinesAreAddedWhole) {
    append_lines(path("journal"), "one\n");
    append_lines(path("journal"), "");
    append_lines(path("journal"), "two\nthree\n");
    EXPECT_EQ(content("journal"), "one\ntwo\nthree\n");
    EXPECT_THROW(append_lines(path("absent/journal"), "one\n"), std::runtime_error);
    EXPECT_THROW(append_lines("/dev/full", "one\n"), std::runtime_error);
}

TEST_F(WriteWhole, PlacesThatCannotBeWrittenAreNamed) {
    const auto writer = [](Output& output) { output.write("1"); };
    const auto message = [&](const std::string& place) {
        try {
            write_whole(place, writer);
        } catch (const InvalidInput& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string nowhere = path("absent/file");
    EXPECT_EQ(message(nowhere), nowhere + ": cannot be written: its folder does not exist");
    EXPECT_EQ(message(folder_.string()),
              folder_.string() + ": is a directory; name a file inside it");
    EXPECT_EQ(message("/dev/null"), "");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace mercer
