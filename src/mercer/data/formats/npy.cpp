// NumPy's .npy: the bytes \x93NUMPY, a version, the length of a header, the header (a Python
// dictionary with descr, fortran_order and shape), the numbers. Objects (pickles) are never opened.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "mercer/base/text.hpp"
#include "mercer/data/detail/array_part.hpp"
#include "mercer/data/formats/detail/npy.hpp"

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

/// The code points of UTF-8; bytes that are none stand for themselves.
std::vector<std::uint32_t> code_points(const std::string& text) {
    std::vector<std::uint32_t> points;
    for (std::size_t k = 0; k < text.size();) {
        const auto lead = static_cast<unsigned char>(text[k]);
        const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
        std::uint32_t point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
        bool good = k + length <= text.size();
        for (std::size_t c = 1; good && c < length; ++c) {
            const auto byte = static_cast<unsigned char>(text[k + c]);
            good = (byte & 0xC0) == 0x80;
            point = point << 6 | (byte & 63U);
        }
        points.push_back(good ? point : lead);
        k += good ? length : 1;
    }
    return points;
}

Match recognise_npy(const Input& input) {
    const bool so = input.bytes.starts_with("\x93NUMPY");
    return {.certainty = so ? Certainty::certain : Certainty::none};
}

Dataset read_npy(const Input& input) {
    return array_dataset(input, parse_npy(input, input.bytes, "array"));
}

Labels read_label_npy(const Input& input) {
    return array_labels(input, parse_npy(input, input.bytes, "array"));
}

void write_npy(const Dataset& data, const std::string&, const WriteOptions& options,
               Output& output) {
    output.write(npy_header(data.x));
    write_numbers(data.x, options.progress, false, output);
}

void write_npy_blocks(const RowBlocks& blocks, const WriteOptions& options, Output& output) {
    output.write(npy_header(blocks.is_double ? "<f8" : "<f4", {blocks.rows, blocks.columns}));
    for (std::size_t first = 0; first < blocks.rows;) {
        const double done = static_cast<double>(first) / static_cast<double>(blocks.rows);
        if (!keep_going(options.progress, {"writing", done})) throw Cancelled();
        const Rows block = blocks.block(first);
        require_finite(block);
        write_numbers(block, {}, false, output);
        first += block.size();
    }
}

void write_label_npy(const Labels& labels, Output& output) {
    if (labels.are_text()) {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < labels.size(); ++i) texts.push_back(labels.text(i));
        output.write(npy_of_texts(texts));
    } else {
        output.write(npy_of<double>(labels.values, labels.size()));
    }
}

}  // namespace

namespace {

/// The header of the array in these bytes, and where its numbers begin.
Array parse_npy_header(const Input& input, std::string_view bytes, const std::string& name,
                       std::size_t& numbers) {
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
    numbers = begin + length;
    return array;
}

}  // namespace

Array parse_npy(const Input& input, std::string_view bytes, const std::string& name) {
    std::size_t numbers = 0;
    Array array = parse_npy_header(input, bytes, name, numbers);
    return checked_array(input, std::move(array), bytes.substr(numbers));
}

Array npy_outline(const Input& input, std::size_t size, std::size_t& begin) {
    Array array = parse_npy_header(input, input.bytes, "array", begin);
    // The view has the right length and is never looked at: there may be no such bytes in memory.
    array = checked_array(input, std::move(array), {input.bytes.data() + begin, size - begin});
    array.bytes = {};
    return array;
}

std::string npy_header(const std::string& type, const std::vector<std::size_t>& shape) {
    std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
    for (const std::size_t extent : shape) text += std::to_string(extent) + ", ";
    if (shape.size() > 1) text.resize(text.size() - 2);
    text += "), }";
    constexpr std::size_t preamble = 10;
    text.resize((preamble + text.size() + 1 + 63) / 64 * 64 - preamble - 1, ' ');
    text += '\n';
    std::string header("\x93NUMPY\x01\x00", 8);
    append_bytes(header, static_cast<std::uint16_t>(text.size()), false);
    return header + text;
}

std::string npy_header(const Rows& rows) {
    return npy_header(rows.is_double() ? npy_type<double>() : npy_type<float>(),
                      {rows.size(), rows.columns()});
}

std::string npy_of_texts(const std::vector<std::string>& texts, bool scalar) {
    std::vector<std::vector<std::uint32_t>> all;
    std::size_t longest = 1;
    for (const std::string& text : texts) {
        all.push_back(code_points(text));
        longest = std::max(longest, all.back().size());
    }
    std::string result =
        npy_header("<U" + std::to_string(longest),
                   scalar ? std::vector<std::size_t>() : std::vector{texts.size()});
    for (auto& points : all) {
        points.resize(longest, 0);
        for (const std::uint32_t point : points) append_bytes(result, point, false);
    }
    return result;
}

Format npy() {
    return {
        .name = "npy",
        .title = "NPY",
        .about = "one NumPy array; row i is its i-th slice, flattened",
        .suffixes = {".npy"},
        .kind = Format::Kind::bytes,
        .recognise = recognise_npy,
        .read = read_npy,
        .read_pieces = read_array_part,
        .read_labels = read_label_npy,
        .uses = {.label = true, .missing = true},
        .write = write_npy,
        .write_blocks = write_npy_blocks,
        .write_labels = write_label_npy,
        .keeps = {.labels = false, .weights = false},
    };
}

}  // namespace mercer::formats
