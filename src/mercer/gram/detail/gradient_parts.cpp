// An expression annotated with where the numbers of its leaves come from.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/detail/gradient_walk.hpp"
#include "mercer/gram/detail/sources.hpp"

namespace mercer {
namespace {

Rows mapped_rows(const KernelNode& node, const Rows& rows) {
    std::vector<double> row(rows.columns());
    std::vector<double> values;
    values.reserve(rows.size() * node.formulas.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        for (const Formula& f : node.formulas) {
            values.push_back(f(row));
            if (std::isfinite(values.back())) continue;
            throw InvalidInput("the formula " + quoted(f.text()) + " has no finite value at row " +
                               std::to_string(rows.origin(i) + 1));
        }
    }
    return Rows::dense(std::move(values), node.formulas.size());
}

/// The columns of a subset, of numbers and of objects.
Rows seen_rows(const KernelNode& node, const Rows& rows) {
    std::vector<ObjectColumn> objects;
    for (const ObjectColumn& column : rows.objects()) {
        const bool seen = std::ranges::any_of(node.subset.items, [&](const ColumnSet::Item& item) {
            return item.object && item.name == column.name();
        });
        if (seen) objects.push_back(column);
    }
    const std::vector<std::size_t> positions = node.subset.positions(rows.columns());
    Rows numbers = rows.select_columns(positions);
    return numbers.with_objects(std::move(objects));
}

class Builder {
   public:
    Builder(PairSources& sources, std::vector<RowSide>& sides) : sources_(sources), sides_(sides) {}

    GradientPart operator()(const KernelNode& node, std::size_t sample) {
        GradientPart part{.node = &node, .own = own_parameters(node), .sample = sample};
        if (node.kind == KernelKind::sets) {
            add_members(node, part);
            return part;
        }
        const std::size_t inside = sample_inside(node, sample);
        for (const Kernel& child : node.children) {
            part.children.push_back((*this)(child.node(), inside));
        }
        const bool needs_side = node.kind == KernelKind::normalize ||
                                node.kind == KernelKind::rbf_of || node.kind == KernelKind::center;
        if (needs_side) {
            part.side = sides_.size();
            sides_.emplace_back();
        }
        if (node.children.empty()) {
            part.source = source_for(node, sample);
            part.objects = prepared(node, part.own, sample);
        }
        return part;
    }

   private:
    static std::string key(std::size_t sample, const std::string& what) {
        return std::to_string(sample) + ' ' + what;
    }

    std::size_t sample_inside(const KernelNode& node, std::size_t sample) {
        if (node.kind != KernelKind::columns && node.kind != KernelKind::map) return sample;
        std::string what = node.subset.text() + ';';
        for (const Formula& f : node.formulas) what += f.text() + ';';
        const auto [found, fresh] =
            sources_.sample_of.try_emplace(key(sample, what), sources_.samples.size());
        if (fresh) {
            const Rows& rows = sources_.samples[sample];
            sources_.samples.push_back(node.kind == KernelKind::map ? mapped_rows(node, rows)
                                                                    : seen_rows(node, rows));
        }
        return found->second;
    }

    /// The rows with the objects that the leaf reads and no others.
    static Rows read_rows(const KernelNode& leaf, const Rows& rows) {
        std::vector<ObjectColumn> objects;
        const bool of_objects = leaf.leaf != nullptr && is_object_leaf(*leaf.leaf);
        for (const ObjectColumn& column : rows.objects()) {
            if (of_objects && column.kind() == object_kind(leaf)) objects.push_back(column);
        }
        return rows.with_objects(std::move(objects));
    }

    std::shared_ptr<const ObjectPairs> prepared(const KernelNode& leaf,
                                                const std::vector<OwnParameter>& own,
                                                std::size_t sample) const {
        if (own.empty() || leaf.leaf->pair_slopes.empty()) return {};
        const Rows rows = read_rows(leaf, sources_.samples[sample]);
        const Source source{.kind = SourceKind::pairs,
                            .kernel = {Kernel(std::make_shared<const KernelNode>(leaf))},
                            .object = rows.objects().empty() ? "" : rows.objects()[0].name()};
        return prepare_objects(source, rows).objects;
    }

    std::size_t source_for(const KernelNode& leaf, std::size_t sample) {
        const PairNumber number = pair_number(leaf);
        const bool none = number == PairNumber::nothing || number == PairNumber::sine ||
                          number == PairNumber::anova;
        if (none) return GradientPart::none;
        Kernel base = Kernel(std::make_shared<const KernelNode>(leaf));
        PairSource source{.number = number, .sample = sample};
        switch (number) {
            case PairNumber::dot: base = linear(); break;
            case PairNumber::squared:
                base = negative_distance(2);
                source.sign = -1;
                break;
            case PairNumber::chi2:
                base = additive_chi2();
                source.sign = -1;
                break;
            default: break;
        }
        const std::string name = number == PairNumber::absolute ? "absolute" : base.text();
        const auto [found, fresh] =
            sources_.source_of.try_emplace(key(sample, name), sources_.sources.size());
        if (!fresh) return found->second;
        if (number != PairNumber::absolute) {
            source.gram =
                std::make_shared<Gram<double>>(base, read_rows(leaf, sources_.samples[sample]));
        }
        sources_.sources.push_back(std::move(source));
        return found->second;
    }

    /// The engine has seen to it that there is one, and no other.
    static std::string text_column(const Rows& rows) {
        for (const ObjectColumn& column : rows.objects()) {
            if (column.kind() == ObjectKind::text) return column.name();
        }
        throw InvalidInput("there is no column of texts in these rows, which the kernel reads");
    }

    void add_members(const KernelNode& node, GradientPart& part) {
        const Kernel& inner = node.children.front();
        const auto width = static_cast<std::size_t>(node.value);
        std::string what = "sets ";
        what += std::to_string(place_++);  // the expression has the same shape each time
        auto& found = sources_.members[what];
        if (!found) {
            auto made = std::make_shared<PairSources::Members>();
            const Rows& sample = sources_.samples[part.sample];
            SetShape shape{width, node.counted, node.split};
            if (node.split != SetSplit::none) shape.object = text_column(sample);
            const Rows rows = set_members(sample, shape, made->starts);
            made->gradient = std::make_shared<GramGradient>(inner, rows);
            found = std::move(made);
        }
        std::vector<double> values;
        for (const KernelParameter& p : parameters(inner)) values.push_back(p.value);
        part.starts = found;
        part.members = std::make_shared<GramGradient>(found->gradient->with(values));
    }

    PairSources& sources_;
    std::vector<RowSide>& sides_;
    std::size_t place_ = 0;
};

}  // namespace

std::size_t GradientPart::parameter_count() const {
    std::size_t count = own.size();
    for (const GradientPart& child : children) count += child.parameter_count();
    return count + (members ? members->parameters().size() : 0);
}

GradientPart build_part(const Kernel& kernel, PairSources& sources, std::vector<RowSide>& sides) {
    return Builder(sources, sides)(kernel.node(), 0);
}

std::vector<double> PairSources::fill(std::size_t index, const Pairs& pairs) const {
    const PairSource& source = sources[index];
    const PairWindow& w = pairs.window;
    std::vector<double> out(pairs.size());
    if (source.number == PairNumber::absolute) {
        // Any leaf will do: the number has no parameters.
        static const Kernel leaf = laplacian({.gamma = 1.0});
        if (!pairs.diagonal) {
            column_numbers(source.number, leaf.node(), samples[source.sample], w, out, {});
        }
        return out;
    }
    const Gram<double>& gram = *source.gram;
    const auto range = [&](std::size_t first, std::size_t count, bool as_columns) {
        std::vector<std::size_t> positions(count);
        std::iota(positions.begin(), positions.end(), first);
        return gram.select(gram.reference(), positions, as_columns);
    };
    if (pairs.diagonal) {
        gram.diagonal(range(w.first_row, w.rows, true), out);
    } else {
        gram.block(range(w.first_row, w.rows, false), range(w.first_column, w.columns, true),
                   {out.data(), w.rows, w.columns});
    }
    if (source.sign < 0) {
        for (double& v : out) v = -v;
    }
    return out;
}

}  // namespace mercer
