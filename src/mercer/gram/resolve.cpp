#include "mercer/gram/gram.hpp"

#include "mercer/data/dataset.hpp"
#include "mercer/gram/detail/plan.hpp"

namespace mercer {

Kernel resolve(const Kernel& kernel, const Rows& rows, std::span<const std::string> names) {
    if (kernel.needs_data()) return kernel.resolve(column_moments(rows), names);
    compile(kernel, rows.columns());  // sees to it that the columns are there
    return kernel;
}

}  // namespace mercer
