// The margin of any given plane on labelled rows (003, equation 3.8), whoever found it.
//
//   const PlaneMargin m = plane_margin({.w = {1, -2}, .b = 0.5}, data);
//   m.functional;               // min y (w·x + b)
//   m.geometric;                // the same over ‖w‖: how far the nearest row is, < 0 if wrong
//   m.nearest;                  // the rows of least margin
//   plane_margin(model, data);  // that of a machine of two classes, in its space
//
// The two ways to say how soft a margin may be, turned into one another (001): if ν-SV
// classification leads to ρ > 0, C-SV classification with C = 1/ρ leads to the same decision
// function; and a C-machine is the ν-machine with ν = Σ α_i / (C m).
//
//   const SoftMargin s = equivalent_settings(model).front();
//   s.nu, s.C;                                         // either may be trained with
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

/// {x : w·x + b = 0}.
struct Hyperplane {
    std::vector<double> w{};
    double b = 0;
};

struct PlaneMargin {
    std::string positive{};      ///< the class that should lie on the side of w
    double norm = 0;             ///< ‖w‖
    double functional = 0;       ///< min over the rows of y f(x), f(x) = w·x + b
    double geometric = 0;        ///< functional / ‖w‖
    std::size_t errors = 0;      ///< rows with y f(x) <= 0
    std::vector<double> rows{};  ///< y f(x) of each
    /// Rows by y f(x), least first: those that decide the margin, or that are wrong.
    std::vector<std::size_t> nearest{};

    /// All rows lie on their side; else the margin of 003 is −∞.
    bool separates() const { return errors == 0; }
};

/// `positive` names the class with y = +1; empty: the larger number, or the last name. Throws
/// InvalidInput unless the rows have labels of exactly two classes, w one number a column, all
/// finite and not all 0.
PlaneMargin plane_margin(const Hyperplane& plane, const Dataset& data,
                         const std::string& positive = "");
/// The plane Σ α_i k(x_i, ·) + b = 0 of a trained machine of two classes, in the feature space of
/// its kernel; for other machines throws InvalidInput. Positive is the class of positive decisions.
PlaneMargin plane_margin(const Model& model, const Dataset& data);

struct SoftMargin {
    std::string name{};  ///< "3 vs 8" among several, else empty
    double nu = 0;
    double C = 0;
    double rho = 0;  ///< 1/C
};

/// One for each output of an svc or nu-svc model: pairs of classes trained with one ν have a C of
/// their own each, and the other way round. Scalings are those of learn/svm/svm.hpp. Throws
/// InvalidInput for other tasks, a ν-machine without margin (ρ = 0), weighted classes, and models
/// that do not say what they were trained with.
std::vector<SoftMargin> equivalent_settings(const Model& model);

}  // namespace mercer
