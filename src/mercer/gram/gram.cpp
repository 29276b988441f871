#include "mercer/gram/gram.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>

#include "mercer/base/detail/per_thread.hpp"
#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/detail/slices.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/gram/detail/collapse.hpp"
#include "mercer/gram/detail/sources.hpp"

namespace mercer {
namespace {

// A tile of 256 × 512 floats fills half of a 1 MiB second-level cache and is wide and tall enough
// for a matrix product to run at nine tenths of its best rate.
constexpr std::size_t cached_rows = 256;
constexpr std::size_t cached_columns = 512;
static_assert(cached_columns % panel_width == 0);
// Rows that are skipped together, where the kernel is nothing between them and a panel of columns.
constexpr std::size_t block_rows = 8;

bool reads_source(Code code) {
    return code == Code::load || code == Code::distance || code == Code::gaussian;
}

std::size_t round_up(std::size_t value, std::size_t to) {
    return (value + to - 1) / to * to;
}

template <class T>
struct Scratch {
    std::vector<T> sources;
    std::vector<T> registers;
    std::vector<SourceTile<T>> tiles;
    std::vector<const T*> x_sides;
    std::vector<const T*> z_sides;
};

/// Entries of chi2 and intersection must not be negative: the formulas mean nothing there.
void require_non_negative(const Rows& rows, const char* kernel) {
    std::vector<double> row(rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (row[k] < 0) {
                throw InvalidInput(
                    std::string("the kernel ") + kernel + " needs entries >= 0, but row " +
                    std::to_string(rows.origin(i) + 1) + " has " + format_number(row[k]) +
                    " in column " + std::to_string(k) + "; scale the data to [0, 1] first");
            }
        }
    }
}

/// Whether few enough boxes meet for rows to be moved about, and not to be kept.
template <class T>
bool is_few(const Boxes<T>& boxes, double reach) {
    return !boxes.empty() && meeting_share(boxes, reach) < 0.3;
}

/// v ← 1/√v for normalize(k); 0 for the zero vector, whose length cannot be made 1.
void invert_roots(std::vector<double>& values) {
    const double largest = values.empty() ? 0 : *std::ranges::max_element(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double v = values[i];
        if (v < -1e-6 * std::max(largest, 1e-300)) {
            throw InvalidInput("normalize(k) needs k(x,x) >= 0, but it is " + format_number(v) +
                               " at row " + std::to_string(i + 1));
        }
        values[i] = v > 0 ? 1 / std::sqrt(v) : 0;
    }
}

}  // namespace

template <class T>
struct Gram<T>::State {
    using Data = typename Points<T>::Data;

    Kernel kernel;
    std::size_t columns = 0;
    Plan plan{};
    std::optional<LinearForm> linear{};  ///< of kernels that collapse
    bool plain = false;                  ///< rows are packed once a block is asked for
    std::vector<std::shared_ptr<const FeatureColumns>> features{};  ///< one a group, or null
    std::unique_ptr<std::once_flag> choosing = std::make_unique<std::once_flag>();
    mutable std::vector<GroupFormat> formats{};
    std::vector<std::shared_ptr<const Gram<T>>> set_grams{};  // one a source
    Points<T> reference{};
    std::size_t tile_rows = cached_rows;
    std::size_t tile_columns = cached_columns;
    double pair_work = 0;  ///< what a pair costs about: its products, and the elementwise pass
    std::optional<double> reach{};  ///< squared, of kernels that are nothing from there on
    bool local = false;             ///< whether many pairs of the reference are out of it
    Program sum_program{};          ///< for values that are summed: what is nothing is 0

    // ---- preparing

    /// Pairs that take long are computed in smaller tiles, so that threads share them evenly and
    /// whoever waits can be told about it.
    void shape_tiles(const Data& data) {
        pair_work = 50 + 2 * static_cast<double>(columns);
        double objects = 0;
        for (const PreparedObjects& prepared : data.objects) {
            if (prepared.objects) objects += prepared.objects->pair_work();
        }
        for (const PackedGroup<T>& group : data.groups) {
            const auto entries = static_cast<double>(group.rows.nonzeros());
            if (group.sparse.starts != nullptr) {
                pair_work += 2 * entries / static_cast<double>(std::max<std::size_t>(data.size, 1));
            }
        }
        pair_work += objects;
        constexpr double tile_work = 5e7;
        while (objects > 0 && tile_rows > 1 &&
               pair_work * static_cast<double>(tile_rows * tile_columns) > tile_work) {
            tile_rows /= 2;
            tile_columns = std::max(tile_columns / 2, panel_width);
        }
    }

    std::shared_ptr<Data> pack_rows(const Rows& rows) const {
        std::vector<DerivedRows> derived;
        for (std::size_t g = 0; g < plan.groups.size(); ++g) {
            auto known = features[g];
            derived.push_back(derive(plan.groups[g], rows, known));
        }
        return pack_derived(rows.size(), std::move(derived));
    }

    /// Of plain rows it is settled at the first block.
    const std::vector<GroupFormat>& settled_formats() const {
        if (plain) {
            std::call_once(*choosing, [this] {
                std::vector<GroupFormat> chosen;
                for (std::size_t g = 0; g < plan.groups.size(); ++g) {
                    const Rows& rows = reference.data_->groups[g].rows;
                    chosen.push_back(choose_format<T>(plan.groups[g], rows));
                }
                formats = std::move(chosen);
            });
        }
        return formats;
    }

    std::vector<PackedGroup<T>> pack_groups(std::vector<DerivedRows> derived) const {
        std::vector<PackedGroup<T>> groups(plan.groups.size());
        for (std::size_t g = 0; g < groups.size(); ++g) {
            groups[g] = pack<T>(plan.groups[g], settled_formats()[g], std::move(derived[g]));
        }
        return groups;
    }

    /// Blocks are asked for through the engine, which is therefore there.
    void pack_plainly(Data& data, std::vector<DerivedRows> derived) const {
        for (DerivedRows& rows : derived) {
            data.groups.push_back(mercer::pack_plainly<T>(std::move(rows)));
        }
        data.pack_later = [this, &data] {
            std::vector<DerivedRows> again;
            for (const PackedGroup<T>& group : data.groups) again.push_back({group.rows});
            return pack_groups(std::move(again));
        };
    }

    std::shared_ptr<Data> pack_derived(std::size_t size, std::vector<DerivedRows> derived) const {
        auto data = std::make_shared<Data>();
        data->size = size;
        if (plain) {
            pack_plainly(*data, std::move(derived));
        } else {
            data->groups = pack_groups(std::move(derived));
        }
        for (const Source& source : plan.sources) check_entries(source, *data);
        data->members.resize(plan.sources.size());
        data->objects.resize(plan.sources.size());
        for (std::size_t s = 0; s < plan.sources.size(); ++s) {
            const Source& source = plan.sources[s];
            if (source.kind == SourceKind::pairs) {
                data->objects[s] = prepare_objects(source, data->groups[source.group].rows);
            }
            if (source.kind != SourceKind::sets) continue;
            Members<T>& members = data->members[s];
            members.points = set_grams[s]->prepare(
                set_members(data->groups[source.group].rows, set_shape(source), members.starts));
        }
        return data;
    }

    void put_in_boxes(Data& data, bool as_columns) const {
        if (!local) return;
        data.boxed.blocks = tight_boxes(data.groups[0], block_rows, *reach);
        if (!as_columns) return;
        data.boxed.panels = even_boxes(data.groups[0], panel_width);
        data.boxed.strips = even_boxes(data.groups[0], tile_columns);
        data.boxed.strip_panels = tile_columns / panel_width;
    }

    static void check_entries(const Source& source, const Data& data) {
        const Rows& rows = data.groups[source.group].rows;
        if (source.kind == SourceKind::chi2) require_non_negative(rows, "chi2");
        if (source.kind == SourceKind::intersection) require_non_negative(rows, "intersection");
    }

    /// Adds the next side in order, each being made of the ones before it. `against` is the
    /// reference, over which means are taken; it may be `data` itself.
    void add_side(const Side& side, Data& data, const Data& against,
                  const Progress& progress) const {
        if (side.kind == SideKind::squared_norm) {
            data.sides.push_back(data.groups[side.group].squared_norm);
            return;
        }
        std::vector<double> values(data.size);
        switch (side.kind) {
            case SideKind::formula: formula_side(side, data, values); break;
            case SideKind::mean: means(side.program, data, against, values, progress); break;
            default: self_values(side.program, data, values); break;
        }
        if (side.kind == SideKind::inverse_root) invert_roots(values);
        auto& stored = data.sides.emplace_back(data.size + padding, T{0});
        std::ranges::transform(values, stored.begin(), [](double v) { return static_cast<T>(v); });
    }

    /// center(k) adds the mean of the means, the squared length of the centre of mass: known once
    /// the reference has its means, and put into every program that centres by them.
    void settle_center(std::size_t side, const Data& data) {
        double sum = 0;
        for (std::size_t i = 0; i < data.size; ++i) sum += static_cast<double>(data.sides[side][i]);
        const auto settle = [&](Program& program) {
            for (Instruction& in : program) {
                if (in.code == Code::center && in.side == side) {
                    in.a = sum / static_cast<double>(data.size);
                }
            }
        };
        settle(plan.program);
        for (Side& other : plan.sides) settle(other.program);
    }

    void formula_side(const Side& side, const Data& data, std::vector<double>& values) const {
        const Rows& rows = data.groups[side.group].rows;
        std::vector<double> row(rows.columns());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows.copy_row(i, row);
            values[i] = side.formula[0](row);
            if (!std::isfinite(values[i])) {
                throw InvalidInput("the formula " + quoted(side.formula[0].text()) +
                                   " has no finite value at row " +
                                   std::to_string(rows.origin(i) + 1));
            }
        }
    }

    /// values[i] = program(x_i, x_i).
    void self_values(const Program& program, const Data& x, std::span<double> values) const {
        const std::size_t registers = plan.registers();
        parallel_ranges(x.size, 1024, [&](std::size_t first, std::size_t last) {
            std::vector<T> numbers(plan.sources.size() * padding);
            std::vector<T> scratch(registers * register_length(1));
            std::vector<SourceTile<T>> tiles(plan.sources.size());
            std::vector<const T*> sides(x.sides.size());
            for (std::size_t i = first; i < last; ++i) {
                for (std::size_t s = 0; s < plan.sources.size(); ++s) {
                    numbers[s * padding] =
                        static_cast<T>(self_source<T>(plan.sources[s], s, set_grams[s], x, i));
                    tiles[s] = {.values = numbers.data() + s * padding,
                                .stride = padding,
                                .distances = plan.sources[s].kind == SourceKind::squared};
                }
                for (std::size_t s = 0; s < sides.size(); ++s) sides[s] = x.sides[s].data() + i;
                T value{};
                T* const out[] = {&value};
                if (run_program(program, ProgramTile<T>{tiles, sides, sides, out, 1, scratch}) ==
                    0) {
                    refuse_value(value, row_name(x, i), row_name(x, i));
                }
                values[i] = static_cast<double>(value);
            }
        });
    }

    /// values[i] = mean over the reference rows of program(x_i, ·).
    void means(const Program& program, const Data& x, const Data& against,
               std::vector<double>& values, const Progress& progress) const {
        constexpr std::size_t band = 512;
        Matrix<T> block(std::min(band, x.size), against.size);
        for (std::size_t first = 0; first < x.size; first += band) {
            const std::size_t count = std::min(band, x.size - first);
            const double done = static_cast<double>(first) / static_cast<double>(x.size);
            if (!keep_going(progress, {"centre of mass", done})) throw Cancelled();
            fill(program, x, first, against, block.view().block(0, 0, count, against.size));
            parallel_for(count, [&](std::size_t r) {
                double sum = 0;
                for (const T value : block.row(r)) sum += static_cast<double>(value);
                values[first + r] = sum / static_cast<double>(against.size);
            });
        }
    }

    // ---- blocks

    /// out[i][j] = program(x_{first+i}, z_j), tile by tile.
    void fill(const Program& program, const Data& x, std::size_t first, const Data& z,
              std::span<T* const> out) const {
        const std::size_t across = (z.size + tile_columns - 1) / tile_columns;
        const std::size_t down = (out.size() + tile_rows - 1) / tile_rows;
        parallel_for(across * down, [&](std::size_t task) {
            const std::size_t i = task / across * tile_rows;
            const std::size_t j = task % across * tile_columns;
            const std::size_t rows = std::min(tile_rows, out.size() - i);
            const std::size_t count = std::min(tile_columns, z.size - j);
            std::vector<T*> places(out.begin() + static_cast<std::ptrdiff_t>(i),
                                   out.begin() + static_cast<std::ptrdiff_t>(i + rows));
            for (T*& place : places) place += j;
            fill_tile(program, Window<T>{x, z, first + i, rows, j, count}, places);
        });
    }
    void fill(const Program& program, const Data& x, std::size_t first, const Data& z,
              MatrixView<T> out) const {
        fill(program, x, first, z, row_pointers(out));
    }

    static std::vector<T*> row_pointers(MatrixView<T> out) {
        std::vector<T*> pointers(out.rows);
        for (std::size_t i = 0; i < out.rows; ++i) pointers[i] = out.row(i).data();
        return pointers;
    }

    /// sums[j] += Σ_i weights[i] program(x_i, z_j): each tile is summed while it is still near the
    /// processor, and no row is ever stored. A strip of columns is one task, rows in order. Returns
    /// how many values that took.
    std::uint64_t add_product(const Data& x, const Data& z, std::span<const double> weights,
                              std::span<double> sums, Turn turn) const {
        const std::size_t across = (z.size + tile_columns - 1) / tile_columns;
        const std::size_t tasks = (across + turn.count - 1 - turn.number) / turn.count;
        std::vector<std::uint64_t> computed(tasks, 0);
        parallel_for(tasks, [&](std::size_t task) {
            const std::size_t strip = task * turn.count + turn.number;
            const std::size_t j = strip * tile_columns;
            const std::size_t count = std::min(tile_columns, z.size - j);
            const std::size_t most = std::min(tile_rows, x.size);
            const auto values = std::make_unique_for_overwrite<T[]>(most * count);
            const std::vector<T*> places = row_pointers({values.get(), most, count});
            const std::vector<const T*> rows(places.begin(), places.end());
            const auto add = [&](const Window<T>& w) {
                fill_tile(sum_program, w, std::span(places).first(w.rows));
                add_weighted_rows<T>(std::span(rows).first(w.rows),
                                     weights.subspan(w.first_x, w.rows),
                                     sums.subspan(w.first_z, w.columns));
                computed[task] += w.rows * w.columns;
            };
            if (are_boxed(x, z)) {
                for (const NearTile& near :
                     near_tiles(x.boxed, z.boxed, strip, *reach, tile_rows)) {
                    add({x, z, near.first_row, near.rows, near.first_column, near.columns,
                         &near.varying});
                }
                return;
            }
            for (std::size_t i = 0; i < x.size; i += tile_rows) {
                add({x, z, i, std::min(tile_rows, x.size - i), j, count});
            }
        });
        return std::accumulate(computed.begin(), computed.end(), std::uint64_t{0});
    }

    /// out(i, places[j]) = program(x_i, z_j), where values that are nothing are 0 and most blocks
    /// of them are not computed. Returns how many values were.
    std::uint64_t fill_near(const Data& x, const Data& z, std::span<const std::size_t> places,
                            MatrixView<T> out) const {
        parallel_ranges(out.rows, 64, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) std::ranges::fill(out.row(i), T{0});
        });
        std::vector<std::uint64_t> computed((z.size + tile_columns - 1) / tile_columns, 0);
        parallel_for(computed.size(), [&](std::size_t strip) {
            const std::size_t most = std::min(tile_rows, x.size);
            const auto values = std::make_unique_for_overwrite<T[]>(most * tile_columns);
            const std::vector<T*> rows = row_pointers({values.get(), most, tile_columns});
            for (const NearTile& near : near_tiles(x.boxed, z.boxed, strip, *reach, tile_rows)) {
                fill_tile(sum_program,
                          Window<T>{x, z, near.first_row, near.rows, near.first_column,
                                    near.columns, &near.varying},
                          std::span(rows).first(near.rows));
                const auto to = places.subspan(near.first_column, near.columns);
                for (std::size_t i = 0; i < near.rows; ++i) {
                    const std::span<T> row = out.row(near.first_row + i);
                    for (std::size_t j = 0; j < near.columns; ++j) row[to[j]] = rows[i][j];
                }
                computed[strip] += near.rows * near.columns;
            }
        });
        return std::accumulate(computed.begin(), computed.end(), std::uint64_t{0});
    }

    static bool are_boxed(const Data& x, const Data& z) {
        return !x.boxed.blocks.empty() && !z.boxed.strips.empty();
    }
    void fill_tile(const Program& program, const Window<T>& w, std::span<T* const> out) const {
        // A kernel on sets, or a user function that evaluates kernels, comes back here on the same
        // thread while the outer tile is half done; it then works with scratch of its own.
        thread_local bool busy = false;
        Scratch<T> own;
        Scratch<T>& scratch = busy ? own : per_thread<Scratch<T>>();
        const bool was_busy = busy;
        busy = true;
        struct Restore {
            bool& flag;
            bool value;
            ~Restore() { flag = value; }
        } const restore{busy, was_busy};

        const std::size_t stride = round_up(w.columns, panel_width);
        const std::size_t area = w.rows * stride + padding;
        scratch.sources.resize(std::max(scratch.sources.size(), plan.sources.size() * area));
        scratch.tiles.resize(plan.sources.size());
        std::vector<bool> filled(plan.sources.size(), false);
        for (const Instruction& in : program) {
            if (!reads_source(in.code) || filled[in.source]) continue;
            scratch.tiles[in.source] =
                fill_source<T>(plan.sources[in.source], in.source, set_grams[in.source], w,
                               scratch.sources.data() + in.source * area, stride);
            filled[in.source] = true;
        }
        run_tile(program, w, scratch, out);
    }

    void run_tile(const Program& program, const Window<T>& w, Scratch<T>& scratch,
                  std::span<T* const> out) const {
        scratch.registers.resize(
            std::max(scratch.registers.size(), plan.registers() * register_length(w.columns)));
        scratch.x_sides.clear();
        scratch.z_sides.clear();
        const std::size_t sides = std::min(w.x.sides.size(), w.z.sides.size());
        for (std::size_t s = 0; s < sides; ++s) {
            scratch.x_sides.push_back(w.x.sides[s].data() + w.first_x);
            scratch.z_sides.push_back(w.z.sides[s].data() + w.first_z);
        }
        const std::size_t bad =
            run_program(program, ProgramTile<T>{scratch.tiles, scratch.x_sides, scratch.z_sides,
                                                out, w.columns, scratch.registers});
        if (bad == out.size()) return;
        const auto finite = [](T v) { return std::isfinite(v); };
        const auto row = std::span(out[bad], w.columns);
        const auto j =
            static_cast<std::size_t>(std::ranges::find_if_not(row, finite) - row.begin());
        refuse_value(row[j], row_name(w.x, w.first_x + bad), row_name(w.z, w.first_z + j));
    }

    /// Empty where the points no longer know which rows they were.
    static std::string row_name(const Data& points, std::size_t i) {
        for (const PackedGroup<T>& group : points.groups) {
            if (group.rows.size() == points.size) {
                return std::to_string(group.rows.origin(i) + 1);
            }
        }
        return {};
    }

    /// A value outside the domain of the kernel's functions, or beyond the range of T.
    [[noreturn]] void refuse_value(T value, const std::string& x, const std::string& z) const {
        std::string message = "the kernel " + quoted(kernel.text(), 120) + " is " +
                              (std::isnan(value) ? "not a number" : "infinite");
        if (!x.empty() && !z.empty()) message += " between row " + x + " and row " + z;
        throw InvalidInput(message +
                           ": fractional and negative powers need kernels with positive values, "
                           "and what is too large for " +
                           (sizeof(T) == 4 ? "single precision needs double precision or "
                                           : "double precision needs ") +
                           "data of a smaller scale");
    }
};

template <class T>
Gram<T>::Gram(const Kernel& kernel, const Rows& reference, std::span<const std::string> names,
              const Progress& progress) {
    if (reference.size() == 0) throw InvalidInput("a Gram matrix needs at least one row");
    auto state = std::make_shared<State>(
        State{.kernel = resolve(kernel, reference, names), .columns = reference.columns()});
    state->plan = compile(state->kernel, state->columns, reference.object_names());
    state->sum_program = state->plan.program;
    constexpr double nothing = sizeof(T) == 4 ? 0x1p-40 : 0x1p-53;
    if (const auto reach = reach_of(state->plan, nothing)) {
        state->reach = reach->squared;
        state->sum_program.push_back({.code = Code::truncate,
                                      .target = state->plan.program.back().target,
                                      .a = reach->nothing});
    }
    Plan& plan = state->plan;
    state->linear = linear_form(plan);
    state->plain = state->linear && reads_plain_rows(plan);
    std::vector<DerivedRows> derived;
    for (const Group& group : plan.groups) {
        std::shared_ptr<const FeatureColumns> columns;
        derived.push_back(derive(group, reference, columns));
        if (!state->plain) {
            state->formats.push_back(choose_format<T>(group, derived.back().rows));
        }
        state->features.push_back(std::move(columns));
    }
    for (const Source& source : plan.sources) {
        std::shared_ptr<const Gram<T>> inner;
        if (source.kind == SourceKind::sets) {
            std::vector<std::size_t> starts;
            inner = std::make_shared<Gram<T>>(
                source.kernel[0],
                set_members(derived[source.group].rows, set_shape(source), starts));
        }
        state->set_grams.push_back(std::move(inner));
    }
    auto data = state->pack_derived(reference.size(), std::move(derived));
    state->shape_tiles(*data);
    state->local = state->reach && !most_are_near(data->groups[0], *state->reach, Columns::all());
    state->put_in_boxes(*data, true);
    for (std::size_t side = 0; side < plan.sides.size(); ++side) {
        state->add_side(plan.sides[side], *data, *data, progress);
        if (plan.sides[side].kind == SideKind::mean) state->settle_center(side, *data);
    }
    state->reference = Points<T>(std::move(data));
    state_ = std::move(state);
}

template <class T>
const Kernel& Gram<T>::kernel() const {
    return state_->kernel;
}
template <class T>
std::size_t Gram<T>::size() const {
    return state_->reference.size();
}
template <class T>
std::size_t Gram<T>::columns() const {
    return state_->columns;
}
template <class T>
const Points<T>& Gram<T>::reference() const {
    return state_->reference;
}

template <class T>
bool Gram<T>::is_plain() const {
    return state_->plain;
}

template <class T>
Points<T> Gram<T>::prepare(const Rows& rows) const {
    if (rows.columns() > state_->columns) {
        throw InvalidInput("rows of " + std::to_string(rows.columns()) +
                           " columns do not fit a kernel prepared on rows of " +
                           std::to_string(state_->columns));
    }
    auto data =
        state_->pack_rows(rows.columns() < state_->columns ? rows.widened(state_->columns) : rows);
    for (const Side& side : state_->plan.sides) {
        state_->add_side(side, *data, *state_->reference.data_, {});
    }
    state_->put_in_boxes(*data, true);
    return Points<T>(std::move(data));
}

template <class T>
Points<T> Gram<T>::select(const Points<T>& points, std::span<const std::size_t> positions,
                          bool as_columns) const {
    return gathered(points, positions, as_columns, false);
}
template <class T>
Points<T> Gram<T>::select_among(const Points<T>& points, std::span<const std::size_t> positions,
                                bool as_columns) const {
    return gathered(points, positions, as_columns, true);
}

template <class T>
Points<T> Gram<T>::gathered(const Points<T>& points, std::span<const std::size_t> positions,
                            bool as_columns, bool among) const {
    const auto& from = *points.data_;
    auto data = std::make_shared<typename Points<T>::Data>();
    data->size = positions.size();
    const bool plain = state_->plain;
    const auto take = [plan = &state_->plan, as_columns, among](
                          const std::vector<PackedGroup<T>>& groups,
                          std::span<const std::size_t> which, bool plainly) {
        std::vector<PackedGroup<T>> taken(groups.size());
        for (std::size_t g = 0; g < groups.size(); ++g) {
            taken[g] = gather(plan->groups[g], groups[g], which,
                              {.as_columns = as_columns, .among = among, .plain = plainly});
        }
        return taken;
    };
    data->groups = take(from.groups, positions, plain);
    if (plain) {
        data->pack_later = [take, whole = points.data_,
                            which = std::vector<std::size_t>(positions.begin(), positions.end())] {
            return take(whole->packed(), which, false);
        };
    }
    for (const std::vector<T>& side : from.sides) {
        auto& to = data->sides.emplace_back(positions.size() + padding, T{0});
        for (std::size_t r = 0; r < positions.size(); ++r) to[r] = side[positions[r]];
    }
    data->objects.resize(from.objects.size());
    for (std::size_t s = 0; s < from.objects.size(); ++s) {
        if (from.objects[s].objects == nullptr) continue;
        data->objects[s].objects = from.objects[s].objects;
        for (const std::size_t i : positions) {
            data->objects[s].positions.push_back(from.objects[s].positions[i]);
        }
    }
    data->members.resize(from.members.size());
    for (std::size_t s = 0; s < from.members.size(); ++s) {
        const Members<T>& members = from.members[s];
        if (members.starts.empty()) continue;
        std::vector<std::size_t> chosen;
        data->members[s].starts.assign(1, 0);
        for (const std::size_t i : positions) {
            for (std::size_t m = members.starts[i]; m < members.starts[i + 1]; ++m) {
                chosen.push_back(m);
            }
            data->members[s].starts.push_back(chosen.size());
        }
        data->members[s].points = state_->set_grams[s]->select(members.points, chosen);
    }
    state_->put_in_boxes(*data, as_columns);
    return Points<T>(std::move(data));
}

template <class T>
std::vector<std::size_t> Gram<T>::near_order(const Points<T>& points, const Columns& which) const {
    constexpr std::size_t few = 4096;  // blocks between so few rows are quickly computed
    if (!state_->local || which.size(points.size()) < few) return {};
    const PackedGroup<T>& rows = points.data_->groups[0];
    if (most_are_near(rows, *state_->reach, which)) return {};
    std::vector<std::size_t> order = mercer::near_order(rows, panel_width, *state_->reach, which);
    std::vector<std::size_t> ordered(order.size());
    std::ranges::transform(order, ordered.begin(), [&](std::size_t i) { return which[i]; });
    if (!is_few(even_boxes(rows, panel_width, Columns(ordered)), *state_->reach)) order.clear();
    return order;
}

template <class T>
bool Gram<T>::is_local(const Points<T>& points) const {
    return state_->local && is_few(points.data_->boxed.panels, *state_->reach);
}

template <class T>
void Gram<T>::block(const Points<T>& x, const Points<T>& z, MatrixView<T> out) const {
    if (out.rows != x.size() || out.columns != z.size()) {
        throw std::logic_error("a block must have the shape of its points");
    }
    state_->fill(state_->plan.program, *x.data_, 0, *z.data_, out);
}

template <class T>
void Gram<T>::window(const Points<T>& x, std::size_t first_x, const Points<T>& z,
                     std::size_t first_z, MatrixView<T> out) const {
    static_assert(window_step == panel_width);
    if (first_x + out.rows > x.size() || first_z + out.columns > z.size() ||
        first_z % window_step != 0) {
        throw std::logic_error("a window must lie within the block of its points");
    }
    state_->fill_tile(state_->plan.program,
                      Window<T>{*x.data_, *z.data_, first_x, out.rows, first_z, out.columns},
                      State::row_pointers(out));
}

template <class T>
std::uint64_t Gram<T>::near_block(const Points<T>& x, const Points<T>& z,
                                  std::span<const std::size_t> places, MatrixView<T> out) const {
    if (out.rows != x.size() || out.columns != z.size() || places.size() != z.size() ||
        !state_->reach || !State::are_boxed(*x.data_, *z.data_)) {
        throw std::logic_error("a block of near points must have their shape, and places");
    }
    return state_->fill_near(*x.data_, *z.data_, places, out);
}

template <class T>
void Gram<T>::rows_to(const Points<T>& x, const Points<T>& z, std::span<T* const> out) const {
    if (out.size() != x.size()) throw std::logic_error("a place for each row is needed");
    state_->fill(state_->plan.program, *x.data_, 0, *z.data_, out);
}

template <class T>
std::uint64_t Gram<T>::add_product(const Points<T>& x, const Points<T>& z,
                                   std::span<const double> weights, std::span<double> sums) const {
    if (weights.size() != x.size() || sums.size() != z.size()) {
        throw std::logic_error("a product needs a weight for each row and a sum for each column");
    }
    if (state_->linear &&
        add_collapsed<T>(*state_->linear, state_->plan, *x.data_, *z.data_, weights, sums)) {
        return x.size() * z.size();
    }
    return state_->add_product(*x.data_, *z.data_, weights, sums, {});
}

template <class T>
std::uint64_t Gram<T>::add_product(const Points<T>& x, std::span<const std::size_t> which,
                                   const Points<T>& z, std::span<const double> weights,
                                   std::span<double> sums, Turn turn) const {
    if (state_->plain) {  // such rows need not be gathered
        std::vector<double> all(x.size(), 0.0);
        for (std::size_t r = 0; r < which.size(); ++r) all[which[r]] += weights[r];
        if (add_collapsed<T>(*state_->linear, state_->plan, *x.data_, *z.data_, all, sums)) {
            return which.size() * z.size();
        }
    }
    const Points<T> some = select_among(x, which, false);
    if (turn.count == 1) return add_product(some, z, weights, sums);
    return state_->add_product(*some.data_, *z.data_, weights, sums, turn);
}

template <class T>
std::optional<ExplicitRows<T>> Gram<T>::explicit_rows(const Points<T>& x,
                                                      const Columns& which) const {
    if (!state_->linear) return std::nullopt;
    auto rows = write_features<T>(*state_->linear, state_->plan, *x.data_, which);
    if (rows && !rows->owner) rows->owner = x.data_;
    return rows;
}

template <class T>
void Gram<T>::diagonal(const Points<T>& x, std::span<double> out) const {
    state_->self_values(state_->plan.program, *x.data_, out);
}

template <class T>
void Gram<T>::matrix(MatrixView<T> out, const Progress& progress) const {
    const auto& data = *state_->reference.data_;
    const std::size_t n = data.size;
    const std::size_t side = state_->tile_columns;
    for (std::size_t first = 0; first < n; first += side) {
        const double left = static_cast<double>(n - first) / static_cast<double>(n);
        const std::size_t rows = std::min(side, n - first);
        // The first strip touches all of a new matrix, which may take the system seconds.
        const double touched = first == 0 ? 4000 : 0;
        const double work = static_cast<double>(rows * side) * (state_->pair_work + touched);
        const Moment moment{"gram matrix", 1 - left * left};
        parallel_slices(
            (n - first + side - 1) / side, work, progress, moment, [&](std::size_t task) {
                const std::size_t from = first + task * side;
                const std::size_t columns = std::min(side, n - from);
                const Window<T> window{data, data, first, rows, from, columns};
                state_->fill_tile(state_->plan.program, window,
                                  State::row_pointers(out.block(first, from, rows, columns)));
                for (std::size_t i = 0; i < rows; ++i) {
                    const std::size_t begin = from == first ? i + 1 : 0;
                    for (std::size_t j = begin; j < columns; ++j) {
                        out(from + j, first + i) = out(first + i, from + j);
                    }
                }
            });
    }
    keep_going(progress, {"gram matrix", 1});
}

template <class T>
std::size_t Gram<T>::strip() const {
    return state_->tile_columns;
}

/// What stands before the diagonal is computed as the matrix has it, above the diagonal, and
/// turned.
template <class T>
void Gram<T>::matrix_rows(std::size_t first, MatrixView<T> out) const {
    const auto& data = *state_->reference.data_;
    const std::size_t n = data.size;
    const std::size_t side = state_->tile_columns;
    if (first % side != 0 || out.rows > side || out.columns != n) {
        throw std::logic_error("a strip of the matrix begins at a multiple of its height");
    }
    parallel_for((n + side - 1) / side, [&](std::size_t task) {
        const std::size_t from = task * side;
        const std::size_t columns = std::min(side, n - from);
        if (from >= first) {
            state_->fill_tile(state_->plan.program,
                              Window<T>{data, data, first, out.rows, from, columns},
                              State::row_pointers(out.block(0, from, out.rows, columns)));
        } else {
            Matrix<T> turned(columns, out.rows);
            state_->fill_tile(state_->plan.program,
                              Window<T>{data, data, from, columns, first, out.rows},
                              State::row_pointers(turned.view()));
            for (std::size_t i = 0; i < out.rows; ++i) {
                for (std::size_t j = 0; j < columns; ++j) out(i, from + j) = turned(j, i);
            }
        }
        for (std::size_t i = 0; from == first && i < out.rows; ++i) {
            for (std::size_t j = 0; j < i; ++j) out(i, from + j) = out(j, from + i);
        }
    });
}

template <class T>
std::size_t Points<T>::size() const {
    return data_ ? data_->size : 0;
}

template class Points<float>;
template class Points<double>;
template class Gram<float>;
template class Gram<double>;

}  // namespace mercer
