// Scaling of features: found on one set of rows, kept, and applied again to every later one.
//
//   const Scaling scaling = Scaling::fit(ScalingRule::parse("minmax(-1,1)"), train.x);
//   train.x = scaling.apply(train.x);
//   test.x = scaling.apply(test.x);          // the same map, never a fresh fit
//   std::string text = scaling.json();       // Scaling::from_json reads it back exactly
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/rows.hpp"

namespace mercer MERCER_API {

/// Which map, before it has seen data.
struct ScalingRule {
    enum class Kind {
        none,      ///< x
        standard,  ///< (x − mean) / deviation, column by column
        minmax,    ///< low + (high − low) (x − min) / (max − min), column by column
        unit,      ///< x / ‖x‖, row by row; a row of zeros stays
        factor,    ///< factor · x
    };
    Kind kind = Kind::none;
    double low = 0;
    double high = 1;
    double factor = 1;

    /// Reads "none", "standard", "minmax", "minmax(-1,1)", "unit", or a number or ratio such as
    /// "1/255". Throws InvalidInput.
    static ScalingRule parse(std::string_view text);

    /// Text that parses back to the same rule.
    std::string text() const;

    /// Throws InvalidInput, beginning with `place`, for an empty range or a factor of 0.
    void check(const std::string& place) const;

    friend bool operator==(const ScalingRule&, const ScalingRule&) = default;
};

/// A map from rows to rows. Immutable.
///
/// A column that is constant in the rows it was fitted on tells nothing apart, so it is mapped to
/// one value whatever comes later: 0, or `low` where 0 lies outside the range. Sparse rows stay
/// sparse when the map sends 0 to 0 (always for none, unit and factor; for minmax when each
/// column's zero lands on zero, as with non-negative features and low = 0). Otherwise they become
/// dense, and InvalidInput says so where the dense form would not fit in 4 GiB.
class Scaling {
   public:
    Scaling() = default;

    /// Throws InvalidInput for rows that are empty, hold a value that is not finite, or spread so
    /// wide that the width of a column overflows.
    static Scaling fit(const ScalingRule& rule, const Rows& rows);

    /// The rows mapped, in their own precision. Columns that sparse rows lack are zeros (test files
    /// often lack the last features); dense rows must have all, and more are InvalidInput.
    Rows apply(const Rows& rows) const;

    /// The way back, for rows made in the scaled space: dense rows that `apply` maps to these, with
    /// constant columns at their constant. Throws InvalidInput for unit, which forgets lengths, and
    /// for rows of another width.
    Rows undo(const Rows& rows) const;

    const ScalingRule& rule() const { return rule_; }
    /// True when 0 is sent to 0, so that sparse rows stay sparse.
    bool keeps_zeros() const;
    /// For standard the mean and the deviation of each column, for minmax the smallest value and
    /// the width; 0 as spread marks a constant column. Empty for the other kinds.
    const std::vector<double>& center() const { return center_; }
    const std::vector<double>& spread() const { return spread_; }

    /// JSON text that `from_json` reads back to an equal map.
    std::string json() const;
    /// `place` names the source in messages. Throws InvalidInput for anything but what `json`
    /// writes.
    static Scaling from_json(std::string_view text, const std::string& place = "scaling");

    friend bool operator==(const Scaling&, const Scaling&) = default;

   private:
    double mapped(std::size_t column, double value) const;
    template <class T>
    Rows apply_as(const Rows& rows) const;

    ScalingRule rule_;
    std::vector<double> center_;
    std::vector<double> spread_;
};

}  // namespace mercer
