#include "mercer/learn/risk/detail/parameter_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/solver/detail/lbfgs.hpp"

namespace mercer {
namespace {

constexpr double search_reach = 6 * std::numbers::ln10;  ///< a factor of 1e6 either way

/// The name without its number: gamma of gamma_2.
std::string stem(const std::string& name) {
    const std::size_t at = name.rfind('_');
    const bool numbered = at != std::string::npos && at + 1 < name.size() &&
                          name.find_first_not_of("0123456789", at + 1) == std::string::npos;
    return numbered ? name.substr(0, at) : name;
}

std::vector<bool> held(const ParameterSearch& s) {
    std::vector<bool> result(s.names.size(), false);
    for (const std::string& name : s.fixed) {
        bool found = false;
        for (std::size_t p = 0; p < s.names.size(); ++p) {
            if (s.names[p] != name && stem(s.names[p]) != name) continue;
            result[p] = found = true;
        }
        if (found) continue;
        std::string known;
        for (const std::string& text : s.names) known += ' ' + text;
        throw InvalidInput("there is no parameter " + quoted(name) + " to hold fixed in " +
                           s.of_what + "; there are" + known);
    }
    return result;
}

class Ascent {
   public:
    explicit Ascent(const ParameterSearch& search) : search_(search) {
        const std::vector<bool> fixed = held(search);
        for (std::size_t p = 0; p < search.start.size(); ++p) {
            if (search.start[p] > 0 && !fixed[p]) free_.push_back(p);
        }
        if (free_.empty()) {
            throw InvalidInput("every parameter of " + search.of_what +
                               " is held fixed: there is nothing to optimise");
        }
    }

    FoundParameters operator()() {
        LbfgsSettings lbfgs{.iteration_limit = search_.iteration_limit,
                            .gradient_tolerance = 1e-5,
                            .value_tolerance = 1e-10};
        lbfgs.progress = [this](std::size_t, double value) { return go_on(-value); };
        std::vector<double> start;
        for (const std::size_t p : free_) start.push_back(std::log(search_.start[p]));
        for (const double v : start) {
            lbfgs.lower.push_back(v - search_reach);
            lbfgs.upper.push_back(v + search_reach);
        }
        const SmoothFunction f = [this](std::span<const double> x, std::span<double> g) {
            return cost(x, g);
        };
        std::optional<LbfgsSolution> best;
        for (std::size_t r = 0; r <= search_.restarts; ++r) {
            if (r > 0 && !go_on(-best->value)) break;
            std::vector<double> x = start;
            Random random(search_.seed, r);
            for (double& v : x) v += r == 0 ? 0 : 6 * random.uniform() - 3;  // a factor of 20
            std::vector<double> unused(x.size());
            if (!std::isfinite(cost(x, unused))) {
                if (r > 0) continue;
                if (stopped_) throw Cancelled();
                search_.refuse();
            }
            LbfgsSolution found = minimise(x, f, lbfgs);
            if (!best || found.value < best->value) best = std::move(found);
        }
        return result(*best);
    }

   private:
    bool go_on(double evidence) {
        const std::string detail = "log evidence " + format_number(evidence);
        stopped_ = stopped_ || !keep_going(search_.progress, {"evidence", -1, detail});
        return !stopped_;
    }

    std::vector<double> values_at(std::span<const double> x) const {
        std::vector<double> values = search_.start;
        for (std::size_t i = 0; i < free_.size(); ++i) values[free_[i]] = std::exp(x[i]);
        return values;
    }

    /// Minus the evidence, with infinity where it is not defined and once the search is told to
    /// stop: it then finds no step that helps, and ends where it stands.
    double cost(std::span<const double> x, std::span<double> gradient) {
        constexpr double nowhere = std::numeric_limits<double>::infinity();
        if (std::ranges::equal(x, last_.x)) {  // the start, which was tried before
            std::ranges::copy(last_.gradient, gradient.begin());
            return last_.cost;
        }
        if (stopped_) return nowhere;
        ++evaluations_;
        const std::vector<double> values = values_at(x);
        std::vector<double> slopes(values.size());
        double evidence = 0;
        try {
            evidence = search_.evidence(values, slopes);
        } catch (const Cancelled&) {
            stopped_ = true;
            return nowhere;
        }
        if (!std::isfinite(evidence)) return nowhere;
        for (std::size_t i = 0; i < free_.size(); ++i) {
            gradient[i] = -slopes[free_[i]] * values[free_[i]];
        }
        last_ = {{x.begin(), x.end()}, {gradient.begin(), gradient.end()}, -evidence};
        return -evidence;
    }

    FoundParameters result(const LbfgsSolution& best) const {
        FoundParameters found{.values = values_at(best.x), .evidence = -best.value};
        for (const std::size_t i : best.at_bounds) {
            found.at_limit[search_.names[free_[i]]] = found.values[free_[i]];
        }
        found.iterations = best.iterations;
        found.evaluations = evaluations_;
        for (const double v : best.history) found.history.push_back(-v);
        if (stopped_) {
            found.status = FitStatus::cancelled;
        } else if (best.status == LbfgsStatus::iteration_limit) {
            found.status = FitStatus::iteration_limit;
        } else if (best.status == LbfgsStatus::stalled) {
            found.status = FitStatus::stalled;
        } else if (!found.at_limit.empty()) {
            found.status = FitStatus::search_limit;
        }
        return found;
    }

    const ParameterSearch& search_;
    std::vector<std::size_t> free_{};
    std::size_t evaluations_ = 0;
    struct Tried {
        std::vector<double> x{};
        std::vector<double> gradient{};
        double cost = 0;
    };
    Tried last_{};
    bool stopped_ = false;
};

}  // namespace

FoundParameters maximise(const ParameterSearch& search) {
    return Ascent(search)();
}

}  // namespace mercer
