// A kernel expression as operations: its leaves by what they read of two rows and the steps of
// their fast forms, its combinations by arithmetic.
#include <cmath>
#include <utility>

#include "mercer/base/detail/formula_tree.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf.hpp"
#include "mercer/persist/export/detail/compile.hpp"

namespace mercer::exports {
namespace {

/// The row, and the two samples as the part of the kernel at hand sees them.
struct Seen {
    Value row{};
    Matrix<double> samples[2]{};
};
constexpr std::size_t points_sample = 0;
constexpr std::size_t reference_sample = 1;

Matrix<double> as_matrix(const Rows& rows) {
    Matrix<double> result(rows.size(), rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) rows.copy_row(i, result.row(i));
    return result;
}

std::string part_text(const KernelNode& node) {
    return quoted(node.entry().name);
}

/// center(k) takes its means of k over the reference, which are numbers once k is: means[i] of the
/// points of a sample, and that of all pairs.
struct ReferenceMeans {
    std::vector<double> means{};
    double among = 0;
};
std::vector<double> means_of(const Kernel& k, const Matrix<double>& rows,
                             const Matrix<double>& reference) {
    std::vector<double> means(rows.rows(), 0.0);
    parallel_for(rows.rows(), [&](std::size_t i) {
        for (std::size_t j = 0; j < reference.rows(); ++j) {
            means[i] += k(rows.row(i), reference.row(j));
        }
        means[i] /= static_cast<double>(reference.rows());
    });
    return means;
}
ReferenceMeans reference_means(const Kernel& k, const Seen& seen, std::size_t sample) {
    if (contains(k, KernelKind::center)) refuse_export("center(…) inside center(…)");
    const Matrix<double>& reference = seen.samples[reference_sample];
    ReferenceMeans result{.means = means_of(k, seen.samples[sample], reference)};
    for (const double mean : means_of(k, reference, reference)) result.among += mean;
    result.among /= static_cast<double>(reference.rows());
    return result;
}

/// k(z, z) of the points of a sample.
std::vector<double> diagonal(const Kernel& k, const Seen& seen, std::size_t sample) {
    const Matrix<double>& points = seen.samples[sample];
    const bool center = k.node().kind == KernelKind::center;
    const Kernel& plain = center ? k.node().children.front() : k;
    if (!center && contains(k, KernelKind::center)) {
        refuse_export("center(…) in the kernel that normalize(…) or rbf(…, …) is of");
    }
    std::vector<double> result;
    for (std::size_t i = 0; i < points.rows(); ++i) {
        result.push_back(plain(points.row(i), points.row(i)));
    }
    if (!center) return result;
    const ReferenceMeans means = reference_means(plain, seen, sample);
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] += means.among - 2 * means.means[i];
    }
    return result;
}

// ---- formulas

class FormulaCompiler {
   public:
    FormulaCompiler(Program& program, Value row) : program_(program), row_(row) {}

    Value operator()(const FormulaTree& tree) {
        using Kind = FormulaTree::Kind;
        switch (tree.kind) {
            case Kind::number: return program_.constant(tree.value);
            case Kind::column:
                if (tree.column < row_.width) return program_.column(row_, tree.column);
                refuse_export("a formula reads column x" + std::to_string(tree.column) +
                              " of rows that have " + std::to_string(row_.width));
            case Kind::norm:
                return program_.apply(
                    Op::root, program_.reduce(Op::sum, program_.apply(Op::multiply, row_, row_)));
            case Kind::sum: return chain(tree, Op::add, Op::subtract);
            case Kind::product: return chain(tree, Op::multiply, Op::divide);
            case Kind::negate: return program_.apply(Op::negate, (*this)(tree.parts[0]));
            case Kind::power: {
                const Value base = (*this)(tree.parts[0]);
                return program_.apply(Op::power, base, (*this)(tree.parts[1]));
            }
            case Kind::call: return call(tree);
            default: refuse_export("a formula's column " + quoted(tree.name) + " is not bound");
        }
    }

   private:
    Value chain(const FormulaTree& tree, Op plain, Op inverse) {
        Value result = (*this)(tree.parts[0]);
        for (std::size_t i = 1; i < tree.parts.size(); ++i) {
            const Value part = (*this)(tree.parts[i]);
            result = program_.apply(tree.inverse[i] ? inverse : plain, result, part);
        }
        return result;
    }

    Value call(const FormulaTree& tree) {
        static const std::pair<const char*, Op> functions[] = {
            {"exp", Op::exp},       {"log", Op::log},   {"sqrt", Op::root},
            {"abs", Op::magnitude}, {"sin", Op::sin},   {"cos", Op::cos},
            {"tanh", Op::tanh},     {"sign", Op::sign}, {"floor", Op::floor}};
        const Value a = (*this)(tree.parts[0]);
        for (const auto& [name, op] : functions) {
            if (tree.name == name) return program_.apply(op, a);
        }
        if (tree.name == "tan") {
            return program_.apply(Op::divide, program_.apply(Op::sin, a),
                                  program_.apply(Op::cos, a));
        }
        if (tree.name == "min") return program_.apply(Op::least, a, (*this)(tree.parts[1]));
        if (tree.name == "max") return program_.apply(Op::most, a, (*this)(tree.parts[1]));
        refuse_export("the function " + quoted(tree.name) + " of a formula");
    }

    Program& program_;
    Value row_;
};

// ---- kernels

class KernelCompiler {
   public:
    explicit KernelCompiler(Program& program) : program_(program) {}

    /// k(x, z) for all z of a sample.
    Value with(const Kernel& kernel, const Seen& seen, std::size_t sample);
    /// k(x, x).
    Value itself(const Kernel& kernel, const Seen& seen);

   private:
    Value leaf_with(const KernelNode& node, const Seen& seen, std::size_t sample);
    Value leaf_itself(const KernelNode& node, const Seen& seen);
    Value steps(const KernelNode& node, Value t);
    Value step(const FastStep& step, Value r);
    Value matern(double nu, double rate, Value r);
    Value centered(const Kernel& inside, const Seen& seen, std::size_t sample);
    Value normalized(const Kernel& inside, const Seen& seen, std::size_t sample);
    Value gaussian_of(const KernelNode& node, const Seen& seen, std::size_t sample);
    /// The mean over the reference of k(x, z).
    Value mean_with_reference(const Kernel& kernel, const Seen& seen);
    Seen changed(const KernelNode& node, const Seen& seen);
    /// Of a sum, product, multiple, power or exponential: the parts by `part`, then combined.
    template <class Part>
    Value combined(const KernelNode& node, const Part& part);

    Program& program_;
};

std::vector<double> transformed(const KernelNode& node, std::span<const double> row) {
    std::vector<double> result;
    if (node.kind == KernelKind::columns) {
        for (const std::size_t i : node.subset.positions(row.size())) result.push_back(row[i]);
    } else {
        for (const Formula& f : node.formulas) result.push_back(f(row));
    }
    return result;
}

Seen KernelCompiler::changed(const KernelNode& node, const Seen& seen) {
    Seen result;
    if (node.kind == KernelKind::columns) {
        result.row = program_.select(seen.row, node.subset.positions(seen.row.width));
    } else {
        if (node.children.size() != 1) refuse_export("the part " + part_text(node) + " of texts");
        std::vector<Value> coordinates;
        for (const Formula& f : node.formulas) {
            coordinates.push_back(FormulaCompiler(program_, seen.row)(tree_of(f)));
        }
        result.row = program_.stack(coordinates);
    }
    for (std::size_t s = 0; s < 2; ++s) {
        const Matrix<double>& sample = seen.samples[s];
        if (sample.rows() == 0) continue;
        result.samples[s] = Matrix<double>(sample.rows(), result.row.width);
        for (std::size_t i = 0; i < sample.rows(); ++i) {
            std::ranges::copy(transformed(node, sample.row(i)), result.samples[s].row(i).begin());
        }
    }
    return result;
}

template <class Part>
Value KernelCompiler::combined(const KernelNode& node, const Part& part) {
    Value result = part(node.children.front());
    for (std::size_t i = 1; i < node.children.size(); ++i) {
        const Value next = part(node.children[i]);
        result =
            program_.apply(node.kind == KernelKind::sum ? Op::add : Op::multiply, result, next);
    }
    if (node.kind == KernelKind::scale) return program_.times(result, node.value);
    if (node.kind == KernelKind::power) {
        return program_.apply(Op::power, result, program_.constant(node.value));
    }
    return node.kind == KernelKind::exp ? program_.apply(Op::exp, result) : result;
}

Value KernelCompiler::matern(double nu, double rate, Value r) {
    // (1 + s + s²/3) e^−s with s = √(2ν) r b, by ν (kernel/leaf/matern.cpp).
    const Value s = program_.times(program_.apply(Op::root, r), std::sqrt(2 * nu) * rate);
    const Value decay = program_.apply(Op::exp, program_.apply(Op::negate, s));
    if (nu == 0.5) return decay;
    Value factor = program_.plus(s, 1);
    if (nu == 2.5) {
        const Value square = program_.times(program_.apply(Op::multiply, s, s), 1.0 / 3);
        factor = program_.apply(Op::add, factor, square);
    }
    return program_.apply(Op::multiply, factor, decay);
}

Value KernelCompiler::step(const FastStep& step, Value r) {
    switch (step.code) {
        case FastCode::affine: return program_.plus(program_.times(r, step.a), step.b);
        case FastCode::exp: return program_.apply(Op::exp, program_.times(r, step.a));
        case FastCode::power: return program_.apply(Op::power, r, program_.constant(step.a));
        case FastCode::tanh: return program_.apply(Op::tanh, r);
        case FastCode::logistic: return program_.apply(Op::logistic, r);
        case FastCode::root: return program_.apply(Op::root, r);
        case FastCode::matern: return matern(step.a, step.b, r);
        case FastCode::at_most: return program_.apply(Op::at_most, r, program_.constant(step.a));
    }
    refuse_export("a step of a kernel");
}

Value KernelCompiler::steps(const KernelNode& node, Value t) {
    if (node.leaf->fast == nullptr) {
        refuse_export("the kernel " + part_text(node) + ", which is a program and no formula");
    }
    for (const FastStep& next : node.leaf->fast(node).steps) t = step(next, t);
    return t;
}

Op op_of(const KernelNode& node, PairNumber number) {
    switch (number) {
        case PairNumber::dot: return Op::dot;
        case PairNumber::squared: return Op::squared;
        case PairNumber::absolute: return Op::absolute;
        case PairNumber::chi2: return Op::chi2;
        case PairNumber::minima: return Op::minima;
        case PairNumber::sine: return Op::sine;
        case PairNumber::anova: return Op::anova;
        default: break;
    }
    refuse_export("the kernel " + part_text(node) + ", which is a program and no formula");
}

void refuse_objects(const KernelNode& node) {
    if (!is_object_leaf(*node.leaf)) return;
    refuse_export("the kernel " + part_text(node) + ", which reads " +
                  std::string(object_words.word(object_kind(node))) + " as a whole");
}

Value KernelCompiler::leaf_with(const KernelNode& node, const Seen& seen, std::size_t sample) {
    refuse_objects(node);
    const Matrix<double>& points = seen.samples[sample];
    if (node.kind == KernelKind::outer) {
        const Formula& f = node.formulas.front();
        std::vector<double> sides;
        for (std::size_t i = 0; i < points.rows(); ++i) sides.push_back(f(points.row(i)));
        const Value own = FormulaCompiler(program_, seen.row)(tree_of(f));
        return program_.apply(Op::multiply, own, program_.constants(std::move(sides), sample));
    }
    if (node.kind == KernelKind::bilinear) {
        return program_.pair(Op::dot, program_.product(seen.row, node.matrix), points, sample);
    }
    const PairNumber number = pair_number(node);
    if (number == PairNumber::nothing) {
        const double value = node.leaf->value(node, 0);
        return program_.constants(std::vector<double>(points.rows(), value), sample);
    }
    const Op op = op_of(node, number);
    const std::string parameter = number_parameter(number);
    const std::size_t degree =
        op == Op::anova ? static_cast<std::size_t>(node.parameter("degree")) : 0;
    const bool steep = node.leaf->fast != nullptr && node.leaf->fast(node).steep;
    const Value t = program_.pair(op, seen.row, points, sample,
                                  parameter.empty() ? 0 : node.parameter(parameter), degree, steep);
    return steps(node, t);
}

Value KernelCompiler::leaf_itself(const KernelNode& node, const Seen& seen) {
    refuse_objects(node);
    if (node.kind == KernelKind::outer) {
        const Value own = FormulaCompiler(program_, seen.row)(tree_of(node.formulas.front()));
        return program_.apply(Op::multiply, own, own);
    }
    if (node.kind == KernelKind::bilinear) {
        const Value turned = program_.product(seen.row, node.matrix);
        return program_.reduce(Op::sum, program_.apply(Op::multiply, turned, seen.row));
    }
    const PairNumber number = pair_number(node);
    if (number == PairNumber::nothing) return program_.constant(node.leaf->value(node, 0));
    const Op op = op_of(node, number);
    Value t{};
    if (op == Op::dot) {
        t = program_.reduce(Op::sum, program_.apply(Op::multiply, seen.row, seen.row));
    } else if (op == Op::minima) {
        t = program_.reduce(Op::sum, seen.row);
    } else {
        // Differences are 0, whatever the row.
        const std::vector<double> zeros(seen.row.width, 0.0);
        t = program_.constant(number_value(node, number, zeros, zeros));
    }
    return steps(node, t);
}

Value KernelCompiler::mean_with_reference(const Kernel& kernel, const Seen& seen) {
    return program_.reduce(Op::mean, with(kernel, seen, reference_sample));
}

/// 002, equation 4.
Value KernelCompiler::centered(const Kernel& inside, const Seen& seen, std::size_t sample) {
    ReferenceMeans means = reference_means(inside, seen, sample);
    for (double& mean : means.means) mean = means.among - mean;
    const Value raw =
        program_.apply(Op::subtract, with(inside, seen, sample), mean_with_reference(inside, seen));
    return program_.apply(Op::add, raw, program_.constants(std::move(means.means), sample));
}

/// k(x, z) / √(k(x, x) k(z, z)), 0 where one of them is 0.
Value KernelCompiler::normalized(const Kernel& inside, const Seen& seen, std::size_t sample) {
    std::vector<double> inverse = diagonal(inside, seen, sample);
    for (double& zz : inverse) zz = zz > 0 ? 1 / std::sqrt(zz) : 0;
    const Value own = itself(inside, seen);
    const Value empty = program_.apply(Op::at_most, own, program_.constant(0));
    const Value length =
        program_.apply(Op::divide, program_.constant(1), program_.apply(Op::root, own));
    const Value raw = program_.apply(Op::multiply, with(inside, seen, sample),
                                     program_.constants(std::move(inverse), sample));
    return program_.apply(Op::multiply, raw,
                          program_.apply(Op::choose, empty, program_.constant(0), length));
}

/// exp(−gamma (k(x, x) + k(z, z) − 2 k(x, z)))
Value KernelCompiler::gaussian_of(const KernelNode& node, const Seen& seen, std::size_t sample) {
    const Kernel& inside = node.children.front();
    const Value other = program_.constants(diagonal(inside, seen, sample), sample);
    const Value both = program_.apply(Op::add, other, itself(inside, seen));
    const Value distance =
        program_.apply(Op::subtract, both, program_.times(with(inside, seen, sample), 2));
    return program_.apply(Op::exp, program_.times(distance, -node.parameter("gamma")));
}

Value KernelCompiler::with(const Kernel& kernel, const Seen& seen, std::size_t sample) {
    const KernelNode& node = kernel.node();
    if (node.leaf != nullptr) return leaf_with(node, seen, sample);
    switch (node.kind) {
        case KernelKind::columns:
        case KernelKind::map: return with(node.children.front(), changed(node, seen), sample);
        case KernelKind::center: return centered(node.children.front(), seen, sample);
        case KernelKind::normalize: return normalized(node.children.front(), seen, sample);
        case KernelKind::rbf_of: return gaussian_of(node, seen, sample);
        case KernelKind::sets: refuse_export("the part " + part_text(node) + " of the kernel");
        default:
            return combined(node, [&](const Kernel& part) { return with(part, seen, sample); });
    }
}

Value KernelCompiler::itself(const Kernel& kernel, const Seen& seen) {
    const KernelNode& node = kernel.node();
    if (node.leaf != nullptr) return leaf_itself(node, seen);
    const Kernel& inside = node.children.front();
    switch (node.kind) {
        case KernelKind::columns:
        case KernelKind::map: return itself(inside, changed(node, seen));
        case KernelKind::center: {
            const double among = reference_means(inside, seen, reference_sample).among;
            const Value twice = program_.times(mean_with_reference(inside, seen), 2);
            return program_.plus(program_.apply(Op::subtract, itself(inside, seen), twice), among);
        }
        case KernelKind::normalize:
            return program_.apply(Op::above, itself(inside, seen), program_.constant(0));
        case KernelKind::rbf_of: return program_.constant(1);
        case KernelKind::sets: refuse_export("the part " + part_text(node) + " of the kernel");
        default: return combined(node, [&](const Kernel& part) { return itself(part, seen); });
    }
}

}  // namespace

CompiledKernel compile_kernel(Program& program, Value row, const Expansion& expansion) {
    Seen seen{.row = row};
    seen.samples[points_sample] = as_matrix(expansion.points);
    seen.samples[reference_sample] = as_matrix(expansion.reference);
    KernelCompiler compiler(program);
    CompiledKernel result{.with_points = compiler.with(expansion.kernel, seen, points_sample)};
    if (expansion.self != 0) result.with_itself = compiler.itself(expansion.kernel, seen);
    return result;
}

}  // namespace mercer::exports
