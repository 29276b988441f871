// Trials on some rows, timed and judged, and what they say of more.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mercer/learn/machine.hpp"

namespace mercer {

/// One machine of some rows.
struct Trial {
    std::size_t rows = 0;
    double seconds = 0;
    double error = 0;    ///< on the rows held out: share wrong, or mean squared error
    double support = 0;  ///< share of the rows that are points of the expansion
    bool ended = true;   ///< before its time was over
};

/// The power of the rows that the time of trials goes with: by the last three of them, or as
/// `otherwise` says where there are fewer than two. From 1 to 4.
double time_growth(std::span<const Trial> trials, double otherwise);

/// The error that trials lead one to expect of so many rows: it falls as a power of the rows, by
/// the last three, and never rises.
double error_at(std::span<const Trial> trials, double rows);

/// Rows that are learnt from, in one order, and rows that are judged on.
class Pilot {
   public:
    Pilot(const FitSettings& common, const Dataset& data, std::size_t most_rows);

    std::size_t most() const { return learnt_.size(); }
    std::size_t held() const { return held_.size(); }
    /// The first so many.
    Dataset rows(std::size_t count) const;
    /// A machine of the first so many rows. `seconds`: it is stopped after them; 0: it is not.
    Trial run(const std::function<Machine(const FitSettings&)>& make, std::size_t count,
              double seconds) const;
    /// How far an error found on the rows held out may be off, as a deviation.
    double deviation(Task task, double error) const;

   private:
    /// The error of always saying the most frequent class, or the mean.
    double guess(Task task) const;

    FitSettings common_;
    const Dataset& data_;
    std::vector<std::size_t> learnt_{};
    Dataset held_{};
};

/// Cells of all rows, some of which were learnt.
struct CellTrial {
    std::size_t cells = 0;  ///< learnt
    double seconds = 0;     ///< that all of them would take on all threads
    double error = 0;       ///< as of a trial, from rows of the cells held out
    double deviation = 0;
    double mean_rows = 0;  ///< of a cell
};

/// Learns the cells of some rows drawn at random, until the time is over. Nothing for machines that
/// cannot be learnt in cells.
std::optional<CellTrial> try_cells(const FitSettings& common, const CellRule& how,
                                   const std::function<Machine(const FitSettings&)>& make,
                                   const Dataset& data, double seconds);

/// As people read it: the share wrong as it is, of squared errors the root.
double error_shown(Task task, double error);

}  // namespace mercer
