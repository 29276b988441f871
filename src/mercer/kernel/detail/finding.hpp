// What the rules of definiteness find out about one part of an expression.
#pragma once

#include <optional>
#include <string>

#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/detail/series.hpp"

namespace mercer {

struct Finding {
    Definite definite = Definite::unknown;
    std::string because{};
    /// k^t is positive definite for every t > 0 (infinitely divisible), so any power may be taken.
    bool divisible = false;
    std::optional<Series> series{};

    static Finding positive(std::string because, bool divisible = false) {
        return {Definite::positive, std::move(because), divisible, {}};
    }
    static Finding conditional(std::string because) {
        return {Definite::conditional, std::move(because), false, {}};
    }
    static Finding unknown(std::string because) {
        return {Definite::unknown, std::move(because), false, {}};
    }
    static Finding refuted(std::string because) {
        return {Definite::refuted, std::move(because), false, {}};
    }
};

/// What a power series in a positive definite kernel says (Taylor-sign rule).
Finding judge_series(const Series& series, const Assumptions& assumptions);
/// The same number for every pair.
Finding judge_constant(double value);

/// Four digits, for reasons that people read.
std::string rounded(double value);

}  // namespace mercer
