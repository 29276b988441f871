// The seconds that some work takes: the best of several runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>

namespace mercer::bench {

template <class Work>
double best_seconds(const Work& work, int runs = 7) {
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run < runs; ++run) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        best = std::min(best, taken.count());
    }
    return best;
}

/// The exit code of a tool's `run`; what it throws is said.
inline int exit_code_of(const char* tool, int (*run)(int, char**), int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", tool, error.what());
        return 1;
    }
}

}  // namespace mercer::bench
