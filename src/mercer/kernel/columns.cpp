// Feature subsets, and what waits for data: rules and column names.
#include <algorithm>
#include <cmath>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/build.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

std::string item_text(const ColumnSet::Item& item) {
    if (!item.name.empty()) {
        return is_plain_word(item.name) ? item.name : in_double_quotes(item.name);
    }
    const std::string first = std::to_string(item.first);
    if (item.last == ColumnSet::to_the_end) return first + ":";
    return item.last == item.first + 1 ? first : first + ":" + std::to_string(item.last);
}

ColumnSet::Item read_item(Scanner& in) {
    if (in.at_quote()) return {0, 0, in.quoted_name()};
    if (in.at_word()) return {0, 0, in.word()};
    if (in.peek() == '-') in.fail("columns count from 0; there is no column before it");
    ColumnSet::Item item;
    const std::size_t where = in.position();
    if (in.peek() != ':') item.first = in.index("a column number, a range 0:10 or a name");
    item.last = item.first + 1;
    if (!in.accept(':')) return item;
    const bool open = in.peek() == ',' || in.peek() == ']';
    item.last = open ? ColumnSet::to_the_end : in.index("a column number, one past the last");
    if (item.first >= item.last) {
        in.fail_at(where, "this range is empty; the end is one past the last column");
    }
    return item;
}

std::string available(std::size_t columns) {
    if (columns == 0) return "there are no columns";
    return "there are " + std::to_string(columns) + " columns, 0 to " + std::to_string(columns - 1);
}

/// What a part of the expression sees of the data: which columns, or only how many coordinates
/// once a map or a set stands between.
struct Sight {
    bool columns_known = true;
    std::vector<std::size_t> columns{};  ///< positions in the data, when known
    std::size_t count = 0;
    std::vector<ObjectName> objects{};  ///< columns of texts and graphs
};

class Resolver {
   public:
    Resolver(const ColumnMoments& moments, std::span<const std::string> names,
             std::span<const ObjectName> objects)
        : moments_(moments), names_(names), objects_(objects) {
        if (moments.sum.size() != moments.sum_of_squares.size()) {
            throw InvalidInput("column moments need as many sums as sums of squares, found " +
                               std::to_string(moments.sum.size()) + " and " +
                               std::to_string(moments.sum_of_squares.size()));
        }
        if (!names.empty() && names.size() != moments.sum.size()) {
            throw InvalidInput("there are " + std::to_string(names.size()) + " column names for " +
                               std::to_string(moments.sum.size()) + " columns");
        }
    }

    Sight everything() const {
        Sight sight{.count = moments_.sum.size()};
        for (std::size_t i = 0; i < sight.count; ++i) sight.columns.push_back(i);
        sight.objects.assign(objects_.begin(), objects_.end());
        return sight;
    }

    Kernel resolve(const Kernel& k, const Sight& sight) const {
        KernelNode node = k.node();
        for (Formula& f : node.formulas) f = bound(f, sight);
        Sight changed;
        if (node.kind == KernelKind::columns) changed = restrict(node.subset, sight);
        if (node.kind == KernelKind::map) changed = {false, {}, node.formulas.size()};
        if (node.kind == KernelKind::sets && node.split == SetSplit::none) {
            changed = {false, {}, static_cast<std::size_t>(node.value)};
        }
        // The members of a text's set are texts.
        if (node.kind == KernelKind::sets && node.split != SetSplit::none) changed = sight;
        const bool changes = node.kind == KernelKind::columns || node.kind == KernelKind::map ||
                             node.kind == KernelKind::sets;
        for (Kernel& child : node.children) child = resolve(child, changes ? changed : sight);
        // The features that k is taken of are those of the rows as seen here.
        if (node.children.size() > 1 && node.kind == KernelKind::map) {
            node.children[1] = resolve(k.node().children[1], sight);
        }
        resolve_rules(node, sight);
        check_width(node, sight);
        return make_node(std::move(node));
    }

   private:
    std::vector<std::string> names_seen(const Sight& sight) const {
        std::vector<std::string> result;
        if (!sight.columns_known || names_.empty()) return result;
        for (const std::size_t i : sight.columns) result.push_back(names_[i]);
        return result;
    }

    Formula bound(const Formula& f, const Sight& sight) const {
        const Formula result = f.has_names() ? f.bind(names_seen(sight)) : f;
        if (result.columns_needed() <= sight.count) return result;
        throw InvalidInput("the formula " + quoted(f.text()) + " uses column " +
                           std::to_string(result.columns_needed() - 1) + ", but " +
                           available(sight.count));
    }

    static bool is_object(const std::string& name, const Sight& sight) {
        return std::ranges::find(sight.objects, name, &ObjectName::name) != sight.objects.end();
    }

    std::size_t position_of(const std::string& name, std::vector<std::string> names,
                            const Sight& sight) const {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) {
            for (const ObjectName& object : sight.objects) names.push_back(object.name);
            const auto near = nearest_word(name, names);
            throw InvalidInput("there is no column " + quoted(name) +
                               (names.empty() ? "; no column names are known here, use numbers"
                                : near        ? "; did you mean " + quoted(*near) + "?"
                                              : ""));
        }
        if (std::find(found + 1, names.end(), name) != names.end()) {
            throw InvalidInput("more than one column is called " + quoted(name) +
                               "; use its number");
        }
        return static_cast<std::size_t>(found - names.begin());
    }

    /// Binds the names of the subset and returns what is seen through it.
    Sight restrict(ColumnSet& subset, const Sight& sight) const {
        if (subset.has_names()) {
            const auto names = names_seen(sight);
            for (ColumnSet::Item& item : subset.items) {
                if (item.name.empty()) continue;
                if (is_object(item.name, sight)) {
                    item.object = true;
                    continue;
                }
                const std::size_t position = position_of(item.name, names, sight);
                item = {position, position + 1};
            }
        }
        Sight inside{.columns_known = sight.columns_known};
        for (const ColumnSet::Item& item : subset.items) {
            for (const ObjectName& object : sight.objects) {
                if (item.object && item.name == object.name) inside.objects.push_back(object);
            }
        }
        const auto positions = subset.positions(sight.count);
        inside.count = positions.size();
        if (!sight.columns_known) return inside;
        for (const std::size_t i : positions) inside.columns.push_back(sight.columns[i]);
        return inside;
    }

    void resolve_rules(KernelNode& node, const Sight& sight) const {
        for (const ParameterForm& form : node.entry().parameters) {
            if (!form.rule_allowed) continue;
            const Parameter value = canonical_parameter(node, form.canonical);
            if (!std::holds_alternative<Rule>(value)) continue;
            const double number = rule_value(std::get<Rule>(value), node, sight);
            const auto given = std::find_if(node.given.begin(), node.given.end(),
                                            [&](const auto& g) { return g.first == form.name; });
            if (given != node.given.end())
                given->second = number;
            else
                node.given.insert(node.given.begin(), {form.name, number});
        }
    }

    double rule_value(Rule rule, const KernelNode& node, const Sight& sight) const {
        const std::string name = node.entry().name;
        if (sight.count == 0 && !objects_.empty()) {
            throw InvalidInput("the kernel " + name +
                               " reads numbers, and there are none here beside texts or graphs");
        }
        if (sight.count == 0) {
            throw InvalidInput("gamma of " + name +
                               " cannot be found from data without columns; give a number");
        }
        const auto columns = static_cast<double>(sight.count);
        if (rule == Rule::automatic) return 1 / columns;
        if (!sight.columns_known) {
            throw InvalidInput("gamma=scale of " + name +
                               " inside map or sets is not known from the data's columns; give a "
                               "number, or gamma=auto for 1 / (number of coordinates)");
        }
        if (moments_.rows == 0) {
            throw InvalidInput("gamma=scale of " + name +
                               " cannot be found from data without rows; give a number");
        }
        const double entries = columns * static_cast<double>(moments_.rows);
        double sum = 0;
        double squares = 0;
        for (const std::size_t i : sight.columns) {
            sum += moments_.sum[i];
            squares += moments_.sum_of_squares[i];
        }
        const double mean = sum / entries;
        const double variance = squares / entries - mean * mean;
        // Of equal entries only rounding is left; scikit-learn takes 1 there, and so do we.
        const double rounding = 1e-14 * (squares / entries);
        const double gamma = variance > rounding ? 1 / (columns * variance) : 1.0;
        if (std::isfinite(gamma)) return gamma;
        throw InvalidInput("gamma=scale of " + name + " is not finite on this data (variance " +
                           format_number(variance) + "); scale the data or give a number");
    }

    static void check_width(const KernelNode& node, const Sight& sight) {
        if (node.kind == KernelKind::bilinear && node.matrix.rows() != sight.count) {
            throw InvalidInput("bilinear has a matrix of " + std::to_string(node.matrix.rows()) +
                               " rows and columns, but " + available(sight.count));
        }
        if (node.kind != KernelKind::sets || node.split != SetSplit::none) return;
        const auto width = static_cast<std::size_t>(node.value);
        const std::size_t head = node.counted ? 1 : 0;
        if (sight.count >= head && (sight.count - head) % width == 0) return;
        throw InvalidInput("sets of width " + std::to_string(width) +
                           " need rows of a multiple of " + std::to_string(width) +
                           (node.counted ? " plus 1" : "") + " columns, found " +
                           std::to_string(sight.count));
    }

    const ColumnMoments& moments_;
    std::span<const std::string> names_;
    std::span<const ObjectName> objects_;
};

bool node_needs_data(const KernelNode& node) {
    for (const ParameterForm& form : node.entry().parameters) {
        if (!form.rule_allowed) continue;
        if (std::holds_alternative<Rule>(canonical_parameter(node, form.canonical))) return true;
    }
    if (node.kind == KernelKind::columns && node.subset.has_names()) return true;
    if (waits_for_data(node)) return true;
    return std::any_of(node.formulas.begin(), node.formulas.end(),
                       [](const Formula& f) { return f.has_names(); }) ||
           std::any_of(node.children.begin(), node.children.end(),
                       [](const Kernel& child) { return node_needs_data(child.node()); });
}

}  // namespace

ColumnSet read_columns(Scanner& in) {
    ColumnSet columns;
    in.expect('[', "to open the columns");
    do {
        columns.items.push_back(read_item(in));
    } while (in.accept(','));
    in.expect(']', "to close the columns");
    return columns;
}

bool ColumnSet::has_names() const {
    return std::any_of(items.begin(), items.end(),
                       [](const Item& item) { return !item.name.empty() && !item.object; });
}

std::vector<std::size_t> ColumnSet::positions(std::size_t columns) const {
    std::vector<std::size_t> result;
    std::vector<bool> seen(columns, false);
    for (const Item& item : items) {
        if (item.object) continue;
        if (!item.name.empty()) {
            throw InvalidInput("the column " + quoted(item.name) +
                               " is known by name only; resolve the kernel on data with column "
                               "names first");
        }
        const std::size_t last = item.last == to_the_end ? columns : item.last;
        if (item.first >= columns || last > columns) {
            const std::size_t wrong = item.first >= columns ? item.first : last - 1;
            throw InvalidInput("column " + std::to_string(wrong) + " of [" + item_text(item) +
                               "] is not there; " + available(columns));
        }
        for (std::size_t i = item.first; i < last; ++i) {
            if (seen[i]) {
                throw InvalidInput("column " + std::to_string(i) + " appears twice in a subset");
            }
            seen[i] = true;
            result.push_back(i);
        }
    }
    return result;
}

std::string ColumnSet::text() const {
    std::string result;
    for (const Item& item : items) result += (result.empty() ? "" : ",") + item_text(item);
    return result;
}

Kernel Kernel::operator[](const ColumnSet& subset) const {
    if (subset.items.empty()) throw InvalidInput("a subset of columns must not be empty");
    for (const ColumnSet::Item& item : subset.items) {
        if (!item.name.empty() || item.first < item.last) continue;
        throw InvalidInput("the range of columns [" + item_text(item) +
                           "] is empty; the end is one past the last column");
    }
    if (node_->kind != KernelKind::columns) {
        return make_node({.kind = KernelKind::columns, .children = {*this}, .subset = subset});
    }
    KernelNode outer = *node_;
    outer.children.front() = outer.children.front()[subset];
    return make_node(std::move(outer));
}

bool Kernel::needs_data() const {
    return node_needs_data(*node_);
}

Kernel Kernel::resolve(const ColumnMoments& moments, std::span<const std::string> names,
                       std::span<const ObjectName> objects) const {
    const Resolver resolver(moments, names, objects);
    return resolver.resolve(*this, resolver.everything());
}

}  // namespace mercer
