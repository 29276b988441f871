// The script ./dev asks the system for exactly what is missing, tried on a make-believe system
// whose programs only write down what they were told.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

class Dev : public ::testing::Test {
   protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "mercer-dev-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        fs::create_directory(folder_ / "bin");
        // What the script itself needs of a real system; the rest is made up.
        for (const char* name : {"sh", "dirname", "env", "cat", "sort", "sed", "paste", "fold"}) {
            for (const char* place : {"/bin/", "/usr/bin/"}) {
                if (!fs::exists(place + std::string(name))) continue;
                fs::create_symlink(place + std::string(name), folder_ / "bin" / name);
                break;
            }
        }
        program("cmake", "echo cmake \"$@\" >> \"$LOG\"; exit 1");
        program("ninja", "exit 1");
    }
    void TearDown() override { fs::remove_all(folder_); }

    void program(const std::string& name, const std::string& body) const {
        const fs::path path = folder_ / "bin" / name;
        std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
        fs::permissions(path, fs::perms::owner_all);
    }

    void remove(const char* name) const { fs::remove(folder_ / "bin" / name); }

    /// A Debian on which all packages but one are there.
    void debian_without(const std::string& package) const {
        program("dpkg-query",
                "for last; do :; done; [ \"$last\" = '" + package + "' ] && exit 1; printf 'ii '");
        program("apt-get", "echo apt-get \"$@\" >> \"$LOG\"");
    }

    /// Runs ./dev there; gives its exit code and leaves output and log to read.
    int dev(const std::string& words) {
        const std::string command = "MERCER_PRESET= PATH='" + (folder_ / "bin").string() +
                                    "' LOG='" + (folder_ / "log").string() +
                                    "' '" MERCER_SOURCE_DIRECTORY "/dev' " + words + " > '" +
                                    (folder_ / "out").string() + "' 2>&1 < /dev/null";
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::string text(const char* name) const {
        std::ifstream in(folder_ / name);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    bool has(const char* name, const std::string& part) const {
        return text(name).find(part) != std::string::npos;
    }

   private:
    fs::path folder_;
};

TEST_F(Dev, InstallsOnlyWhatIsMissing) {
    debian_without("libhwy-dev");
    program("id", "echo 0");
    EXPECT_NE(dev("quickstart"), 0) << "the make-believe cmake fails";
    EXPECT_TRUE(has("log", "apt-get install -y -qq --no-install-recommends libhwy-dev\n"))
        << text("log");
    EXPECT_TRUE(has("log", "cmake --preset release")) << text("log");
}

TEST_F(Dev, UsesSudoWhenNotRoot) {
    debian_without("ninja-build");
    program("id", "echo 1000");
    EXPECT_NE(dev("quickstart"), 0);
    EXPECT_TRUE(has("out", "As root: apt-get install ninja-build")) << text("out");
    program("sudo", "echo sudo >> \"$LOG\"; \"$@\"");
    EXPECT_NE(dev("quickstart"), 0);
    EXPECT_TRUE(has("log", "sudo\napt-get install")) << text("log");
}

TEST_F(Dev, AsksForNothingWhenAllIsThere) {
    debian_without("nothing");
    EXPECT_NE(dev("quickstart"), 0);
    EXPECT_EQ(text("log"), "cmake --preset release\n");
}

// A new compiler with a new warning once failed the first command of everybody who had it.
TEST_F(Dev, UsersBuildsNeverTurnWarningsIntoErrors) {
    const auto read = [](const char* name) {
        std::ifstream in(std::string(MERCER_SOURCE_DIRECTORY "/") + name);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const std::string presets = read("CMakePresets.json");
    const std::size_t release = presets.find("\"name\": \"release\"");
    const std::size_t off = presets.find("\"MERCER_WERROR\": \"OFF\"");
    const std::size_t developer = presets.find("\"name\": \"developer\"");
    const std::size_t on = presets.find("\"MERCER_WERROR\": \"ON\"");
    ASSERT_NE(on, std::string::npos);
    EXPECT_LT(release, off);
    EXPECT_LT(off, developer);
    EXPECT_LT(developer, on);
    EXPECT_NE(read("CMakeLists.txt").find("preset does\" OFF)"), std::string::npos);
    EXPECT_NE(read(".ci/run").find("MERCER_PRESET=developer"), std::string::npos);
}

TEST_F(Dev, NamesThePackagesOnOtherSystems) {
    remove("cmake");
    EXPECT_EQ(dev("quickstart"), 1);
    EXPECT_TRUE(has("out", "no apt")) << text("out");
    EXPECT_TRUE(has("out", " cmake ")) << text("out");
    EXPECT_TRUE(has("out", " libdnnl-dev ")) << text("out");
    EXPECT_EQ(dev("help"), 0);
    EXPECT_TRUE(has("out", "libdnnl-dev")) << text("out");
}

TEST_F(Dev, TheReferenceAsksForItsOwnPackageAlone) {
    debian_without("doxygen");
    program("id", "echo 0");
    program("apt-get", "echo apt-get \"$@\" >> \"$LOG\"; [ \"$1\" = update ]");
    EXPECT_NE(dev("docs"), 0) << "nothing is made without it";
    EXPECT_TRUE(has("log", "--no-install-recommends doxygen\n")) << text("log");
    EXPECT_FALSE(has("log", "cmake")) << "nothing is built for it";
}

TEST_F(Dev, UnknownBenchmarkIsExitCodeTwo) {
    debian_without("nothing");
    EXPECT_EQ(dev("bench nonsense"), 2);
    EXPECT_TRUE(
        has("out",
            "bench takes train, predict, search, structures, machines, kernels or report, not "
            "'nonsense'"))
        << text("out");
    EXPECT_EQ(text("log"), "") << "nothing is built for it";
}

TEST_F(Dev, UnknownVerbIsExitCodeTwo) {
    EXPECT_EQ(dev("nonsense"), 2);
    EXPECT_TRUE(has("out", "there is no verb 'nonsense'")) << text("out");
}

}  // namespace
