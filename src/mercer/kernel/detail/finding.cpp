// The rules of definiteness that are no single leaf's.
//
// Sources of those and of the leaves' own: 000 §2.2 (Mercer, Taylor signs, Fourier signs), 001 (pd
// and cpd), Schoenberg 1938 (f(|x-z|) is pd in every dimension iff f(sqrt) is completely monotone;
// -|x-z|^beta is cpd iff beta <= 2), Schoenberg 1942 (f(x·z) on spheres of every dimension iff the
// Taylor coefficients are >= 0), Bochner 1933, Berg, Christensen and Ressel 1984.
#include "mercer/kernel/detail/finding.hpp"

#include "mercer/kernel/detail/node.hpp"

namespace mercer {

Finding judge_constant(double value) {
    Finding result =
        value >= 0 ? Finding::positive(
                         "a constant >= 0 is the product of a constant feature with itself", true)
                   : Finding::conditional(
                         "any constant vanishes against weights that sum to 0; below 0 it is not "
                         "positive definite");
    result.series = constant_series(value);
    result.distinct.positive_diagonal = value > 0;
    return result;
}

Finding judge_series(const Series& series, const Assumptions& assumptions) {
    const std::string t = series.base ? " in t = " + series.base_text : "";
    const std::string start = "as a series" + t + " it is " + series.text() + ": ";
    Finding result;
    result.series = series;
    if (const auto n = series.first_negative()) {
        const std::string which =
            "the coefficient of t" + (*n == 1 ? "" : "^" + std::to_string(*n)) + " is below 0";
        if (!series.dot_product) {
            result.because = start + which + ", so the rule of Taylor signs does not prove it";
        } else if (assumptions.unit_norm && series.base->node().kind == KernelKind::linear) {
            result.because = "not so in high enough dimension [Schoenberg 1942], " + start + which +
                             "; rows of length 1 in few dimensions may pass: test it on the data";
        } else {
            result.definite = Definite::refuted;
            result.because =
                start + which +
                ", and rows along one line give independent features 1, x, x^2, ... "
                "(Sompolinsky 2017: a function of x.z is admissible iff its Taylor coefficients "
                "are >= 0)";
        }
        return result;
    }
    if (series.tail == Series::Tail::unknown) {
        result.because = start + "the signs of the further coefficients are not known";
    } else if (series.negative(0)) {
        result.definite = Definite::conditional;
        result.because = start +
                         "only the constant is below 0, which vanishes against weights that "
                         "sum to 0";
    } else {
        result.definite = Definite::positive;
        result.because = start +
                         "no coefficient is below 0 (Sompolinsky 2017: Taylor-sign rule; Ralescu "
                         "2016 corollary 1)";
        // Whole powers of a strictly positive definite t are so (Schur), and the rest adds nothing
        // below 0.
        if (series.strict && series.first_positive()) {
            result.distinct =
                OfDistinctRows::strictly("a power of " + series.base_text + ", which is so");
        }
        result.distinct.positive_diagonal |= series.a[0] > Series::rounding * series.size[0];
    }
    return result;
}

}  // namespace mercer
