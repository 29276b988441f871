#include "mercer/select/detail/distance_store.hpp"

#include <algorithm>

#include "mercer/base/parallel.hpp"
#include "mercer/gram/detail/elementwise.hpp"
#include "mercer/gram/detail/plan.hpp"
#include "mercer/gram/operators.hpp"

namespace mercer {
namespace {

bool is_radial(const Plan& plan) {
    if (plan.groups.size() != 1 || plan.sources.size() != 1) return false;
    const Group& group = plan.groups[0];
    const SourceKind kind = plan.sources[0].kind;
    if (!group.steps.empty() || group.form.rows() > 0) return false;
    if (kind != SourceKind::dot && kind != SourceKind::squared) return false;
    return std::ranges::none_of(plan.program, [&](const Instruction& in) {
        switch (in.code) {
            case Code::load:
            case Code::outer:
            case Code::scale_outer:
            case Code::feature_gaussian:
            case Code::center: return true;
            default: return false;
        }
    });
}

}  // namespace

bool is_radial(const Kernel& kernel, std::size_t columns) {
    return is_radial(compile(kernel, columns));
}

template <class T>
void DistanceStore<T>::compute_distances() {
    const std::size_t n = size();
    // The elementwise code may read a little past the end of the last row.
    distances_ = LargeBuffer((n * n + padding) * sizeof(T));
    T* const d = distances_.as<T>();
    const auto gram = make_gram<T>(negative_distance(2), x_, names_);
    gram.matrix({d, n, n});
    parallel_for(n, [&](std::size_t i) {
        for (std::size_t j = 0; j < n; ++j) d[i * n + j] = -d[i * n + j];
        d[i * n + i] = 0;
    });
    std::fill(d + n * n, d + n * n + padding, T{0});
    have_ = true;
}

template <class T>
void DistanceStore<T>::fill(const Kernel& kernel, MatrixView<T> out) {
    const Plan plan = compile(kernel, x_.columns(), x_.object_names());
    if (!keep_ || !is_radial(plan)) {
        make_gram<T>(kernel, x_, names_).matrix(out);
        return;
    }
    if (!have_) compute_distances();
    const std::size_t n = size();
    const T* const d = distances_.as<T>();
    constexpr std::size_t band = 16;  // rows whose numbers stay near while they are mapped
    parallel_ranges(n, band, [&](std::size_t first, std::size_t last) {
        const SourceTile<T> tile{.values = d + first * n, .stride = n, .distances = true};
        std::vector<T*> places;
        for (std::size_t i = first; i < last; ++i) places.push_back(out.row(i).data());
        std::vector<T> registers(plan.registers() * register_length(n));
        run_program(plan.program, ProgramTile<T>{.sources = {&tile, 1},
                                                 .x_sides = {},
                                                 .z_sides = {},
                                                 .out = places,
                                                 .columns = n,
                                                 .registers = registers});
    });
}

template class DistanceStore<float>;
template class DistanceStore<double>;

}  // namespace mercer
