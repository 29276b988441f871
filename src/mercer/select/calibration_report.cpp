#include "mercer/select/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

void check(MatrixView<const double> p, std::span<const std::size_t> truth, std::size_t bins) {
    if (p.rows == 0) throw InvalidInput("there are no rows to judge probabilities by");
    if (p.rows != truth.size()) {
        throw InvalidInput("there are " + std::to_string(p.rows) + " rows of probabilities for " +
                           std::to_string(truth.size()) + " labels");
    }
    if (p.columns < 2) throw InvalidInput("probabilities of at least two classes are needed");
    if (bins < 1 || bins > 1000) {
        throw InvalidInput("bins = " + std::to_string(bins) + " must be from 1 to 1000");
    }
    for (std::size_t i = 0; i < p.rows; ++i) {
        if (truth[i] >= p.columns) throw InvalidInput("a label is beyond the classes");
        for (const double value : p.row(i)) {
            if (!(value >= 0 && value <= 1)) {
                throw InvalidInput("row " + std::to_string(i + 1) + " has the probability " +
                                   format_number(value) + "; it must be from 0 to 1");
            }
        }
    }
}

}  // namespace

CalibrationReport calibration_report(MatrixView<const double> p, std::span<const std::size_t> truth,
                                     std::size_t bins) {
    check(p, truth, bins);
    CalibrationReport r{.rows = p.rows, .classes = p.columns};
    const auto n = static_cast<double>(p.rows);
    const bool two = p.columns == 2;
    const double width = 1 / static_cast<double>(bins);
    r.bins.resize(bins);
    for (std::size_t b = 0; b < bins; ++b) {
        r.bins[b].low = static_cast<double>(b) * width;
        r.bins[b].high = static_cast<double>(b + 1) * width;
    }
    for (std::size_t i = 0; i < p.rows; ++i) {
        const auto row = p.row(i);
        const auto likeliest =
            static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
        r.accuracy += likeliest == truth[i] ? 1 / n : 0;
        for (std::size_t c = two ? 1 : 0; c < p.columns; ++c) {
            const double miss = row[c] - (truth[i] == c ? 1 : 0);
            r.brier += miss * miss / n;
        }
        r.log_loss -= std::log(std::max(row[truth[i]], std::numeric_limits<double>::epsilon())) / n;
        const std::size_t watched = two ? 1 : likeliest;
        const double predicted = row[watched];
        std::size_t place = 0;
        while (place + 1 < bins && predicted > r.bins[place].high) ++place;
        ReliabilityBin& bin = r.bins[place];
        ++bin.rows;
        bin.predicted += predicted;
        bin.observed += truth[i] == watched ? 1 : 0;
    }
    for (ReliabilityBin& bin : r.bins) {
        if (bin.rows == 0) continue;
        const auto count = static_cast<double>(bin.rows);
        bin.predicted /= count;
        bin.observed /= count;
        const double miss = std::abs(bin.predicted - bin.observed);
        r.expected_error += count / n * miss;
        r.largest_error = std::max(r.largest_error, miss);
    }
    return r;
}

}  // namespace mercer
