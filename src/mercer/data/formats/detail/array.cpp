#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/array.hpp"

namespace mercer::formats {

double from_half(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const double fraction = bits & 1023;
    double value = 0;
    if (exponent == 0) {
        value = std::ldexp(fraction, -24);
    } else if (exponent == 31) {
        value = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
    } else {
        value = std::ldexp(fraction + 1024, exponent - 25);
    }
    return (bits & 0x8000) != 0 ? -value : value;
}

namespace {

template <class E>
E load(const char* p, bool swap) {
    std::array<char, sizeof(E)> bytes{};
    std::memcpy(bytes.data(), p, sizeof(E));
    if (swap) std::reverse(bytes.begin(), bytes.end());
    E value;
    std::memcpy(&value, bytes.data(), sizeof(E));
    return value;
}

/// Calls body with a function that takes the address of an element and gives its number, so that
/// the kind of element is decided once an array.
template <class Body>
void with_element(const Array& array, Body&& body) {
    const bool swap = array.big_endian != (std::endian::native == std::endian::big);
    switch (array.element) {
        case Element::boolean:
            return body([](const char* p) { return static_cast<std::uint8_t>(*p != 0); });
        case Element::u8: return body([](const char* p) { return static_cast<std::uint8_t>(*p); });
        case Element::i8: return body([](const char* p) { return static_cast<std::int8_t>(*p); });
        case Element::u16: return body([=](const char* p) { return load<std::uint16_t>(p, swap); });
        case Element::i16: return body([=](const char* p) { return load<std::int16_t>(p, swap); });
        case Element::u32: return body([=](const char* p) { return load<std::uint32_t>(p, swap); });
        case Element::i32: return body([=](const char* p) { return load<std::int32_t>(p, swap); });
        case Element::u64: return body([=](const char* p) { return load<std::uint64_t>(p, swap); });
        case Element::i64: return body([=](const char* p) { return load<std::int64_t>(p, swap); });
        case Element::f16:
            return body([=](const char* p) { return from_half(load<std::uint16_t>(p, swap)); });
        case Element::f32: return body([=](const char* p) { return load<float>(p, swap); });
        case Element::f64: return body([=](const char* p) { return load<double>(p, swap); });
        case Element::bytes:
        case Element::unicode: break;
    }
}

/// For each column of a row, how many elements from the row's first it lies.
std::vector<std::size_t> column_offsets(const Array& array) {
    std::vector<std::size_t> offsets(array.columns());
    for (std::size_t c = 0; c < offsets.size(); ++c) {
        if (!array.fortran) {
            offsets[c] = c;
            continue;
        }
        // The indices of column c in C order, last runs fastest; their strides in Fortran order.
        std::size_t rest = c;
        std::size_t stride = array.size();
        for (std::size_t k = array.shape.size(); k-- > 1;) {
            stride /= array.shape[k];
            offsets[c] += rest % array.shape[k] * stride;
            rest /= array.shape[k];
        }
    }
    return offsets;
}

[[noreturn]] void refuse_element(const Input& input, const Array& array, std::size_t place,
                                 double value) {
    const std::size_t columns = std::max<std::size_t>(array.columns(), 1);
    const std::string where = array.name + ": row " +
                              std::to_string(array.rows_before + place / columns + 1) +
                              ", column " + std::to_string(place % columns + 1) + ": found ";
    if (std::isnan(value)) {
        fail(input, where + "nan, expected a number; to fill in missing values set " +
                        "`missing=mean`, median or zero");
    }
    fail(input, where + "inf, expected a finite number");
}

/// The number in another type, and whether that has changed it or, where `exact`, may change its
/// decimals.
template <class T, class Found>
T converted(Found found, bool exact, char& rounded) {
    if constexpr (std::is_same_v<T, double> || std::is_same_v<Found, float> || sizeof(Found) < 4) {
        return static_cast<T>(found);
    } else {
        const auto number = static_cast<double>(found);
        constexpr double largest = std::numeric_limits<float>::max();
        const bool beyond = std::abs(number) > largest;  // infinity too, and never NaN
        const T value = beyond ? std::numeric_limits<T>::infinity() : static_cast<T>(number);
        const bool changed = static_cast<double>(value) != number && !std::isnan(number);
        if (changed || (exact && number != std::trunc(number))) rounded = 1;
        return value;
    }
}

/// Labels are held in doubles: whole numbers beyond 2^53 that are none would merge classes.
template <class Found>
void require_whole(const Input& input, const Array& array, Found found) {
    if constexpr (std::is_integral_v<Found> && sizeof(Found) == 8) {
        const auto value = static_cast<double>(found);
        if (std::abs(value) < 0x1p53) return;
        const bool same = std::abs(value) < 0x1p63 && static_cast<Found>(value) == found;
        if (same) return;
        fail(input, array.name + ": found the label " + std::to_string(found) +
                        ", which double precision cannot hold; save labels as text, or smaller "
                        "ones");
    }
}

/// The same for every element.
void refuse_lost_digits(const Input& input, const Array& array) {
    if (array.element != Element::i64 && array.element != Element::u64) return;
    with_element(array, [&](auto number_at) {
        for (std::size_t k = 0; k < array.size(); ++k) {
            require_whole(input, array, number_at(array.bytes.data() + k * array.item));
        }
    });
}

/// Column j as it stands; no value of it may be missing.
std::vector<double> array_column(const Input& input, const Array& array, std::size_t j) {
    const std::size_t columns = array.columns();
    const std::size_t row_step = array.fortran ? 1 : columns;
    const std::size_t offset = column_offsets(array)[j];
    std::vector<double> values(array.rows());
    with_element(array, [&](auto number_at) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t place = i * row_step + offset;
            const auto found = number_at(array.bytes.data() + place * array.item);
            require_whole(input, array, found);
            values[i] = static_cast<double>(found);
            if (!std::isfinite(values[i])) {
                refuse_element(input, array, i * columns + j, values[i]);
            }
        }
    });
    return values;
}

}  // namespace

std::optional<std::size_t> elements_of(std::span<const std::size_t> shape) {
    std::size_t product = 1;
    for (const std::size_t extent : shape) {
        if (extent != 0 && product > std::numeric_limits<std::size_t>::max() / extent) {
            return std::nullopt;
        }
        product *= extent;
    }
    return product;
}

std::size_t Array::columns() const {
    std::size_t product = 1;
    for (std::size_t k = 1; k < shape.size(); ++k) product *= shape[k];
    return product;
}

Array checked_array(const Input& input, Array array, std::string_view rest) {
    std::string text;
    for (const std::size_t extent : array.shape) {
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    }
    // An extent of zero must not hide an overflow among the others.
    std::vector<std::size_t> positive = array.shape;
    std::replace(positive.begin(), positive.end(), std::size_t{0}, std::size_t{1});
    const auto all = elements_of(positive);
    const auto count = elements_of(array.shape);
    if (!all || !count || *count > std::numeric_limits<std::size_t>::max() / array.item ||
        *count * array.item > rest.size()) {
        fail(input, array.name + ": found " + std::to_string(rest.size()) +
                        " bytes of numbers, expected " + text + " elements of " +
                        std::to_string(array.item) +
                        " bytes; the file is cut short or its header is wrong");
    }
    if (rest.size() > *count * array.item) {
        fail(input, array.name + ": found " + std::to_string(rest.size() - *count * array.item) +
                        " bytes too many behind " + text + " elements of " +
                        std::to_string(array.item) + " bytes");
    }
    array.bytes = rest;
    return array;
}

template <class T>
std::vector<T> array_rows(const Input& input, const Array& array, bool& rounded) {
    if (array.is_text()) fail(input, array.name + ": found text, expected numbers");
    if (array.size() == 0) return {};
    const std::size_t columns = array.columns();
    const std::size_t rows = array.rows();
    check_memory(input, rows, columns, sizeof(T));
    const std::vector<std::size_t> offsets = column_offsets(array);
    const std::size_t row_step = array.fortran ? 1 : columns;
    std::vector<T> values(array.size());
    prefer_large_pages(values.data(), values.size() * sizeof(T));
    constexpr std::size_t grain = 256;
    std::vector<std::size_t> bad((rows + grain - 1) / grain, values.size());
    bool missing = false;
    const bool refuse = input.options.missing == MissingValues::refuse;
    std::vector<char> has_missing(bad.size(), 0);
    std::vector<char> has_rounded(bad.size(), 0);
    with_element(array, [&](auto number_at) {
        parallel_for(bad.size(), [&](std::size_t task) {
            for (std::size_t i = task * grain; i < std::min(rows, (task + 1) * grain); ++i) {
                const char* row = array.bytes.data() + i * row_step * array.item;
                for (std::size_t j = 0; j < columns; ++j) {
                    const auto found = number_at(row + offsets[j] * array.item);
                    const T value = converted<T>(found, input.options.exact, has_rounded[task]);
                    values[i * columns + j] = value;
                    if constexpr (!std::is_integral_v<decltype(found)>) {
                        if (std::isfinite(found)) continue;
                        has_missing[task] = 1;
                        if (std::isnan(value) && !refuse) continue;
                        bad[task] = std::min(bad[task], i * columns + j);
                    }
                }
            }
        });
        for (std::size_t task = 0; task < bad.size(); ++task) {
            missing |= has_missing[task] != 0;
            rounded |= has_rounded[task] != 0;
            if (bad[task] == values.size()) continue;
            const std::size_t i = bad[task] / columns;
            const std::size_t offset = i * row_step + offsets[bad[task] % columns];
            const auto found = number_at(array.bytes.data() + offset * array.item);
            refuse_element(input, array, bad[task], static_cast<double>(found));
        }
    });
    if (missing && !refuse) {
        fill_missing(input, values, columns, [](std::size_t j) { return std::to_string(j + 1); });
    }
    return values;
}

template std::vector<float> array_rows<float>(const Input&, const Array&, bool&);
template std::vector<double> array_rows<double>(const Input&, const Array&, bool&);

std::vector<double> array_numbers(const Input& input, const Array& array) {
    ReadOptions strict;
    const Input refusing{input.bytes, input.name, strict};
    bool rounded = false;
    return array_rows<double>(refusing, array, rounded);
}

std::vector<std::string> array_texts(const Input& input, const Array& array) {
    if (!array.is_text()) fail(input, array.name + ": found numbers, expected text");
    const bool swap = array.big_endian != (std::endian::native == std::endian::big);
    std::vector<std::string> texts(array.size());
    for (std::size_t k = 0; k < texts.size(); ++k) {
        const std::string_view item = array.bytes.substr(k * array.item, array.item);
        if (array.element == Element::bytes) {
            texts[k] = item.substr(0, item.find('\0'));
            continue;
        }
        for (std::size_t c = 0; c + 4 <= item.size(); c += 4) {
            const auto point = load<std::uint32_t>(item.data() + c, swap);
            if (point == 0) break;
            append_utf8(texts[k], point);
        }
    }
    return texts;
}

void append_utf8(std::string& text, std::uint32_t point) {
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) point = 0xFFFD;
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0 | point >> 6);
        put(0x80 | (point & 63));
    } else if (point < 0x10000) {
        put(0xE0 | point >> 12);
        put(0x80 | (point >> 6 & 63));
        put(0x80 | (point & 63));
    } else {
        put(0xF0 | point >> 18);
        put(0x80 | (point >> 12 & 63));
        put(0x80 | (point >> 6 & 63));
        put(0x80 | (point & 63));
    }
}

Labels array_labels(const Input& input, const Array& array) {
    if (array.is_text()) return labels_from_names(array_texts(input, array));
    refuse_lost_digits(input, array);
    Labels labels{.values = array_numbers(input, array), .names = {}};
    if (!input.options.text_labels) return labels;
    std::vector<std::string> names;
    for (const double value : labels.values) names.push_back(format_number(value));
    return labels_from_names(names);
}

Dataset array_dataset(const Input& input, const Array& array) {
    if (array.size() == 0) fail(input, array.name + ": holds no numbers, expected at least one");
    const std::size_t columns = array.columns();
    Dataset data = *in_fitting_precision(input, [&](auto number, bool& rounded) {
        Dataset read;
        read.x = Rows::dense(array_rows<decltype(number)>(input, array, rounded), columns);
        return std::optional(std::move(read));
    });
    Rows rows = data.x;
    const std::string& label = input.options.label;
    if (!label.empty() && label != "none") {
        const auto position = column_position(input, label, columns);
        if (!position) {
            fail(input, array.name + ": found the label column " + quoted(label) +
                            ", expected a number, first, last or none: arrays have no names");
        }
        data.roles.label = *position;
    }
    if (input.options.known && input.options.known->features > 0 &&
        columns != input.options.known->features) {
        data.roles = known_positions(input, columns, data.roles, ColumnRoles::none);
    }
    if (data.roles.label != ColumnRoles::none) {
        if (columns == 1) fail(input, array.name + ": its only column is the label");
        std::vector<std::size_t> others;
        for (std::size_t j = 0; j < columns; ++j) {
            if (j != data.roles.label) others.push_back(j);
        }
        data.y.values = array_column(input, array, data.roles.label);
        rows = rows.select_columns(others);
    }
    data.x = fitted(input, std::move(rows));
    return data;
}

}  // namespace mercer::formats
