// A model as a list of operations on numbers, which every format of export writes down in its own
// words. There are three kinds of value: one number or several of the row that is predicted, and
// one number for each point of a sample (the points of the expansion, or those a kernel is centred
// on).
//
//   Program program(4);                                    // rows of 4 columns
//   const Value t = program.pair(Op::squared, program.input(), points, 0);
//   const Value k = program.apply(Op::exp, program.times(t, -0.5));
//   program.result = program.expand(k, coefficients);      // Σ α_i exp(−½ ‖x − x_i‖²)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/matrix.hpp"

namespace mercer::exports {

enum class Op {
    input,     // the row
    constant,  // numbers: one, one a column, or one a point
    column,    // the column `index` of a
    select,    // the columns `positions` of a
    stack,     // values side by side
    product,   // a times the table, which has as many rows as a columns
    sum,       // of the columns of a
    largest,   // of the columns of a
    // Numbers of a pair, the row and each point (the rows of the table): see PairNumber.
    dot,
    squared,
    absolute,
    chi2,
    minima,
    sine,    // number: the period
    anova,   // number: gamma; index: the degree
    mean,    // over the points
    expand,  // Σ over the points by the table, one row an output
    // One number at a time.
    negate,
    exp,
    log,
    root,
    magnitude,
    sin,
    cos,
    tanh,
    sign,
    floor,
    logistic,
    missing,  // 1 where it is not a number, else 0
    // Two at a time.
    add,
    subtract,
    multiply,
    divide,
    power,
    least,
    most,
    at_most,  // 1 where a <= b, else 0
    above,    // 1 where a > b, else 0
    choose,   // b where a is not 0, else c
    // Wu, Lin and Weng's probabilities of classes from those of pairs (learn/detail/platt.hpp).
    couple,
};

constexpr std::size_t no_sample = static_cast<std::size_t>(-1);

/// Which operation of its program, and how large its result is.
struct Value {
    std::size_t at = 0;
    std::size_t width = 1;           ///< columns, or points
    std::size_t sample = no_sample;  ///< the sample it has one number a point of

    bool on_points() const { return sample != no_sample; }
};

struct Operation {
    Op op = Op::input;
    std::vector<Value> of{};
    Value value{};
    std::vector<double> numbers{};         ///< constant
    std::vector<std::size_t> positions{};  ///< select
    Matrix<double> table{};                ///< product, pairs, expand
    double number = 0;
    std::size_t index = 0;
    bool steep = false;  ///< squared: differences are to be taken before they are squared
};

/// Operations in an order in which they can be carried out.
class Program {
   public:
    explicit Program(std::size_t columns);

    Value input() const { return operations_.front().value; }
    Value constant(double number);
    Value constants(std::vector<double> numbers, std::size_t sample = no_sample);
    Value column(Value a, std::size_t index);
    Value select(Value a, std::vector<std::size_t> positions);
    Value stack(const std::vector<Value>& parts);
    Value product(Value a, Matrix<double> table);
    /// sum, largest: one number of several; mean: of the points.
    Value reduce(Op op, Value a);
    /// A number of the row and each point.
    Value pair(Op op, Value row, const Matrix<double>& points, std::size_t sample,
               double number = 0, std::size_t index = 0, bool steep = false);
    Value expand(Value a, Matrix<double> coefficients);
    /// Element by element; single numbers go with all others, the columns of a row not with points.
    Value apply(Op op, Value a);
    Value apply(Op op, Value a, Value b);
    Value apply(Op op, Value a, Value b, Value c);
    Value times(Value a, double factor);
    Value plus(Value a, double number);
    Value couple(Value pairs, std::size_t classes);

    const std::vector<Operation>& operations() const { return operations_; }
    const Operation& operator[](Value value) const { return operations_[value.at]; }

    Value result{};

   private:
    Value add(Operation operation);

    std::vector<Operation> operations_{};
};

/// What each operation is called in messages and comments: "exp".
const char* name_of(Op op);

}  // namespace mercer::exports
