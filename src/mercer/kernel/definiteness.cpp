// Definiteness of combinations. The tree is walked once, children first; each part passes up what
// was found (detail/finding.hpp), and each leaves one reason.
#include "mercer/kernel/definiteness.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/build.hpp"
#include "mercer/kernel/detail/distinct.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

/// The text of a part, short enough to be read.
std::string part_text(const Kernel& k) {
    constexpr std::size_t longest = 400;
    std::string text = k.text();
    if (text.size() > longest) text = text.substr(0, longest) + "...";
    return text;
}

bool at_least_conditional(const Finding& f) {
    return f.definite == Definite::positive || f.definite == Definite::conditional;
}
bool is_positive(const Finding& f) {
    return f.definite == Definite::positive;
}

/// The first child that `good` does not accept, for messages.
template <class Good>
std::string first_bad(const KernelNode& node, const Findings& parts, Good&& good) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (good(parts[i])) continue;
        return quoted(node.children[i].text()) + " is " + describe(parts[i].definite);
    }
    return "";
}

// ---- Sums.

/// The terms of a sum collected by base kernel.
struct Collected {
    std::map<std::string, Series> groups;
    double constant = 0;
    double constant_size = 0;
    bool complete = true;  ///< every term is in a group or in the constant
    bool possible = true;  ///< no term is of unknown definiteness and outside the groups
};

void collect(const Finding& part, Collected& sum) {
    if (part.series && !part.series->base) {
        sum.constant += part.series->a[0];
        sum.constant_size += part.series->size[0];
        return;
    }
    if (part.series) {
        const auto [place, fresh] = sum.groups.try_emplace(part.series->base_text, *part.series);
        if (fresh) return;
        if (const auto total = add(place->second, *part.series)) {
            place->second = *total;
            return;
        }
    }
    sum.complete = false;
    if (!at_least_conditional(part)) sum.possible = false;
}

Finding judge_sum(const KernelNode& node, const Findings& parts, const Assumptions& assumptions) {
    Collected sum;
    for (const Finding& part : parts) collect(part, sum);
    Finding result;
    if (sum.complete && sum.groups.size() <= 1) {
        Series whole = constant_series(sum.constant);
        whole.size[0] = sum.constant_size;
        std::optional<Series> total = whole;
        if (!sum.groups.empty()) total = add(whole, sum.groups.begin()->second);
        if (total) result = judge_series(*total, assumptions);
    }
    if (std::all_of(parts.begin(), parts.end(), is_positive)) {
        result.definite = Definite::positive;
        result.because =
            "a sum of positive definite kernels is positive definite (Ralescu 2016 theorem 1.1)";
        result.distinct = of_sum(parts);
        return result;
    }
    if (std::ranges::all_of(parts, at_least_conditional)) {
        result.distinct.separates |= of_sum(parts).separates;
    }
    if (result.series && (at_least_conditional(result) ||
                          !std::all_of(parts.begin(), parts.end(), at_least_conditional))) {
        return result;
    }

    result.definite = Definite::unknown;
    const auto bad = std::find_if(sum.groups.begin(), sum.groups.end(), [](const auto& group) {
        return group.second.first_negative() || group.second.tail == Series::Tail::unknown;
    });
    if (!sum.possible) {
        result.because = "a sum needs every part: " + first_bad(node, parts, at_least_conditional);
    } else if (bad != sum.groups.end()) {
        result.because = "collected in powers of t = " + bad->first + " it has " +
                         bad->second.text() + ", not all coefficients of which are known >= 0";
    } else {
        for (const auto& [ignored, series] : sum.groups) {
            sum.constant += series.a[0];
            sum.constant_size += series.size[0];
        }
        const bool enough = sum.constant >= -Series::rounding * sum.constant_size;
        result.definite = sum.complete && enough ? Definite::positive : Definite::conditional;
        result.because =
            is_positive(result)
                ? "collected by base kernel, no coefficient is below 0 (Sompolinsky 2017: "
                  "Taylor-sign rule)"
                : "a sum of conditionally positive definite kernels is one; a constant of any sign "
                  "is, because weights that sum to 0 do not see it";
    }
    return result;
}

// ---- Products, factors, powers.

Finding judge_product(const KernelNode& node, const Findings& parts,
                      const Assumptions& assumptions) {
    std::optional<Series> series = constant_series(1);
    for (const Finding& part : parts) {
        series = series && part.series ? multiply(*series, *part.series) : std::nullopt;
    }
    Finding result;
    result.divisible =
        std::all_of(parts.begin(), parts.end(), [](const Finding& f) { return f.divisible; });
    if (std::all_of(parts.begin(), parts.end(), is_positive)) {
        result.definite = Definite::positive;
        result.because =
            "a product of positive definite kernels is positive definite (Schur; Ralescu 2016 "
            "theorem 1.3)";
        result.series = series;
        result.distinct = of_product(parts);
        return result;
    }
    if (series) return judge_series(*series, assumptions);
    result.because =
        "a product needs positive definite factors (Schur): " + first_bad(node, parts, is_positive);
    return result;
}

Finding judge_scale(const KernelNode& node, const Finding& part, const Assumptions& assumptions) {
    Finding result = part;
    result.series = part.series ? scale(*part.series, node.value) : std::nullopt;
    if (node.value == 0) {
        result.definite = Definite::positive;
        result.because = "0 times anything is the kernel 0";
        result.distinct = {};
    } else if (node.value > 0) {
        result.because = "a factor >= 0 keeps the definiteness (Ralescu 2016 theorem 1.2)";
        if (result.distinct.strict) result.distinct.because = "a factor > 0 of one that is so";
    } else {
        result.distinct = {};
        result.definite = Definite::unknown;
        result.divisible = false;
        result.because = "a factor below 0 turns the sign: " + quoted(node.children[0].text()) +
                         " is " + describe(part.definite);
        if (result.series) {
            Finding judged = judge_series(*result.series, assumptions);
            if (!is_positive(part) || judged.series->dot_product) return judged;
            result.definite = Definite::refuted;
            result.because =
                "a positive definite kernel times a factor below 0 has a diagonal <= 0, and is "
                "positive definite only if it is 0 everywhere";
        }
    }
    return result;
}

Finding judge_power(const KernelNode& node, const Finding& part, const Assumptions& assumptions) {
    const double exponent = node.value;
    Finding result;
    if (exponent == 1) return part;
    const bool whole = exponent >= 0 && exponent == std::floor(exponent) && exponent < 1e6;
    if (exponent == 0) {
        result = judge_series(constant_series(1), assumptions);
        result.because = "the power 0 is the constant 1";
        return result;
    }
    result.divisible = part.divisible && exponent > 0;
    if (exponent > 0) result.distinct = of_power(part, whole, exponent);
    if (whole && part.series)
        result.series = power(*part.series, static_cast<std::size_t>(exponent));
    if (whole && is_positive(part)) {
        result.definite = Definite::positive;
        result.because = "a whole power is a product with itself (Schur)";
    } else if (result.divisible) {
        result.definite = Definite::positive;
        result.because =
            "every power above 0 of an infinitely divisible kernel is positive definite";
    } else if (result.series) {
        return judge_series(*result.series, assumptions);
    } else if (exponent < 0) {
        result.because = "a power below 0 keeps no definiteness";
    } else if (!whole) {
        result.because =
            "a power that is not a whole number is positive definite for infinitely divisible "
            "kernels only (the Gaussian and other falling functions of the distance, exp(...), "
            "rbf_of(...) and their products): " +
            quoted(node.children[0].text()) + " is not known to be one";
    } else {
        result.because =
            "a power needs a positive definite kernel: " + quoted(node.children[0].text()) +
            " is " + describe(part.definite);
    }
    return result;
}

// ---- One child inside.

Finding judge_exp(const Finding& part, const Assumptions& assumptions) {
    Finding result;
    result.series = part.series ? exponential(*part.series) : std::nullopt;
    if (at_least_conditional(part)) {
        result.definite = Definite::positive;
        result.divisible = true;
        result.distinct.positive_diagonal = true;
        if (part.distinct.separates) {
            result.distinct = of_gaussian();
        }
        result.because = is_positive(part)
                             ? "the series of exp has coefficients >= 0 (Ralescu 2016 corollary 1)"
                             : "exp of a conditionally positive definite kernel is positive "
                               "definite [Schoenberg 1938]";
        return result;
    }
    if (result.series) return judge_series(*result.series, assumptions);
    result.because = "exp needs a kernel that is at least conditionally positive definite";
    return result;
}

Finding judge_sets(const KernelNode& node, const Finding& part) {
    Finding result;
    result.definite = part.definite;
    if (is_positive(part)) {
        result.because =
            node.mean ? "the feature of a set is the mean over its members (Gretton et al. 2012)"
                      : "the feature of a set is the sum over its members (Schölkopf 2004)";
    } else if (at_least_conditional(part) && (node.counted || node.split != SetSplit::none)) {
        result.definite = Definite::unknown;
        result.because =
            "weights that sum to 0 over sets of different sizes do not sum to 0 over their "
            "members, so conditional definiteness is lost with sets of different sizes";
    } else {
        result.because = at_least_conditional(part)
                             ? "all sets have the same size, so weights that sum to 0 over sets "
                               "do so over their members"
                             : "inherits from the kernel inside";
    }
    return result;
}

Finding judge_wrapped(const KernelNode& node, const Finding& part) {
    Finding result;
    const bool conditional = at_least_conditional(part);
    const bool accepted = node.kind == KernelKind::normalize ? is_positive(part) : conditional;
    if (accepted) result.definite = Definite::positive;
    switch (node.kind) {
        case KernelKind::normalize:
            result.divisible = part.divisible;
            if (part.distinct.strict) {
                result.distinct = OfDistinctRows::strictly(
                    "f(x) k(x,z) f(z) of a kernel that is so, with f(x) > 0");
            }
            result.distinct.positive_diagonal = part.distinct.positive_diagonal;
            result.because = accepted ? "f(x) k(x,z) f(z) with f(x) = 1/sqrt(k(x,x)) (Leonetti)"
                                      : "normalize needs a positive definite kernel inside";
            break;
        case KernelKind::center:
            result.because =
                accepted ? "weights minus their sum times the sample mean sum to 0, so "
                           "a conditionally positive definite kernel is enough (Ralescu 2016 "
                           "equation 4)"
                         : "center needs a kernel that is at least conditionally "
                           "positive definite";
            break;
        default:
            result.divisible = accepted;
            result.distinct.positive_diagonal = true;
            if (part.distinct.separates && leaves::number_or_one(node, "gamma") > 0) {
                result.distinct = of_gaussian();
            }
            result.because = accepted ? "k(x,x) + k(z,z) - 2k(x,z) is a squared distance in a "
                                        "Hilbert space, and its Gaussian is positive definite "
                                        "[Schoenberg 1938] for gamma >= 0"
                                      : "rbf_of needs a kernel that is at least conditionally "
                                        "positive definite";
    }
    return result;
}

/// columns and map: the same kernel on other rows.
Finding judge_moved(const KernelNode& node, Finding part) {
    // What other rows refute, those that a map makes may not.
    const bool open = node.kind == KernelKind::map && part.definite == Definite::refuted;
    if (open) part.definite = Definite::unknown;
    part.distinct = of_moved(node, std::move(part.distinct));
    part.because = node.kind == KernelKind::columns
                       ? "the same kernel on fewer columns (Leonetti)"
                       : "k(f(x), f(z)) is k on other points (Ralescu 2016 theorem 1.5)";
    if (part.series && part.series->base) {
        KernelNode moved = node;
        moved.children = {*part.series->base};
        const bool dot = part.series->dot_product && node.kind == KernelKind::columns;
        const Series base = base_series(make_node(std::move(moved)), dot);
        part.series->base = base.base;
        part.series->base_text = base.base_text;
        part.series->dot_product = dot;
        part.series->strict = part.series->strict && part.distinct.strict;
    }
    return part;
}

Finding judge_leaf(const KernelNode& node, const Assumptions& assumptions) {
    if (node.leaf->judge) return node.leaf->judge(node, assumptions);
    if (node.leaf->features != nullptr) {
        return Finding::positive(
            "an inner product of features that can be written down (Ralescu 2016)");
    }
    return Finding::unknown("no rule is known for " + node.entry().name + "; test it on the data");
}

class Judge {
   public:
    explicit Judge(std::vector<Reason>& reasons) : reasons_(reasons) {}

    Finding operator()(const Kernel& k, std::size_t depth, const Assumptions& assumptions) {
        const std::size_t place = reasons_.size();
        reasons_.push_back({.depth = depth, .part = part_text(k), .because = ""});
        const KernelNode& node = k.node();
        Findings parts;
        for (const Kernel& child : node.children) {
            parts.push_back((*this)(child, depth + 1, inside(node, assumptions)));
        }
        Finding result = node.leaf != nullptr ? judge_leaf(node, assumptions)
                                              : combine(node, std::move(parts), assumptions);
        // What is not known to be a dot product says nothing of distinct rows.
        if (!at_least_conditional(result)) result.distinct = {};
        if (!is_positive(result)) {
            result.distinct.strict = false;
            result.distinct.strict_on.clear();
        }
        // A positive definite part without a series of its own may be the base of one.
        if (is_positive(result) && !result.series) {
            result.series = base_series(k, false, result.distinct.strict);
        }
        reasons_[place].definite = result.definite;
        reasons_[place].strict = result.distinct.strict;
        reasons_[place].because = result.because;
        if (result.distinct.strict && !result.distinct.because.empty()) {
            reasons_[place].because += "; strictly, being " + result.distinct.because;
        }
        return result;
    }

   private:
    /// What is known of the rows that the children of this part see.
    static Assumptions inside(const KernelNode& node, const Assumptions& assumptions) {
        if (node.kind == KernelKind::map) return {};
        if (node.kind == KernelKind::columns || node.kind == KernelKind::sets) {
            return {.unit_norm = false, .non_negative = assumptions.non_negative};
        }
        return assumptions;
    }

    static Finding combine(const KernelNode& node, Findings parts, const Assumptions& assumptions) {
        switch (node.kind) {
            case KernelKind::sum: return judge_sum(node, parts, assumptions);
            case KernelKind::product: return judge_product(node, parts, assumptions);
            case KernelKind::scale: return judge_scale(node, parts.front(), assumptions);
            case KernelKind::power: return judge_power(node, parts.front(), assumptions);
            case KernelKind::exp: return judge_exp(parts.front(), assumptions);
            case KernelKind::sets: return judge_sets(node, parts.front());
            case KernelKind::columns:
            case KernelKind::map: return judge_moved(node, std::move(parts.front()));
            default: return judge_wrapped(node, parts.front());
        }
    }

    std::vector<Reason>& reasons_;
};

}  // namespace

Finding find(const Kernel& kernel, const Assumptions& assumptions) {
    std::vector<Reason> unused;
    return Judge(unused)(kernel, 0, assumptions);
}

Definiteness definiteness(const Kernel& kernel, const Assumptions& assumptions) {
    Definiteness result;
    result.definite = Judge(result.reasons)(kernel, 0, assumptions).definite;
    result.strict = result.reasons.front().strict;
    return result;
}

std::string describe(Definite definite) {
    switch (definite) {
        case Definite::positive: return "positive definite";
        case Definite::conditional: return "conditionally positive definite (order 1)";
        case Definite::refuted: return "not positive definite";
        default: return "not known to be positive definite";
    }
}

std::string describe(const Definiteness& found) {
    return found.strict ? "strictly positive definite" : describe(found.definite);
}

std::string describe(const Reason& reason) {
    return reason.strict ? "strictly positive definite" : describe(reason.definite);
}

}  // namespace mercer
