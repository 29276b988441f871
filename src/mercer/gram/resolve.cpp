#include "mercer/gram/gram.hpp"

#include "mercer/data/dataset.hpp"
#include "mercer/gram/detail/plan.hpp"

namespace mercer {

Kernel resolve(const Kernel& kernel, const Rows& rows, std::span<const std::string> names) {
    const std::vector<ObjectName> objects = rows.object_names();
    if (kernel.needs_data()) return kernel.resolve(column_moments(rows), names, objects);
    compile(kernel, rows.columns(), objects);  // sees to it that the columns are there
    return kernel;
}

}  // namespace mercer
