// How far a regression misses, as a distribution.
#pragma once

#include "mercer/base/export.hpp"
#include "mercer/data/dataset.hpp"

namespace mercer MERCER_API {

/// The scale σ of a Laplace density e^(−|z|/σ)/(2σ) for the errors z of predictions on rows that
/// the machine had not seen: their mean size, once those beyond five standard deviations of the
/// first estimate are left out (Lin and Weng 2004, the rule of LIBSVM's -b 1).
double laplace_scale(const Labels& predicted, const Labels& truth);

}  // namespace mercer
