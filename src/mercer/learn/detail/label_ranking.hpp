// A ranking of labels learnt by coordinate ascent, row by row. For learn/multi_label.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"

namespace mercer {

/// Labels a row has, and those it has not.
struct LabelSets {
    std::vector<std::size_t> had{};
    std::vector<std::size_t> not_had{};
    double pairs() const { return static_cast<double>(had.size() * not_had.size()); }
};

/// Coordinate ascent: α of every pair of labels of every row.
class LabelRanking {
   public:
    /// `bounds`: C times the weight of each row; `room`: kernel values that may be held beside `k`.
    LabelRanking(const Matrix<double>& k, const std::vector<LabelSets>& sets, std::size_t labels,
                 std::span<const double> bounds, std::size_t room);

    /// Over all rows, and then over those that moved among themselves, where fewer values have to
    /// be kept up to date; those of all rows follow at the end. `goes_on` may cut that short.
    void pass(const std::function<bool()>& goes_on);

    struct Values {
        double primal = 0;
        double dual = 0;
    };
    Values values() const;
    const Matrix<double>& beta() const { return beta_; }
    const Matrix<double>& values_on_rows() const { return f_; }

   private:
    double visit(std::size_t i, std::size_t place, MatrixView<const double> k,
                 MatrixView<double> f);
    void settle(const std::vector<std::size_t>& rows, const std::function<bool()>& goes_on);

    const Matrix<double>& k_;
    const std::vector<LabelSets>& sets_;
    std::span<const double> c_;
    std::size_t room_;
    std::vector<std::vector<double>> alpha_{};
    Matrix<double> beta_;
    Matrix<double> f_;
    std::vector<double> change_;  ///< of β, in the row that is visited
};

}  // namespace mercer
