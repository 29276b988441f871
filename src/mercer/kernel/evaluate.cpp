// The value of a kernel at one pair of rows: the formula itself, in double, without shortcuts.
// Everything faster (gram/) is tested against this.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"
#include "mercer/kernel/detail/power.hpp"

namespace mercer {
namespace {

using Row = std::span<const double>;
using Sample = std::vector<std::vector<double>>;

std::vector<double> mapped(const KernelNode& node, Row row) {
    std::vector<double> result;
    for (const Formula& f : node.formulas) result.push_back(leaves::formula_value(f, row));
    return result;
}

std::vector<double> picked(const KernelNode& node, Row row) {
    std::vector<double> result;
    for (const std::size_t i : node.subset.positions(row.size())) result.push_back(row[i]);
    return result;
}

/// The vectors of one set, as the header of `sets` lays them out.
std::vector<Row> members(const KernelNode& node, Row row) {
    const auto width = static_cast<std::size_t>(node.value);
    const std::size_t head = node.counted ? 1 : 0;
    if (row.size() < head || (row.size() - head) % width != 0) {
        throw InvalidInput("sets of width " + std::to_string(width) +
                           " need rows of a multiple of " + std::to_string(width) +
                           (node.counted ? " plus 1" : "") + " columns, found " +
                           std::to_string(row.size()));
    }
    std::size_t count = (row.size() - head) / width;
    if (node.counted) {
        const double given = row[0];
        if (!(given >= 0 && given <= static_cast<double>(count) && given == std::floor(given))) {
            throw InvalidInput(
                "the first number of a counted set must be a whole number from 0 to " +
                std::to_string(count) + ", found " + format_number(given));
        }
        count = static_cast<std::size_t>(given);
    }
    std::vector<Row> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(row.subspan(head + i * width, width));
    return result;
}

/// The members of a set: vectors, or parts of a text.
std::vector<Object> members_of(const KernelNode& node, const Object& set) {
    std::vector<Object> result;
    if (node.split == SetSplit::none) {
        const Row* row = std::get_if<Row>(&set);
        if (row == nullptr) {
            throw InvalidInput("sets of vectors are rows of numbers, not " +
                               std::string(object_words.word(kind_of(set))) +
                               "; the parts of a text are sets(k, split=lines)");
        }
        for (const Row member : members(node, *row)) result.emplace_back(member);
        return result;
    }
    const auto* text = std::get_if<std::string_view>(&set);
    if (text == nullptr) {
        throw InvalidInput("sets with split= are of texts, not of " +
                           std::string(object_words.word(kind_of(set))));
    }
    for (const std::string_view part : split_text(*text, node.split)) result.emplace_back(part);
    return result;
}

class Evaluator {
   public:
    /// `sample` is what `center` refers to; null when there is none.
    explicit Evaluator(const Sample* sample) : sample_(sample) {}

    double operator()(const KernelNode& node, const Object& x, const Object& z) const {
        if (node.leaf == nullptr) return combined(node, x, z);
        if (pair_number(node) == PairNumber::nothing) return node.leaf->value(node, 0);
        return is_object_leaf(*node.leaf) ? object_value(node, x, z)
                                          : leaf_at(node, numbers(node, x), numbers(node, z));
    }

   private:
    double child(const KernelNode& node, const Object& x, const Object& z) const {
        return (*this)(node.children.front().node(), x, z);
    }

    double combined(const KernelNode& node, const Object& x, const Object& z) const {
        double result = 0;
        switch (node.kind) {
            case KernelKind::sum:
                for (const Kernel& part : node.children) result += (*this)(part.node(), x, z);
                return result;
            case KernelKind::product:
                result = 1;
                for (const Kernel& part : node.children) result *= (*this)(part.node(), x, z);
                return result;
            case KernelKind::scale: return node.value * child(node, x, z);
            case KernelKind::power: return kernel_power(child(node, x, z), node.value);
            case KernelKind::exp: return std::exp(child(node, x, z));
            case KernelKind::normalize: return normalized(node, x, z);
            case KernelKind::center: return centered(node, x, z);
            case KernelKind::rbf_of: {
                const double distance =
                    child(node, x, x) + child(node, z, z) - 2 * child(node, x, z);
                return std::exp(-node.parameter("gamma") * distance);
            }
            case KernelKind::sets:
                return over_members(node, members_of(node, x), members_of(node, z));
            default: return transformed(node, x, z);
        }
    }

    double over_members(const KernelNode& node, const std::vector<Object>& x,
                        const std::vector<Object>& z) const {
        double sum = 0;
        for (const Object& a : x) {
            for (const Object& b : z) sum += child(node, a, b);
        }
        // An empty set has the feature 0, not 0 / 0.
        const double pairs = static_cast<double>(x.size()) * static_cast<double>(z.size());
        return node.mean && pairs > 0 ? sum / pairs : sum;
    }

    /// 0 when x or z is mapped to the origin, as the zero row by the linear kernel.
    double normalized(const KernelNode& node, const Object& x, const Object& z) const {
        const double xx = child(node, x, x);
        const double zz = child(node, z, z);
        if (xx < 0 || zz < 0) {
            throw InvalidInput("normalize needs k(x,x) >= 0, found " +
                               format_number(std::min(xx, zz)) +
                               "; the kernel inside is not positive definite");
        }
        if (xx == 0 || zz == 0) return 0;
        return child(node, x, z) / (std::sqrt(xx) * std::sqrt(zz));
    }

    /// 002, equation 4.
    double centered(const KernelNode& node, const Object& x, const Object& z) const {
        if (sample_ == nullptr || sample_->empty()) {
            throw InvalidInput(
                "center has no value without a sample whose centre it takes; use "
                "evaluate_centered or a Gram matrix");
        }
        const auto n = static_cast<double>(sample_->size());
        double with_x = 0;
        double with_z = 0;
        double among = 0;
        for (const auto& row : *sample_) {
            const Object a = Row(row);
            with_x += child(node, x, a);
            with_z += child(node, z, a);
            for (const auto& b : *sample_) among += child(node, a, Row(b));
        }
        return child(node, x, z) - with_x / n - with_z / n + among / (n * n);
    }

    /// columns and map change the rows, those of the sample too.
    double transformed(const KernelNode& node, const Object& x, const Object& z) const {
        if (node.children.size() > 1) return on_features(node, x, z);
        // One object has no columns to choose from: k[sequence] of a text is k.
        if (node.kind == KernelKind::columns && kind_of(x) != ObjectKind::numbers) {
            return child(node, x, z);
        }
        const auto change = node.kind == KernelKind::columns ? picked : mapped;
        const std::vector<double> new_x = change(node, numbers(node, x));
        const std::vector<double> new_z = change(node, numbers(node, z));
        if (sample_ == nullptr) return child(node, Row(new_x), Row(new_z));
        Sample changed;
        for (const auto& row : *sample_) changed.push_back(change(node, row));
        return Evaluator(&changed).child(node, Row(new_x), Row(new_z));
    }

    /// map(k, leaf): k of the leaf's features, of which only those count that one of the two has.
    double on_features(const KernelNode& node, const Object& x, const Object& z) const {
        const KernelNode& leaf = without_subsets(node.children[1].node());
        std::map<std::uint64_t, std::array<double, 2>> both;
        const Object* objects[] = {&x, &z};
        for (std::size_t i = 0; i < 2; ++i) {
            Features features;
            leaf.leaf->features(leaf, *objects[i], features);
            for (const Feature& f : features) both[f.identity][i] += f.value;
        }
        std::vector<double> rows[2];
        for (const auto& [ignored, values] : both) {
            for (std::size_t i = 0; i < 2; ++i) rows[i].push_back(values[i]);
        }
        return child(node, Row(rows[0]), Row(rows[1]));
    }

    static Row numbers(const KernelNode& node, const Object& object) {
        if (const Row* row = std::get_if<Row>(&object)) return *row;
        throw InvalidInput("the kernel " + node.entry().name + " reads numbers, not " +
                           std::string(object_words.word(kind_of(object))));
    }

    const Sample* sample_;
};

void check_lengths(Row x, Row z) {
    if (x.size() == z.size()) return;
    throw InvalidInput("a kernel needs two rows of the same length, found " +
                       std::to_string(x.size()) + " and " + std::to_string(z.size()) +
                       " columns; widen the shorter one with zeros");
}

}  // namespace

std::vector<std::string_view> split_text(std::string_view text, SetSplit split) {
    const std::string_view between = split == SetSplit::lines    ? "\n\r"
                                     : split == SetSplit::commas ? ",;"
                                                                 : " \t\n\r\v\f";
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(between), text.size());
        std::string_view part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        // Blanks around a member are no part of it, and a member without letters is none.
        part.remove_prefix(std::min(part.find_first_not_of(" \t"), part.size()));
        part = part.substr(0, part.find_last_not_of(" \t") + 1);
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

double kernel_power(double base, double exponent) {
    const double result = std::pow(base, exponent);
    // Overflow is a matter of size; these two are outside the function's domain.
    if (std::isnan(result) || (base == 0 && exponent < 0)) {
        throw InvalidInput("a kernel value of " + format_number(base) + " has no power " +
                           format_number(exponent) +
                           "; fractional and negative powers need kernels with positive values");
    }
    return result;
}

double Kernel::operator()(Row x, Row z) const {
    check_lengths(x, z);
    return Evaluator(nullptr)(*node_, x, z);
}

double evaluate(const Kernel& k, const Object& x, const Object& z) {
    return Evaluator(nullptr)(k.node(), x, z);
}

double evaluate(const Kernel& k, Row x, Row z, MatrixView<const double> sample) {
    check_lengths(x, z);
    Sample rows;
    for (std::size_t i = 0; i < sample.rows; ++i) {
        check_lengths(x, sample.row(i));
        rows.emplace_back(sample.row(i).begin(), sample.row(i).end());
    }
    return Evaluator(&rows)(k.node(), x, z);
}

double evaluate_centered(const Kernel& k, Row x, Row z, MatrixView<const double> sample) {
    return evaluate(center(k), x, z, sample);
}

}  // namespace mercer
