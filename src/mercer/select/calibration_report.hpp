// Do probabilities keep their word? Of the rows told 70 %, do 70 % come true?
//
//   const CalibrationReport r = calibration_report(model.probabilities(test.x).view(), truth);
//   r.brier, r.log_loss, r.expected_error;      // one number each
//   for (const ReliabilityBin& b : r.bins) b.predicted; // the reliability picture
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"

namespace mercer MERCER_API {

/// Rows whose probability lies in (low, high], the first bin including 0.
struct ReliabilityBin {
    double low = 0;
    double high = 0;
    std::size_t rows = 0;
    double predicted = 0;  ///< mean probability
    double observed = 0;   ///< share that came true
};

struct CalibrationReport {
    std::size_t rows = 0;
    std::size_t classes = 0;
    double accuracy = 0;  ///< of the likeliest class
    /// Two classes: the mean of (p − 1[y])² for the last class; more: the mean over rows of
    /// Σ_c (p_c − 1[y = c])² (Brier 1950).
    double brier = 0;
    double log_loss = 0;
    /// Σ over bins of rows × |predicted − observed| / all rows.
    double expected_error = 0;
    double largest_error = 0;  ///< of a bin
    /// Two classes: of the probability of the last class; more: of the likeliest class.
    std::vector<ReliabilityBin> bins{};
};

/// `truth` are positions of classes, one per row. Throws InvalidInput for no rows, no bins,
/// probabilities outside [0, 1] and positions beyond the classes.
CalibrationReport calibration_report(MatrixView<const double> probabilities,
                                     std::span<const std::size_t> truth, std::size_t bins = 10);

}  // namespace mercer
