#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/arrow/detail/batches.hpp"
#include "mercer/data/formats/detail/array.hpp"

namespace mercer::arrow {
namespace {

constexpr std::int64_t most_columns = std::int64_t{1} << 20;
constexpr std::int64_t most_entries = std::int64_t{1} << 48;

Kind kind_of(std::string_view format) {
    constexpr std::pair<std::string_view, Kind> known[] = {
        {"n", Kind::nothing},    {"b", Kind::boolean},    {"c", Kind::i8},
        {"C", Kind::u8},         {"s", Kind::i16},        {"S", Kind::u16},
        {"i", Kind::i32},        {"I", Kind::u32},        {"l", Kind::i64},
        {"L", Kind::u64},        {"e", Kind::f16},        {"f", Kind::f32},
        {"g", Kind::f64},        {"u", Kind::text},       {"z", Kind::text},
        {"U", Kind::large_text}, {"Z", Kind::large_text}, {"vu", Kind::text_view},
        {"vz", Kind::text_view}};
    for (const auto& [letters, kind] : known) {
        if (letters == format) return kind;
    }
    return Kind::other;
}

bool is_whole(Kind kind) {
    return kind >= Kind::i8 && kind <= Kind::u64;
}

/// Wherever it lies: nothing promises that numbers stand where a processor would want them.
template <class E>
E load(const void* values, std::size_t i) {
    E value;
    std::memcpy(&value, static_cast<const unsigned char*>(values) + i * sizeof(E), sizeof(E));
    return value;
}

/// A schema that is released when this is gone.
struct OwnSchema {
    ArrowSchema schema{};
    OwnSchema() = default;
    OwnSchema(const OwnSchema&) = delete;
    OwnSchema& operator=(const OwnSchema&) = delete;
    ~OwnSchema() {
        if (schema.release != nullptr) schema.release(&schema);
    }
};

ArrowField field_of(const ArrowSchema* schema) {
    ArrowField field;
    if (schema == nullptr || schema->format == nullptr) return field;
    field.name = schema->name == nullptr ? "" : schema->name;
    field.format = schema->format;
    field.kind = kind_of(field.format);
    if (schema->dictionary == nullptr) return field;
    const ArrowSchema& values = *schema->dictionary;
    const bool plain = values.format != nullptr && values.dictionary == nullptr;
    field.values = plain && is_whole(field.kind) ? kind_of(values.format) : Kind::other;
    return field;
}

[[noreturn]] void fail_at(const std::string& where, const std::string& message) {
    throw InvalidInput(where + ": " + message);
}

}  // namespace

bool ArrowField::fits_float() const {
    switch (entry()) {
        case Kind::nothing:
        case Kind::boolean:
        case Kind::i8:
        case Kind::u8:
        case Kind::i16:
        case Kind::u16:
        case Kind::f16:
        case Kind::f32: return true;
        default: return false;
    }
}

Batches::Batches(ArrowArrayStream& stream, std::string name)
    : stream_(std::exchange(stream, ArrowArrayStream{})), name_(std::move(name)) {
    try {
        if (stream_.release == nullptr || stream_.get_schema == nullptr ||
            stream_.get_next == nullptr) {
            fail("the stream was used before, or lacks a function; open it again");
        }
        OwnSchema own;
        check(stream_.get_schema(&stream_, &own.schema), "has no schema");
        const ArrowSchema& schema = own.schema;
        if (schema.format == nullptr || std::string_view(schema.format) != "+s") {
            fail("found a stream of " +
                 (schema.format == nullptr ? "nothing" : quoted(schema.format)) +
                 ", expected a table with columns");
        }
        if (schema.n_children < 0 || schema.n_children > most_columns ||
            (schema.n_children > 0 && schema.children == nullptr)) {
            fail("its schema has " + std::to_string(schema.n_children) + " columns");
        }
        for (std::int64_t k = 0; k < schema.n_children; ++k) {
            fields_.push_back(field_of(schema.children[k]));
        }
    } catch (...) {
        if (stream_.release != nullptr) stream_.release(&stream_);
        throw;
    }
}

Batches::~Batches() {
    if (batch_.release != nullptr) batch_.release(&batch_);
    if (stream_.release != nullptr) stream_.release(&stream_);
}

void Batches::fail(const std::string& message) const {
    throw InvalidInput(Location{.file = name_}, message);
}

void Batches::check(int code, const char* what) {
    if (code == 0) return;
    const char* said =
        stream_.get_last_error == nullptr ? nullptr : stream_.get_last_error(&stream_);
    fail(std::string(what) + ": " + (said != nullptr ? said : std::strerror(code)));
}

bool Batches::next() {
    if (batch_.release != nullptr) batch_.release(&batch_);
    batch_ = {};
    check(stream_.get_next(&stream_, &batch_), "has no more rows");
    if (batch_.release == nullptr) return false;
    const ArrowArray& batch = batch_;
    const bool sound = batch.length >= 0 && batch.offset >= 0 && batch.length < most_entries &&
                       batch.offset < most_entries && batch.n_buffers >= 0 &&
                       (batch.n_buffers == 0 || batch.buffers != nullptr) &&
                       batch.n_children == static_cast<std::int64_t>(fields_.size()) &&
                       (batch.n_children == 0 || batch.children != nullptr);
    if (!sound) fail("a batch of its rows contradicts the schema, or itself");
    rows_ = static_cast<std::size_t>(batch.length);
    offset_ = static_cast<std::size_t>(batch.offset);
    if (batch.null_count == 0 || batch.n_buffers == 0 || batch.buffers[0] == nullptr) return true;
    View whole{.kind = Kind::boolean, .length = rows_, .offset = offset_};
    whole.valid = static_cast<const std::uint8_t*>(batch.buffers[0]);
    for (std::size_t i = 0; i < rows_; ++i) {
        if (!whole.is_there(i)) fail("some rows are missing as a whole");
    }
    return true;
}

View Batches::view(std::size_t column) const {
    const ArrowArray* const array = batch_.children[column];
    if (array == nullptr || array->release == nullptr) {
        fail("column " + quoted(fields_[column].name) + " of a batch is not there");
    }
    return view_of(*array, fields_[column], offset_, rows_);
}

/// `rows` entries from `first` on, of those that the array has.
View Batches::view_of(const ArrowArray& array, const ArrowField& field, std::size_t first,
                      std::size_t rows) const {
    const auto refuse = [&](const std::string& why) {
        fail("column " + quoted(field.name) + " of a batch contradicts itself: " + why);
    };
    if (array.length < 0 || array.offset < 0 || array.length >= most_entries ||
        array.offset >= most_entries || array.null_count < -1 || array.null_count > array.length) {
        refuse("it has " + std::to_string(array.length) + " entries from " +
               std::to_string(array.offset) + " on, " + std::to_string(array.null_count) +
               " of them missing");
    }
    const auto length = static_cast<std::size_t>(array.length);
    if (first > length || rows > length - first) {
        refuse("it has " + std::to_string(length) + " entries for " + std::to_string(rows) +
               " rows");
    }
    View view{.kind = field.kind,
              .length = rows,
              .offset = static_cast<std::size_t>(array.offset) + first};
    if (field.kind == Kind::nothing || rows == 0) return view;
    const bool text = field.kind >= Kind::text && field.kind <= Kind::text_view;
    const std::int64_t least = field.kind == Kind::text_view || text ? 3 : 2;
    const bool fits =
        field.kind == Kind::text_view ? array.n_buffers >= least : array.n_buffers == least;
    if (!fits || array.buffers == nullptr) {
        refuse("it has " + std::to_string(array.n_buffers) + " buffers");
    }
    view.valid =
        array.null_count == 0 ? nullptr : static_cast<const std::uint8_t*>(array.buffers[0]);
    if (array.null_count > 0 && view.valid == nullptr) refuse("nothing says which are missing");
    view.values = static_cast<const unsigned char*>(array.buffers[1]);
    if (view.values == nullptr) refuse("it has no values");
    if (text) set_texts(array, field, view);
    if (field.values) view.dictionary = std::make_shared<const View>(dictionary_of(array, field));
    return view;
}

View Batches::dictionary_of(const ArrowArray& array, const ArrowField& field) const {
    if (array.dictionary == nullptr || array.dictionary->release == nullptr) {
        fail("column " + quoted(field.name) + " of a batch has no dictionary");
    }
    const ArrowArray& values = *array.dictionary;
    const std::size_t count = values.length < 0 ? 0 : static_cast<std::size_t>(values.length);
    return view_of(values, ArrowField{.name = field.name, .kind = *field.values}, 0, count);
}

void Batches::set_texts(const ArrowArray& array, const ArrowField& field, View& view) const {
    if (field.kind != Kind::text_view) {
        view.bytes = static_cast<const char*>(array.buffers[2]);  // null where all are empty
        return;
    }
    constexpr std::int64_t most_buffers = std::int64_t{1} << 31;
    if (array.n_buffers > most_buffers || array.buffers[array.n_buffers - 1] == nullptr) {
        if (array.n_buffers > 3) {
            fail("column " + quoted(field.name) + " of a batch lacks the sizes of its buffers");
        }
        return;
    }
    view.buffers = {array.buffers + 2, static_cast<std::size_t>(array.n_buffers - 3)};
    view.buffer_sizes = static_cast<const unsigned char*>(array.buffers[array.n_buffers - 1]);
}

namespace {

/// The place in the dictionary that entry i names.
std::size_t index_at(const View& view, std::size_t i, const std::string& where) {
    View plain = view;
    plain.dictionary.reset();
    const double index = number_at(plain, i, where);
    if (!(index >= 0) || index >= static_cast<double>(view.dictionary->length)) {
        fail_at(where, "found entry " + format_number(index) + " of a dictionary of " +
                           std::to_string(view.dictionary->length));
    }
    return static_cast<std::size_t>(index);
}

std::string view_text(const View& view, std::size_t k, const std::string& where) {
    constexpr std::size_t view_bytes = 16, inside = 12;
    const unsigned char* const entry = view.values + k * view_bytes;
    const auto length = load<std::int32_t>(entry, 0);
    if (length < 0) fail_at(where, "found a text of " + std::to_string(length) + " bytes");
    const auto size = static_cast<std::size_t>(length);
    if (size <= inside) return {reinterpret_cast<const char*>(entry + 4), size};
    const auto buffer = load<std::int32_t>(entry, 2);
    const auto offset = load<std::int32_t>(entry, 3);
    const bool there =
        buffer >= 0 && static_cast<std::size_t>(buffer) < view.buffers.size() && offset >= 0;
    if (!there) fail_at(where, "found a text in a buffer that is not there");
    const auto b = static_cast<std::size_t>(buffer);
    const auto room = load<std::int64_t>(view.buffer_sizes, b);
    if (view.buffers[b] == nullptr || std::int64_t{offset} + length > room) {
        fail_at(where, "found a text that ends outside its buffer");
    }
    return {static_cast<const char*>(view.buffers[b]) + offset, size};
}

template <class Offset>
std::string offset_text(const View& view, std::size_t k, const std::string& where) {
    const auto first = load<Offset>(view.values, k);
    const auto last = load<Offset>(view.values, k + 1);
    if (first < 0 || last < first) {
        fail_at(where,
                "found a text from byte " + std::to_string(first) + " to " + std::to_string(last));
    }
    if (first == last) return {};
    if (view.bytes == nullptr) fail_at(where, "found a text and no bytes of it");
    return {view.bytes + first, static_cast<std::size_t>(last - first)};
}

}  // namespace

double number_at(const View& view, std::size_t i, const std::string& where) {
    if (view.dictionary) {
        const std::size_t index = index_at(view, i, where);
        if (!view.dictionary->is_there(index)) return std::numeric_limits<double>::quiet_NaN();
        return number_at(*view.dictionary, index, where);
    }
    const std::size_t k = view.offset + i;
    switch (view.kind) {
        case Kind::boolean: return view.values[k / 8] >> (k % 8) & 1;
        case Kind::i8: return load<std::int8_t>(view.values, k);
        case Kind::u8: return load<std::uint8_t>(view.values, k);
        case Kind::i16: return load<std::int16_t>(view.values, k);
        case Kind::u16: return load<std::uint16_t>(view.values, k);
        case Kind::i32: return load<std::int32_t>(view.values, k);
        case Kind::u32: return load<std::uint32_t>(view.values, k);
        case Kind::i64: return static_cast<double>(load<std::int64_t>(view.values, k));
        case Kind::u64: return static_cast<double>(load<std::uint64_t>(view.values, k));
        case Kind::f16: return formats::from_half(load<std::uint16_t>(view.values, k));
        case Kind::f32: return static_cast<double>(load<float>(view.values, k));
        case Kind::f64: return load<double>(view.values, k);
        default: return std::numeric_limits<double>::quiet_NaN();
    }
}

std::string text_at(const View& view, std::size_t i, const std::string& where) {
    if (view.dictionary) {
        const std::size_t index = index_at(view, i, where);
        if (!view.dictionary->is_there(index)) fail_at(where, "found a null, expected a text");
        return text_at(*view.dictionary, index, where);
    }
    const std::size_t k = view.offset + i;
    switch (view.kind) {
        case Kind::text: return offset_text<std::int32_t>(view, k, where);
        case Kind::large_text: return offset_text<std::int64_t>(view, k, where);
        case Kind::text_view: return view_text(view, k, where);
        default: return format_number(number_at(view, i, where));
    }
}

}  // namespace mercer::arrow
