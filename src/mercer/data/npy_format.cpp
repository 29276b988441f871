// NumPy's .npy: the bytes \x93NUMPY, a version, the length of a header, the header (a Python
// dictionary with descr, fortran_order and shape), the numbers. Objects (pickles) are never opened.
#include <charconv>
#include <cstring>

#include "mercer/base/text.hpp"
#include "mercer/data/array-inl.hpp"

namespace mercer::formats {
namespace {

/// The header's dictionary; only the grammar NumPy writes.
class HeaderParser {
   public:
    HeaderParser(const Input& input, std::string_view text, Array& array)
        : input_(input), text_(text), array_(array) {}

    void parse() {
        expect('{');
        while (!accept('}')) {
            const std::string key = word();
            expect(':');
            if (key == "descr") {
                skip_blanks();
                if (!rest().starts_with("'") && !rest().starts_with("\"")) refuse_structure();
                parse_type(word());
            } else if (key == "fortran_order") {
                array_.fortran = boolean();
            } else if (key == "shape") {
                shape();
            } else {
                refuse("the key " + quoted(key));
            }
            seen_ += key[0];
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        for (const char key : {'d', 'f', 's'}) {
            if (seen_.find(key) == std::string::npos) refuse("no descr, fortran_order or shape");
        }
        skip_blanks();
        if (!rest().empty()) refuse(quoted(rest()));
    }

   private:
    std::string_view rest() const { return text_.substr(p_); }
    void skip_blanks() {
        while (!rest().empty() && (is_blank(text_[p_]) || text_[p_] == '\n')) ++p_;
    }
    bool accept(char c) {
        skip_blanks();
        if (rest().empty() || text_[p_] != c) return false;
        ++p_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) refuse(rest().empty() ? "its end" : quoted(rest()));
    }
    [[noreturn]] void refuse(const std::string& found) const {
        fail(input_, array_.name + ": found " + found +
                         " in the array's header, expected {'descr': ..., 'fortran_order': ..., "
                         "'shape': ...}");
    }
    [[noreturn]] void refuse_structure() const {
        fail(input_, array_.name + ": found a structured array, expected one type for all numbers");
    }

    std::string word() {
        skip_blanks();
        if (rest().empty() || (text_[p_] != '\'' && text_[p_] != '"')) refuse(quoted(rest()));
        const std::size_t end = text_.find(text_[p_], p_ + 1);
        if (end == std::string_view::npos) refuse(quoted(rest()));
        const std::string result(text_.substr(p_ + 1, end - p_ - 1));
        p_ = end + 1;
        if (result.empty()) refuse("an empty word");
        return result;
    }
    bool boolean() {
        skip_blanks();
        for (const bool value : {true, false}) {
            const std::string_view name = value ? "True" : "False";
            if (!rest().starts_with(name)) continue;
            p_ += name.size();
            return value;
        }
        refuse(quoted(rest()));
    }
    void shape() {
        array_.shape.clear();
        expect('(');
        while (!accept(')')) {
            std::size_t extent = 0;
            skip_blanks();
            const char* last = text_.data() + text_.size();
            const auto [end, error] = std::from_chars(text_.data() + p_, last, extent);
            if (error != std::errc() || array_.shape.size() == 32) refuse(quoted(rest()));
            p_ = static_cast<std::size_t>(end - text_.data());
            array_.shape.push_back(extent);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
    }
    void parse_type(const std::string& type);

    const Input& input_;
    std::string_view text_;
    Array& array_;
    std::size_t p_ = 0;
    std::string seen_;
};

/// "<f4": byte order, kind, bytes.
void HeaderParser::parse_type(const std::string& type) {
    struct Known {
        const char* name;
        Element element;
        std::size_t item;
    };
    static constexpr Known known[] = {
        {"b1", Element::boolean, 1}, {"u1", Element::u8, 1},  {"i1", Element::i8, 1},
        {"u2", Element::u16, 2},     {"i2", Element::i16, 2}, {"u4", Element::u32, 4},
        {"i4", Element::i32, 4},     {"u8", Element::u64, 8}, {"i8", Element::i64, 8},
        {"f2", Element::f16, 2},     {"f4", Element::f32, 4}, {"f8", Element::f64, 8}};
    const std::string kind = type.substr(1);
    array_.big_endian = type[0] == '>';
    if (std::strchr("<>|=", type[0]) != nullptr) {
        for (const Known& candidate : known) {
            if (kind != candidate.name) continue;
            array_.element = candidate.element;
            array_.item = candidate.item;
            return;
        }
        std::size_t length = 0;
        const bool text = !kind.empty() && (kind[0] == 'S' || kind[0] == 'U');
        const char* last = kind.data() + kind.size();
        if (text && std::from_chars(kind.data() + 1, last, length).ptr == last && length > 0 &&
            length < (std::size_t{1} << 40)) {
            array_.element = kind[0] == 'S' ? Element::bytes : Element::unicode;
            array_.item = kind[0] == 'S' ? length : 4 * length;
            return;
        }
    }
    fail(input_, array_.name + ": found elements of type " + quoted(type) +
                     ", expected whole numbers of 1 to 8 bytes, floats of 2, 4 or 8, or text" +
                     (kind == "O" ? "; Python objects are never opened: save plain numbers" : ""));
}

}  // namespace

Array parse_npy(const Input& input, std::string_view bytes, const std::string& name) {
    Array array;
    array.name = name;
    if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 10) {
        fail(input, name + ": found no NumPy array, expected the bytes \\x93NUMPY and a header");
    }
    const auto byte = [&](std::size_t k) {
        return static_cast<std::size_t>(static_cast<unsigned char>(bytes[k]));
    };
    const std::size_t version = byte(6);
    if (version < 1 || version > 3) {
        fail(input, name + ": found version " + std::to_string(version) +
                        " of the format, expected 1, 2 or 3");
    }
    const std::size_t begin = version == 1 ? 10 : 12;
    std::size_t length = byte(8) | byte(9) << 8;
    if (version > 1 && bytes.size() >= begin) length |= byte(10) << 16 | byte(11) << 24;
    if (bytes.size() < begin || length > bytes.size() - begin) {
        fail(input, name + ": found " + std::to_string(bytes.size()) +
                        " bytes, expected a header of " + std::to_string(length) +
                        "; the file is cut short");
    }
    HeaderParser(input, bytes.substr(begin, length), array).parse();
    return checked_array(input, std::move(array), bytes.substr(begin + length));
}

Dataset read_npy(const Input& input) {
    return array_dataset(input, parse_npy(input, input.bytes, "array"));
}

}  // namespace mercer::formats
