// How decision values become probabilities, as a program: learn/calibration.cpp, operation by
// operation.
#include <algorithm>

#include "mercer/learn/calibration.hpp"
#include "mercer/persist/export/detail/compile.hpp"

namespace mercer::exports {
namespace {

bool one_against_rest(const Model& model) {
    return model.multi_class() == MultiClass::one_vs_rest && model.classes() > 2;
}

/// One score per class (class_scores).
Value scores_of_classes(Program& program, const Model& model) {
    const Value f = program.input();
    if (one_against_rest(model)) return f;
    const std::size_t k = model.classes();
    Matrix<double> table(f.width, k);
    if (k == 2) {
        table(0, 0) = 1;
        return program.product(f, std::move(table));
    }
    std::size_t pair = 0;
    for (std::size_t a = 0; a < k; ++a) {
        for (std::size_t b = a + 1; b < k; ++b, ++pair) {
            table(pair, a) = 1;
            table(pair, b) = -1;
        }
    }
    return program.product(f, std::move(table));
}

Value softmax_of(Program& program, Value scores, double temperature) {
    const Value below = program.apply(Op::subtract, scores, program.reduce(Op::largest, scores));
    const Value weights = program.apply(Op::exp, program.times(below, 1 / temperature));
    return program.apply(Op::divide, weights, program.reduce(Op::sum, weights));
}

/// A rising curve: its first value, and of each piece as much as x has gone of its way.
Value rising_curve(Program& program, Value x, const IsotonicMap& map) {
    std::vector<double> from, width, rise;
    for (std::size_t i = 1; i < map.at.size(); ++i) {
        from.push_back(map.at[i - 1]);
        width.push_back(map.at[i] - map.at[i - 1]);
        rise.push_back(map.value[i] - map.value[i - 1]);
    }
    if (from.empty()) return program.plus(program.times(x, 0), map.value.front());
    const Value walked = program.apply(Op::subtract, x, program.constants(std::move(from)));
    const Value share = program.apply(Op::divide, walked, program.constants(std::move(width)));
    const Value within = program.apply(Op::most, program.constant(0),
                                       program.apply(Op::least, program.constant(1), share));
    const Value parts = program.apply(Op::multiply, within, program.constants(std::move(rise)));
    return program.plus(program.reduce(Op::sum, parts), map.value.front());
}

/// The probability of the first class of each output.
Value sure_of_outputs(Program& program, const Calibration& learnt) {
    const Value f = program.input();
    if (!learnt.isotonic) {
        std::vector<double> a, b;
        for (const Sigmoid& s : learnt.sigmoids) {
            a.push_back(-s.a);
            b.push_back(-s.b);
        }
        const Value z =
            program.apply(Op::add, program.apply(Op::multiply, f, program.constants(std::move(a))),
                          program.constants(std::move(b)));
        return program.apply(Op::logistic, z);
    }
    std::vector<Value> curves;
    const Matrix<double>& table = *learnt.isotonic;
    for (std::size_t output = 0; output < f.width; ++output) {
        IsotonicMap map;
        for (std::size_t r = 0; r < table.rows(); ++r) {
            if (table(r, 0) != static_cast<double>(output)) continue;
            map.at.push_back(table(r, 1));
            map.value.push_back(table(r, 2));
        }
        curves.push_back(rising_curve(program, program.column(f, output), map));
    }
    return program.stack(curves);
}

/// inside_probability of learn/detail/density_marks.cpp: how many marks are not above f.
Value by_density_marks(Program& program, const DensityMarks& marks) {
    const Value f = program.column(program.input(), 0);
    const auto& limits = marks.marks.values();
    const Value passed = program.apply(Op::at_most, program.constants(limits), f);
    const auto count = static_cast<double>(limits.size());
    const Value share = program.times(program.reduce(Op::sum, passed), 1 / count);
    const Value inside = program.apply(Op::most, program.constant(0.001),
                                       program.apply(Op::least, program.constant(0.999), share));
    return program.stack({inside, program.plus(program.apply(Op::negate, inside), 1)});
}

}  // namespace

std::optional<Program> compile_probabilities(const Model& model) {
    if (!has_probabilities(model)) return std::nullopt;
    Program program(model.expansion().outputs());
    if (model.task() == Task::one_class) {
        program.result = by_density_marks(program, *model.extras().find<DensityMarks>());
        return program;
    }
    const Calibration& learnt = *model.extras().find<Calibration>();
    if (learnt.temperature) {
        program.result =
            softmax_of(program, scores_of_classes(program, model), (*learnt.temperature)(0, 0));
        return program;
    }
    const Value sure = program.apply(
        Op::most, program.constant(1e-7),
        program.apply(Op::least, program.constant(1 - 1e-7), sure_of_outputs(program, learnt)));
    if (one_against_rest(model)) {
        program.result = program.apply(Op::divide, sure, program.reduce(Op::sum, sure));
    } else if (model.classes() == 2) {
        const Value first = program.column(sure, 0);
        program.result = program.stack({first, program.plus(program.apply(Op::negate, first), 1)});
    } else {
        program.result = program.couple(sure, model.classes());
    }
    return program;
}

}  // namespace mercer::exports
