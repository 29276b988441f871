// The real parameters of a kernel expression, to be looked at and replaced: what a search or a
// gradient moves.
//
//   const Kernel k = Kernel::parse("2*rbf(sigma=3) + linear");
//   parameters(k);                                 // factor 2, sigma 3
//   with_parameters(k, std::array{0.5, 1.0});      // 0.5*rbf(sigma=1) + linear
//
// Whole numbers (degrees), the smoothness nu of Matérn, exponents of powers and column subsets are
// the shape of an expression, not parameters of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

struct KernelParameter {
    std::string name;  ///< as written: "sigma"; "factor" of a scaled part, "value" of a constant
    std::string part;  ///< text of the part it belongs to: "rbf(sigma=3)"
    double value = 0;
};

/// All of them, a part's own before those of the parts inside it, from left to right; defaults that
/// were not written are listed too. Throws InvalidInput while a rule waits for data.
std::vector<KernelParameter> parameters(const Kernel& kernel);

/// The same expression with these values, in the order of `parameters`. Throws InvalidInput for a
/// wrong count and for a value out of its range. The shape is kept even where parts cancel;
/// `Kernel::parse(k.text())` brings it to the usual form.
Kernel with_parameters(const Kernel& kernel, std::span<const double> values);

}  // namespace mercer
