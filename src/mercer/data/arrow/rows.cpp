#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/arrow.hpp"
#include "mercer/data/arrow/detail/batches.hpp"
#include "mercer/data/formats/detail/table_gatherer.hpp"

namespace mercer {
namespace {

using arrow::ArrowField;
using arrow::Kind;
using arrow::View;
using formats::Input;
using formats::TableGatherer;
using formats::TableLayout;
using formats::TablePart;

constexpr std::size_t rows_a_piece = 2048;
constexpr std::size_t rows_a_part = std::size_t{1} << 16;

/// An entry of a batch that cannot be used.
struct BadEntry {
    std::size_t row = std::numeric_limits<std::size_t>::max();
    std::size_t column = 0;
    double value = 0;  ///< NaN where it is missing
};

template <class E>
E plain(const View& view, std::size_t i) {
    E value;
    std::memcpy(&value, view.values + (view.offset + i) * sizeof(E), sizeof(E));
    return value;
}

/// Calls body with a function that gives the number at a place, so that the kind is decided once a
/// column.
template <class Body>
void with_kind(const View& view, const std::string& where, const Body& body) {
    if (!view.dictionary) {
        switch (view.kind) {
            case Kind::i8: return body([&](std::size_t i) { return plain<std::int8_t>(view, i); });
            case Kind::u8: return body([&](std::size_t i) { return plain<std::uint8_t>(view, i); });
            case Kind::i16:
                return body([&](std::size_t i) { return plain<std::int16_t>(view, i); });
            case Kind::u16:
                return body([&](std::size_t i) { return plain<std::uint16_t>(view, i); });
            case Kind::i32:
                return body([&](std::size_t i) { return plain<std::int32_t>(view, i); });
            case Kind::i64:
                return body([&](std::size_t i) { return plain<std::int64_t>(view, i); });
            case Kind::f32: return body([&](std::size_t i) { return plain<float>(view, i); });
            case Kind::f64: return body([&](std::size_t i) { return plain<double>(view, i); });
            default: break;
        }
    }
    body([&](std::size_t i) { return arrow::number_at(view, i, where); });
}

/// Entries [first, last) into out, `step` apart; the first that cannot be used, or none.
template <class T>
BadEntry copy_entries(const View& view, std::size_t first, std::size_t last, T* out,
                      std::size_t step, const std::string& where, bool refuse, char& gaps) {
    BadEntry bad;
    with_kind(view, where, [&](const auto& number_at) {
        for (std::size_t i = first; i < last; ++i, out += step) {
            if (view.is_there(i)) {
                const auto number = number_at(i);
                *out = static_cast<T>(number);
                if constexpr (std::is_integral_v<decltype(number)>) continue;
                if (std::isfinite(static_cast<double>(number))) continue;
                if (std::isinf(static_cast<double>(number))) {
                    if (bad.row > i) bad = {i, 0, static_cast<double>(number)};
                    continue;
                }
            }
            *out = std::numeric_limits<T>::quiet_NaN();
            gaps = 1;
            if (refuse && bad.row > i) bad = {i, 0, std::numeric_limits<double>::quiet_NaN()};
        }
    });
    return bad;
}

/// In doubles, as they are gathered from columns of which some need them, or in floats where those
/// do no harm: see in_fitting_precision of the readers of files.
Dataset in_fitting_numbers(Dataset data, const formats::Holding& holding) {
    const MatrixView<const double> view = data.x.dense_view<double>();
    Store<float> values;
    if (view.rows * view.columns * sizeof(float) > holding.most && holding.most > 0) {
        values.spill(holding.folder, holding.name);
    }
    constexpr double largest = std::numeric_limits<float>::max();
    bool rounded = false;
    std::vector<float> some;
    for_blocks(data.x, [&](std::size_t first, std::size_t count) {
        some.resize(count * view.columns);
        const double* const from = view.data + first * view.columns;
        for (std::size_t k = 0; k < some.size(); ++k) {
            const bool beyond = std::abs(from[k]) > largest;
            some[k] = beyond ? std::numeric_limits<float>::infinity() : static_cast<float>(from[k]);
            rounded |= static_cast<double>(some[k]) != from[k];
        }
        values.append(some);
    });
    const Rows single = formats::dense_rows(values, view.columns);
    if (rounded && column_hurt_by_single(single) && column_hurt_by_single(data.x)) return data;
    data.x = single;
    return data;
}

std::string kind_word(const ArrowField& field) {
    if (field.is_text()) return "text";
    const Kind kind = field.entry();
    if (kind == Kind::boolean) return "boolean";
    return kind >= Kind::f16 || kind == Kind::nothing ? "float" : "whole";
}

}  // namespace

struct ArrowRows::State {
    State(ArrowArrayStream& stream, const std::string& called, const ReadOptions& given,
          ArrowNumbers numbers)
        : batches(stream, called), options(given), how(numbers) {
        lay_out();
        const auto& fields = batches.fields();
        bool all = true, some = false;
        for (const std::size_t j : positions) {
            all = all && fields[j].fits_float();
            some = some || fields[j].entry() == Kind::f32 || fields[j].entry() == Kind::f16;
        }
        single = all && !options.double_precision && (some || how == ArrowNumbers::fitting);
        if (layout.label != TableLayout::none) label_kind = kind_word(fields[layout.label]);
    }

    Input input() const { return {{}, batches.name(), options}; }

    /// Which column is what.
    void lay_out() {
        const auto& fields = batches.fields();
        if (fields.empty()) formats::fail(input(), "has no columns");
        bool named = false;
        for (const ArrowField& field : fields) {
            layout.names.push_back(field.name);
            layout.text_like.push_back(field.is_text());
            named = named || !field.name.empty();
        }
        if (!named) layout.names.clear();
        layout.roles.assign(fields.size(), formats::ColumnRole::feature);
        formats::place_columns(input(), layout);
        positions = formats::feature_positions(layout);
        if (positions.empty()) {
            formats::fail(input(),
                          "has no column left beside label and weight, expected at least "
                          "one feature");
        }
        for (std::size_t j = 0; j < fields.size(); ++j) {
            const formats::ColumnRole role = layout.roles[j];
            const bool label = role == formats::ColumnRole::label;
            if (role == formats::ColumnRole::ignored || fields[j].is_number()) continue;
            if (label && fields[j].is_text()) continue;
            const std::string found = fields[j].is_text()
                                          ? "texts"
                                          : "entries of another kind (" + fields[j].format + ")";
            formats::fail(input(), "column " + layout.column_text(j) + " holds " + found +
                                       ", expected numbers; leave it out by `leave_out`, or make "
                                       "numbers of it");
        }
        Dataset outline = formats::table_outline(input(), layout, 0);
        names = std::move(outline.feature_names);
    }

    /// Goes to a batch that has rows left; false at the end.
    bool more() {
        while (!over && position >= batches.rows()) {
            rows_before += batches.rows();
            position = 0;
            over = !batches.next();
        }
        return !over;
    }

    std::string place(std::size_t row, std::size_t column) const {
        return batches.name() + ": row " + std::to_string(rows_before + row + 1) + ", column " +
               layout.column_text(column);
    }

    [[noreturn]] void refuse(const BadEntry& bad) const {
        if (std::isnan(bad.value)) {
            throw InvalidInput(place(bad.row, bad.column) +
                               ": found no value, expected a number; to fill in missing values set "
                               "`missing=mean`, median or zero");
        }
        throw InvalidInput(place(bad.row, bad.column) + ": found " + format_number(bad.value) +
                           ", expected a finite number");
    }

    /// At most `most` rows of the batch.
    template <class T>
    TablePart<T> take(std::size_t most) {
        const std::size_t count = std::min(most, batches.rows() - position);
        TablePart<T> part;
        part.rows = count;
        fill_features(part);
        if (layout.label != TableLayout::none) take_labels(part.labels, count);
        if (layout.weight != TableLayout::none) take_weights(part.weights, count);
        position += count;
        return part;
    }

    template <class T>
    void fill_features(TablePart<T>& part) const {
        const std::size_t d = positions.size();
        part.values.resize(part.rows * d);
        std::vector<View> views;
        for (const std::size_t j : positions) views.push_back(batches.view(j));
        const std::size_t pieces = (part.rows + rows_a_piece - 1) / rows_a_piece;
        std::vector<BadEntry> bad(pieces);
        std::vector<char> gaps(pieces, 0);
        const bool refused = options.missing == MissingValues::refuse;
        parallel_for(pieces, [&](std::size_t p) {
            const std::size_t first = p * rows_a_piece;
            const std::size_t last = std::min(part.rows, first + rows_a_piece);
            for (std::size_t j = 0; j < d; ++j) {
                BadEntry found = copy_entries(views[j], position + first, position + last,
                                              part.values.data() + first * d + j, d, batches.name(),
                                              refused, gaps[p]);
                found.column = positions[j];
                if (found.row < bad[p].row) bad[p] = found;
            }
        });
        const auto worst = std::ranges::min_element(bad, {}, &BadEntry::row);
        if (worst != bad.end() && worst->row < batches.rows()) refuse(*worst);
        part.missing = std::ranges::find(gaps, char{1}) != gaps.end();
    }

    void take_labels(formats::LabelColumn& labels, std::size_t count) const {
        const View view = batches.view(layout.label);
        const bool text = batches.fields()[layout.label].is_text();
        const Kind kind = batches.fields()[layout.label].entry();
        for (std::size_t i = position; i < position + count; ++i) {
            const std::string where = view.is_there(i) ? batches.name() : place(i, layout.label);
            if (!view.is_there(i)) throw InvalidInput(where + ": found no label");
            if (text) {
                labels.names.push_back(arrow::text_at(view, i, where));
                continue;
            }
            const double value = arrow::number_at(view, i, where);
            if (!std::isfinite(value)) {
                throw InvalidInput(place(i, layout.label) + ": found " + format_number(value) +
                                   ", expected a label");
            }
            const bool whole = kind == Kind::i64 || kind == Kind::u64;
            if (whole && std::abs(value) >= 0x1p53) {
                throw InvalidInput(place(i, layout.label) + ": found a label of about " +
                                   format_number(value) +
                                   ", which double precision cannot hold; use texts for labels");
            }
            if (options.text_labels) {
                labels.names.push_back(format_number(value));
            } else {
                labels.values.push_back(value);
            }
        }
    }

    void take_weights(std::vector<double>& weights, std::size_t count) const {
        const View view = batches.view(layout.weight);
        for (std::size_t i = position; i < position + count; ++i) {
            const double weight = view.is_there(i) ? arrow::number_at(view, i, batches.name()) : -1;
            if (!(weight >= 0) || std::isinf(weight)) {
                throw InvalidInput(place(i, layout.weight) +
                                   ": found no weight, expected a number from 0");
            }
            weights.push_back(weight);
        }
    }

    void tell() const {
        if (!keep_going(options.progress, {.task = "reading", .fraction = -1})) throw Cancelled();
    }

    /// The rows of up to `most`; with `all` whatever memory may hold.
    template <class T>
    Dataset gather(std::size_t most, const ReadOptions& held) {
        const Input own{{}, batches.name(), held};
        TableGatherer<T> rows(own, layout);
        for (std::size_t left = most; left > 0 && more();) {
            tell();
            TablePart<T> part = take<T>(std::min(left, rows_a_part));
            left -= part.rows;
            rows.append(own, std::move(part));
        }
        return rows.finish();
    }

    arrow::Batches batches;
    ReadOptions options;
    ArrowNumbers how;
    TableLayout layout{};
    std::vector<std::size_t> positions{};  ///< of the features
    std::vector<std::string> names{};
    std::string label_kind{};
    bool single = false;
    std::size_t position = 0;  ///< in the batch
    std::size_t rows_before = 0;
    bool over = false;
};

ArrowRows::ArrowRows(ArrowArrayStream& stream, const std::string& name, const ReadOptions& options,
                     ArrowNumbers numbers)
    : state_(std::make_unique<State>(stream, name, options, numbers)) {}

ArrowRows::ArrowRows(ArrowRows&&) noexcept = default;
ArrowRows::~ArrowRows() = default;

const std::vector<std::string>& ArrowRows::names() const {
    return state_->names;
}

std::size_t ArrowRows::columns() const {
    return state_->positions.size();
}

const std::string& ArrowRows::label_kind() const {
    return state_->label_kind;
}

std::optional<Dataset> ArrowRows::next(std::size_t rows) {
    State& s = *state_;
    if (!s.more() || rows == 0) return std::nullopt;
    ReadOptions held = s.options;
    held.most_bytes = std::numeric_limits<std::size_t>::max();
    if (held.missing == MissingValues::mean || held.missing == MissingValues::median) {
        throw InvalidInput(Location{.file = s.batches.name()},
                           "missing values that come from all rows cannot be filled in block by "
                           "block; set `missing=zero`, or read all rows");
    }
    return s.single ? s.gather<float>(rows, held) : s.gather<double>(rows, held);
}

Dataset ArrowRows::rest() {
    State& s = *state_;
    constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
    ReadOptions held = s.options;
    if (held.most_bytes == 0) held.most_bytes = all;
    const Input own{{}, s.batches.name(), held};
    if (!s.more()) formats::fail(own, "holds no rows");
    if (s.single) return s.gather<float>(all, held);
    Dataset data = s.gather<double>(all, held);
    if (held.double_precision || s.how == ArrowNumbers::typed) return data;
    return in_fitting_numbers(std::move(data), formats::Holding(held, own.name));
}

Dataset read_arrow(ArrowArrayStream& stream, const std::string& name, const ReadOptions& options,
                   ArrowNumbers numbers) {
    return ArrowRows(stream, name, options, numbers).rest();
}

}  // namespace mercer
