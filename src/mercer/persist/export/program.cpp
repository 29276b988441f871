#include "mercer/persist/export/detail/program.hpp"

#include <algorithm>
#include <utility>

namespace mercer::exports {

const char* name_of(Op op) {
    static const char* const names[] = {
        "input",     "constant", "column",   "select",   "stack",  "product", "sum",
        "largest",   "dot",      "squared",  "absolute", "chi2",   "minima",  "sine",
        "anova",     "mean",     "expand",   "negate",   "exp",    "log",     "root",
        "magnitude", "sin",      "cos",      "tanh",     "sign",   "floor",   "logistic",
        "missing",   "add",      "subtract", "multiply", "divide", "power",   "least",
        "most",      "at_most",  "above",    "choose",   "couple"};
    return names[static_cast<std::size_t>(op)];
}

Program::Program(std::size_t columns) {
    add({.op = Op::input, .value = {.width = columns}});
    result = input();
}

Value Program::add(Operation operation) {
    operation.value.at = operations_.size();
    operations_.push_back(std::move(operation));
    return operations_.back().value;
}

Value Program::constant(double number) {
    return constants({number});
}

Value Program::constants(std::vector<double> numbers, std::size_t sample) {
    const Value value{.width = numbers.size(), .sample = sample};
    return add({.op = Op::constant, .value = value, .numbers = std::move(numbers)});
}

Value Program::column(Value a, std::size_t index) {
    return add({.op = Op::column, .of = {a}, .index = index});
}

Value Program::select(Value a, std::vector<std::size_t> positions) {
    const Value value{.width = positions.size()};
    return add({.op = Op::select, .of = {a}, .value = value, .positions = std::move(positions)});
}

Value Program::stack(const std::vector<Value>& parts) {
    std::size_t width = 0;
    for (const Value& part : parts) width += part.width;
    return add({.op = Op::stack, .of = parts, .value = {.width = width}});
}

Value Program::product(Value a, Matrix<double> table) {
    const Value value{.width = table.columns()};
    return add({.op = Op::product, .of = {a}, .value = value, .table = std::move(table)});
}

Value Program::reduce(Op op, Value a) {
    return add({.op = op, .of = {a}});
}

Value Program::pair(Op op, Value row, const Matrix<double>& points, std::size_t sample,
                    double number, std::size_t index, bool steep) {
    return add({.op = op,
                .of = {row},
                .value = {.width = points.rows(), .sample = sample},
                .table = points,
                .number = number,
                .index = index,
                .steep = steep});
}

Value Program::expand(Value a, Matrix<double> coefficients) {
    const Value value{.width = coefficients.rows()};
    return add({.op = Op::expand, .of = {a}, .value = value, .table = std::move(coefficients)});
}

Value Program::apply(Op op, Value a) {
    return add({.op = op, .of = {a}, .value = a});
}

Value Program::apply(Op op, Value a, Value b) {
    const Value& larger = a.on_points() || (!b.on_points() && a.width >= b.width) ? a : b;
    return add({.op = op, .of = {a, b}, .value = larger});
}

Value Program::apply(Op op, Value a, Value b, Value c) {
    Value larger = a;
    for (const Value& other : {b, c}) {
        if (other.on_points() || (!larger.on_points() && other.width > larger.width)) {
            larger = other;
        }
    }
    return add({.op = op, .of = {a, b, c}, .value = larger});
}

Value Program::times(Value a, double factor) {
    return factor == 1 ? a : apply(Op::multiply, a, constant(factor));
}

Value Program::plus(Value a, double number) {
    return number == 0 ? a : apply(Op::add, a, constant(number));
}

Value Program::couple(Value pairs, std::size_t classes) {
    return add({.op = Op::couple, .of = {pairs}, .value = {.width = classes}, .index = classes});
}

}  // namespace mercer::exports
