#include <algorithm>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/gram/detail/feature_rows.hpp"
#include "mercer/gram/detail/plan.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/detail/build.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

bool has_model_waiting(const KernelNode& node) {
    return contains_if(node, waits_for_data);
}

/// Fits the models inside a kernel to the rows that they see.
class Settler {
   public:
    explicit Settler(std::span<const std::int32_t> classes) : classes_(classes) {}

    Kernel operator()(const Kernel& kernel, const Rows& rows) const {
        const KernelNode& node = kernel.node();
        if (!has_model_waiting(node)) return kernel;
        if (node.leaf != nullptr) return fitted(node, rows);
        if (node.kind == KernelKind::sets ||
            (node.kind == KernelKind::map && has_model_waiting(node.children.front().node()))) {
            throw InvalidInput(
                "a model inside " + node.entry().name +
                " cannot be fitted to the data's rows: " + quoted(kernel.text(), 80));
        }
        KernelNode copy = node;
        const Rows seen = node.kind == KernelKind::columns ? restricted(node, rows) : rows;
        for (Kernel& child : copy.children) child = (*this)(child, seen);
        return make_node(std::move(copy));
    }

   private:
    static Rows restricted(const KernelNode& node, const Rows& rows) {
        std::vector<ObjectColumn> objects;
        for (const ColumnSet::Item& item : node.subset.items) {
            if (!item.object) continue;
            if (const ObjectColumn* column = rows.object(item.name)) objects.push_back(*column);
        }
        return rows.select_columns(node.subset.positions(rows.columns()))
            .with_objects(std::move(objects));
    }

    Kernel fitted(const KernelNode& node, const Rows& rows) const {
        const std::string& name = node.entry().name;
        if (node.leaf->needs_classes && classes_.empty()) {
            throw InvalidInput("the kernel " + name +
                               " has a model for each of two classes and waits for labels: it can "
                               "be fitted by a classifier, not here");
        }
        // The plan of the kernel alone says which column it reads, or why there is none.
        const ObjectKind kind = object_kind(node);
        std::string object;
        for (const ObjectColumn& column : rows.objects()) {
            if (column.kind() != kind) continue;
            if (!object.empty()) {
                throw InvalidInput("the kernel " + name + " reads one column of " +
                                   std::string(object_words.word(kind)) + "s; say which: " + name +
                                   "(...)[" + object + "]");
            }
            object = column.name();
        }
        const bool numbers = kind == ObjectKind::numbers;
        if (numbers ? rows.columns() == 0 : object.empty()) {
            throw InvalidInput("the kernel " + name + " reads " +
                               std::string(object_words.word(kind)) + (numbers ? "" : "s") +
                               ", and there are none here");
        }
        Matrix<double> kept;
        return make_node(node.leaf->settle(node, objects_of(rows, object, kept), classes_));
    }

    std::span<const std::int32_t> classes_;
};

/// What was learnt is part of the kernel's text, which a model file must be able to read.
void require_readable(const Kernel& settled) {
    const std::size_t length = settled.text().size();
    if (length <= Scanner::longest_text) return;
    throw InvalidInput(
        "with what was learnt from the data the kernel is a text of " + std::to_string(length) +
        " bytes, and at most " + std::to_string(Scanner::longest_text) +
        " can be read back; ask for fewer components or states, or fewer such parts");
}

}  // namespace

Kernel resolve(const Kernel& kernel, const Rows& rows, std::span<const std::string> names,
               std::span<const std::int32_t> classes) {
    const std::vector<ObjectName> objects = rows.object_names();
    if (kernel.needs_data()) {
        const Kernel known = kernel.resolve(column_moments(rows), names, objects);
        Kernel settled = Settler(classes)(known, rows);
        if (has_model_waiting(known.node())) require_readable(settled);
        return settled;
    }
    compile(kernel, rows.columns(), objects);  // sees to it that the columns are there
    return kernel;
}

bool waits_for_classes(const Kernel& kernel) {
    return contains_if(kernel.node(), [](const KernelNode& node) {
        return waits_for_data(node) && node.leaf->needs_classes;
    });
}

}  // namespace mercer
