// Gaussian processes in the span of some rows.
#pragma once

#include "mercer/learn/risk/gaussian_process.hpp"

namespace mercer {

/// One pass over the rows for the moments of their features, one for the certificate; memory for
/// centres². Parameters of the kernel and the noise, where they are to be found, are found on at
/// most 2000 rows. Among the figures of the report are log_evidence_at_least and
/// log_evidence_at_most, between which log p(y) lies under the kernel itself. Throws InvalidInput
/// and Cancelled.
Model process_in_span(GaussianProcessSettings settings, const Dataset& data, const Nystroem& how);

/// The kernel's parameters and the noise, found on at most 2000 of the rows; the report gets its
/// figures, history and status.
void search_on_some(GaussianProcessSettings& settings, const Dataset& data, Report& report);

}  // namespace mercer
