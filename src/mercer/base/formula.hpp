// A formula over the columns of one row, written as text: "x0^2 + sin(x1)", "1 + |age|/10".
// It is how a person gives f in k(x,z) = f(x) f(z), the map φ in k(φ(x), φ(z)), or the shape ζ(x)
// of a regression tube, without writing a program.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

class Scanner;

/// An arithmetic expression in x0, x1, … (columns from 0) or in column names; immutable.
///
///   formula := sum of products of powers with + - * / ^ and parentheses
///   atoms   := numbers, pi, e, x0 x1 … or x[0], column names (x too; in double quotes when they
///   are
///              not plain words or mean something here), norm (Euclidean length of the row)
///   calls   := exp log sqrt abs sin cos tan tanh sign floor min(a,b) max(a,b), |a| = abs(a)
///
/// '^' binds tighter than unary minus and groups to the right, as in mathematics: -x0^2 = -(x0^2).
class Formula {
   public:
    /// Throws InvalidInput with the text and a caret.
    static Formula parse(std::string_view text);
    /// Reads as much as is a formula, for languages that contain formulas.
    static Formula parse(Scanner& scanner);

    /// Text that parses back to the same formula.
    std::string text() const;

    /// The value at one row. Names must have been bound. Columns beyond the row are an error.
    double operator()(std::span<const double> row) const;

    /// The same formula with column names replaced by their positions in `names`.
    /// Throws InvalidInput for a name that is not there (and suggests the nearest).
    Formula bind(std::span<const std::string> names) const;

    /// True while a column name still waits for `bind`.
    bool has_names() const;

    /// One more than the highest column used; 0 when none is.
    std::size_t columns_needed() const;

    friend bool operator==(const Formula& a, const Formula& b) { return a.text() == b.text(); }

    struct Node;

   private:
    explicit Formula(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
    std::shared_ptr<const Node> root_;
};

}  // namespace mercer
