// Record batches of a stream of Arrow's, checked as far as the interface lets one: it says how many
// entries there are, not how many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/data/arrow/detail/abi.hpp"

namespace mercer::arrow {

enum class Kind : std::uint8_t {
    nothing,  ///< all entries are missing
    boolean,
    i8,
    u8,
    i16,
    u16,
    i32,
    u32,
    i64,
    u64,
    f16,
    f32,
    f64,
    text,        ///< offsets of 32 bits
    large_text,  ///< of 64
    text_view,
    other,  ///< none of these
};

/// A column as the schema has it.
struct ArrowField {
    std::string name{};
    Kind kind = Kind::other;       ///< of the entries; of a dictionary those of its indices
    std::optional<Kind> values{};  ///< of the entries of a dictionary
    std::string format{};          ///< as the schema says it

    Kind entry() const { return values.value_or(kind); }
    bool is_text() const { return entry() >= Kind::text && entry() <= Kind::text_view; }
    bool is_number() const { return entry() < Kind::text; }
    /// A float holds every number of the kind.
    bool fits_float() const;
};

/// The entries of one column of one batch.
struct View {
    Kind kind = Kind::other;
    std::size_t length = 0;
    std::size_t offset = 0;  ///< of the first entry in what follows
    const std::uint8_t* valid = nullptr;
    const unsigned char* values = nullptr;
    const char* bytes = nullptr;                  ///< of texts
    std::span<const void* const> buffers{};       ///< of text views
    const unsigned char* buffer_sizes = nullptr;  ///< one of 8 bytes for each of them
    std::shared_ptr<const View> dictionary{};

    bool is_there(std::size_t i) const {
        if (kind == Kind::nothing) return false;
        const std::size_t k = offset + i;
        return valid == nullptr || (valid[k / 8] >> (k % 8) & 1) != 0;
    }
};

/// A stream, released when this is gone. Throws InvalidInput, in the words of `name`, for what is
/// no table of columns, for structures that contradict themselves and for what the stream says.
class Batches {
   public:
    Batches(ArrowArrayStream& stream, std::string name);
    Batches(const Batches&) = delete;
    Batches& operator=(const Batches&) = delete;
    ~Batches();

    const std::vector<ArrowField>& fields() const { return fields_; }
    const std::string& name() const { return name_; }

    /// Goes to the next batch; false when there is none.
    bool next();
    std::size_t rows() const { return rows_; }  ///< of the batch
    /// A column of the batch.
    View view(std::size_t column) const;

   private:
    [[noreturn]] void fail(const std::string& message) const;
    void check(int code, const char* what);
    View view_of(const ArrowArray& array, const ArrowField& field, std::size_t first,
                 std::size_t rows) const;
    View dictionary_of(const ArrowArray& array, const ArrowField& field) const;
    void set_texts(const ArrowArray& array, const ArrowField& field, View& view) const;

    ArrowArrayStream stream_;
    std::string name_;
    std::vector<ArrowField> fields_{};
    ArrowArray batch_{};
    std::size_t rows_ = 0;
    std::size_t offset_ = 0;
};

/// The entry at i, which is there. Throws InvalidInput for an index outside its dictionary.
double number_at(const View& view, std::size_t i, const std::string& where);
std::string text_at(const View& view, std::size_t i, const std::string& where);

}  // namespace mercer::arrow
