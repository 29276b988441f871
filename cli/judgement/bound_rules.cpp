#include "cli/judgement/bound_rules.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "mercer/base/error.hpp"
#include "mercer/theory/capacity.hpp"

namespace mercer::cli {
namespace {

/// One bound or plan: the numbers it cannot do without, those it takes as well, and how it is made.
template <class Result>
struct Rule {
    std::vector<std::string> needs;
    std::vector<std::string> takes;
    std::function<Result(const Numbers&)> make;
    /// False where the numbers are there and yet there is nothing to say.
    std::function<bool(const Numbers&)> fits{};

    std::vector<std::string> missing(const Numbers& given) const {
        std::vector<std::string> names;
        for (const std::string& name : needs) {
            if (!given.contains(name)) names.push_back(name);
        }
        return names;
    }
    bool uses(const std::string& name) const {
        return std::ranges::find(needs, name) != needs.end() ||
               std::ranges::find(takes, name) != takes.end();
    }
};

/// What comes of the rules whose numbers are there. A number that no rule could use is refused with
/// the ones it would need.
template <class Result>
std::vector<Result> apply(const std::vector<Rule<Result>>& rules, const Numbers& given,
                          const Session& session) {
    for (const auto& [name, value] : given) {
        const Rule<Result>* nearest = nullptr;
        for (const Rule<Result>& rule : rules) {
            if (!rule.uses(name)) continue;
            if (nearest == nullptr || rule.missing(given).size() < nearest->missing(given).size()) {
                nearest = &rule;
            }
        }
        if (nearest == nullptr) refuse_given(session, name, "here", "no bound has a place for it");
        if (const auto missing = nearest->missing(given); !missing.empty()) {
            refuse_given(session, name, "without " + listed(missing), "give that too");
        }
    }
    std::vector<Result> results;
    for (const Rule<Result>& rule : rules) {
        if (!rule.missing(given).empty() || (rule.fits && !rule.fits(given))) continue;
        results.push_back(rule.make(given));
    }
    return results;
}

RiskSample sample_of(const Numbers& n) {
    const auto or_else = [&n](const char* name, double value) {
        return n.contains(name) ? n.at(name) : value;
    };
    return {or_else("--error", 0), n.at("--examples"), or_else("--delta", 0.05)};
}

Bound margin_dimension_of(const Numbers& n) {
    return margin_dimension(n.at("--radius"), n.at("--norm"), true,
                            n.contains("--features") ? n.at("--features") : 0);
}

/// The margin is one over ‖w‖, and no plane has one beyond the radius.
Bound description_of(const Numbers& n) {
    return margin_description(n.at("--radius"), std::min(n.at("--radius"), 1 / n.at("--norm")),
                              n.at("--features"));
}
bool has_margin(const Numbers& n) {
    return n.at("--radius") > 0 && n.at("--norm") > 0;
}

/// Probabilities that training and test error differ by ε.
std::vector<Rule<Bound>> rules_of_distance() {
    const auto shattering = [](const Numbers& n, double dimension) {
        const double m = n.at("--examples");
        return shattering_bound(sauer_shattering(dimension, 2 * m), m, n.at("--epsilon"));
    };
    return {
        {{"--examples", "--epsilon"},
         {},
         [](const Numbers& n) { return chernoff(n.at("--examples"), n.at("--epsilon")); }},
        {{"--examples", "--epsilon"},
         {},
         [](const Numbers& n) {
             return chernoff_two_samples(n.at("--examples"), n.at("--epsilon"));
         }},
        {{"--examples", "--epsilon", "--functions"},
         {},
         [](const Numbers& n) {
             return union_bound(n.at("--functions"), n.at("--examples"), n.at("--epsilon"));
         }},
        {{"--examples", "--epsilon", "--dimension"},
         {},
         [=](const Numbers& n) { return shattering(n, n.at("--dimension")); }},
        {{"--examples", "--epsilon", "--features"},
         {},
         [](const Numbers& n) {
             const double m = n.at("--examples");
             return shattering_bound(half_space_shattering(n.at("--features"), 2 * m), m,
                                     n.at("--epsilon"));
         }},
        {{"--examples", "--epsilon", "--radius", "--norm"},
         {},
         [=](const Numbers& n) { return shattering(n, margin_dimension_of(n).value); }},
    };
}

/// Bounds on the error, with probability 1 − δ.
std::vector<Rule<Bound>> rules_of_risk() {
    const std::vector<std::string> also{"--error", "--delta"};
    return {
        {{"--examples"}, also, [](const Numbers& n) { return chernoff_risk(sample_of(n)); }},
        {{"--examples", "--functions"},
         also,
         [](const Numbers& n) { return union_risk(sample_of(n), n.at("--functions")); }},
        {{"--examples", "--dimension"},
         also,
         [](const Numbers& n) {
             const double shattered = sauer_shattering(n.at("--dimension"), 2 * n.at("--examples"));
             return shattering_risk(sample_of(n), shattered);
         }},
        {{"--examples", "--dimension"},
         also,
         [](const Numbers& n) { return vc_risk(sample_of(n), n.at("--dimension")); }},
        {{"--examples", "--features"},
         also,
         [](const Numbers& n) {
             return vc_risk(sample_of(n), half_space_dimension(n.at("--features")));
         }},
        {{"--examples", "--radius", "--norm"},
         also,
         [](const Numbers& n) { return vc_risk(sample_of(n), margin_dimension_of(n).value); }},
        {{"--examples", "--radius", "--norm"},
         also,
         [](const Numbers& n) {
             const double trace = n.at("--examples") * std::pow(n.at("--radius"), 2);
             return rademacher_risk(sample_of(n),
                                    rademacher_by_trace(n.at("--examples"), trace, n.at("--norm")));
         }},
        {{"--examples", "--support"},
         also,
         [](const Numbers& n) { return compression_risk(sample_of(n), n.at("--support")); },
         [](const Numbers& n) { return n.at("--support") < n.at("--examples"); }},
        {{"--examples", "--radius", "--norm", "--features"},
         also,
         [](const Numbers& n) { return description_risk(sample_of(n), description_of(n).value); },
         has_margin},
    };
}

/// In how many ways the class can label the rows.
std::vector<Rule<Bound>> rules_of_capacity() {
    return {
        {{"--examples", "--dimension"},
         {},
         [](const Numbers& n) { return growth_bound(n.at("--dimension"), n.at("--examples")); }},
        {{"--examples", "--dimension"},
         {},
         [](const Numbers& n) { return sauer_bound(n.at("--dimension"), n.at("--examples")); }},
        {{"--examples", "--features"},
         {},
         [](const Numbers& n) {
             return half_space_growth(n.at("--features"), n.at("--examples"));
         }},
        {{"--examples", "--features"},
         {},
         [](const Numbers& n) {
             return cover_separation(n.at("--examples"), half_space_dimension(n.at("--features")));
         }},
    };
}

/// Those that are neither.
std::vector<Rule<Bound>> other_rules() {
    return {
        {{"--radius", "--norm"}, {"--features"}, margin_dimension_of},
        {{"--radius", "--norm", "--features"}, {}, description_of, has_margin},
        {{"--examples", "--radius", "--norm"},
         {},
         [](const Numbers& n) {
             return radius_margin(n.at("--examples"), n.at("--radius"), n.at("--norm"), true);
         }},
        {{"--examples", "--support"},
         {},
         [](const Numbers& n) {
             return support_share(n.at("--examples"), n.at("--support"), false);
         }},
    };
}

}  // namespace

std::vector<Bound> bounds_of(const Numbers& n, const Session& session) {
    if (n.empty()) {
        throw InvalidInput(
            "give a model and its data, or numbers: --examples, or --radius and --norm");
    }
    // Whoever asks about ε alone does not ask for a bound on the error.
    const bool distance = n.contains("--epsilon");
    const bool risk = !distance || n.contains("--error") || n.contains("--delta");
    std::vector<Rule<Bound>> rules;
    const auto add = [&rules](const std::vector<Rule<Bound>>& more) {
        rules.insert(rules.end(), more.begin(), more.end());
    };
    if (distance) add(rules_of_distance());
    if (risk) {
        add(rules_of_risk());
        add(rules_of_capacity());
    }
    add(other_rules());
    return apply(rules, n, session);
}

std::vector<SamplePlan> plans_of(const Numbers& n, const Session& session) {
    if (!n.contains("--epsilon")) {
        throw InvalidInput("--plan needs --epsilon, the distance to be kept");
    }
    const double epsilon = n.at("--epsilon");
    const double delta = n.contains("--delta") ? n.at("--delta") : 0.05;
    const std::vector<std::string> both{"--epsilon", "--delta"};
    const auto features = [](const Numbers& all) {
        return half_space_dimension(all.at("--features"));
    };
    const std::vector<Rule<SamplePlan>> rules{
        {{}, both, [=](const Numbers&) { return rows_for_chernoff(epsilon, delta); }},
        {{"--functions"},
         {},
         [=](const Numbers& all) { return rows_for_union(all.at("--functions"), epsilon, delta); }},
        {{"--dimension"},
         {},
         [=](const Numbers& all) {
             return rows_for_shattering(all.at("--dimension"), epsilon, delta);
         }},
        {{"--dimension"},
         {},
         [=](const Numbers& all) { return rows_for_vc(all.at("--dimension"), epsilon, delta); }},
        {{"--features"},
         {},
         [=](const Numbers& all) { return rows_for_shattering(features(all), epsilon, delta); }},
        {{"--features"}, {}, [=](const Numbers& all) {
             return rows_for_vc(features(all), epsilon, delta);
         }}};
    return apply(rules, n, session);
}

}  // namespace mercer::cli
