// How fast LIBSVM text is read, next to LIBSVM's own reader: the a9a file repeated to 100 MB, read
// by mercer::read and by svm-train. svm-train is given a parameter that it refuses as soon as it
// has read the file (-s 1 -n 2: nu must not be above 1), so its run is the reading and nothing
// else.
//
//     bench_read            uses MERCER_DATA (default ../shared/data)
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/source.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t wanted_bytes = 100'000'000;
constexpr int repeats = 5;

/// Seconds on the clock, and seconds of processor time of all threads: the second hardly depends on
/// what else the machine does.
struct Cost {
    double wall = 1e300;
    double processor = 1e300;

    void keep_best(const Cost& other) {
        wall = std::min(wall, other.wall);
        processor = std::min(processor, other.processor);
    }
};

double processor_seconds(int who) {
    rusage usage{};
    getrusage(who, &usage);
    const auto value = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return value(usage.ru_utime) + value(usage.ru_stime);
}

template <class Body>
Cost cost_of(int who, Body&& body) {
    const double before = processor_seconds(who);
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    return {wall.count(), processor_seconds(who) - before};
}

/// Removes its folder at the end.
struct Scratch {
    fs::path path;
    Scratch() {
        std::string name = (fs::temp_directory_path() / "mercer-bench-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path = name;
    }
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

std::size_t make_file(const std::string& source, const fs::path& target) {
    const mercer::Content once = mercer::read_bytes(source);
    std::ofstream out(target, std::ios::binary);
    std::size_t copies = 0;
    for (std::size_t bytes = 0; bytes < wanted_bytes; bytes += once.view().size()) {
        out << once.view();
        ++copies;
    }
    return copies;
}

/// Runs svm-train up to where it has read the file; not finite when it did anything else.
Cost cost_of_svm_train(const fs::path& file, const fs::path& folder) {
    const fs::path log = folder / "log";
    const std::string command = "svm-train -s 1 -n 2 '" + file.string() + "' '" +
                                (folder / "model").string() + "' >'" + log.string() + "' 2>&1";
    int status = 0;
    const Cost cost = cost_of(RUSAGE_CHILDREN, [&] { status = std::system(command.c_str()); });
    std::ifstream in(log);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const bool refused = WIFEXITED(status) && WEXITSTATUS(status) == 1 &&
                         text.find("nu <= 0 or nu > 1") != std::string::npos;
    return refused ? cost : Cost();
}

int run() {
    const char* data = std::getenv("MERCER_DATA");
    const fs::path source = fs::path(data != nullptr ? data : "../shared/data") / "a9a/a9a.gz";
    if (!fs::exists(source)) {
        std::printf("skipped: %s is not there; set MERCER_DATA\n", source.c_str());
        return 0;
    }
    const Scratch scratch;
    const fs::path file = scratch.path / "a9a-repeated";
    const std::size_t copies = make_file(source.string(), file);
    const double megabytes = static_cast<double>(fs::file_size(file)) / 1e6;
    const mercer::Dataset once = mercer::read(source.string());
    std::printf("a9a x %zu: %.1f MB, %zu threads, best of %d\n", copies, megabytes,
                mercer::threads(), repeats);

    Cost ours;
    Cost theirs;
    for (int k = 0; k < repeats; ++k) {
        mercer::Dataset whole;
        ours.keep_best(cost_of(RUSAGE_SELF, [&] { whole = mercer::read(file.string()); }));
        if (whole.size() != copies * once.size() ||
            whole.x.nonzeros() != copies * once.x.nonzeros()) {
            std::printf("void: the file was not read whole\n");
            return 1;
        }
        theirs.keep_best(cost_of_svm_train(file, scratch.path));
    }
    const auto print = [&](const char* name, const Cost& cost) {
        std::printf("%-14s %8.3f s %8.0f MB/s %10.3f processor seconds\n", name, cost.wall,
                    megabytes / cost.wall, cost.processor);
    };
    print("mercer::read", ours);
    if (theirs.wall > 1e299) {
        std::printf("svm-train      not found, or it did not stop where it should\n");
        return 0;
    }
    print("svm-train", theirs);
    std::printf("ratio %.1f (wanted: at least 10); of processor time %.1f\n",
                theirs.wall / ours.wall, theirs.processor / ours.processor);
    return 0;
}

}  // namespace

int main() {
    try {
        return run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
