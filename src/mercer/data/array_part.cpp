#include "mercer/data/detail/array_part.hpp"

#include <bit>
#include <memory>
#include <vector>

#include "mercer/data/detail/mapping.hpp"
#include "mercer/data/formats/detail/npy.hpp"

namespace mercer {
namespace {

using formats::Array;
using formats::Element;

/// True when a float holds any such number, so that no look at the others is needed to settle how
/// many bytes numbers take.
bool fits_float(Element element) {
    switch (element) {
        case Element::boolean:
        case Element::u8:
        case Element::i8:
        case Element::u16:
        case Element::i16:
        case Element::f16:
        case Element::f32: return true;
        default: return false;
    }
}

bool asks_for_all(const ReadOptions& options) {
    return (!options.label.empty() && options.label != "none") ||
           options.missing != MissingValues::refuse || options.double_precision ||
           options.form == RowForm::sparse || options.columns > 0;
}

}  // namespace

std::optional<Dataset> read_array_part(const formats::Input& input, const PlainFile& file) {
    const ReadOptions& options = input.options;
    if ((!options.part && options.most_bytes == 0) || asks_for_all(options)) return {};
    std::size_t begin = 0;
    Array array = formats::npy_outline(input, file.size(), begin);
    const std::size_t columns = array.columns();
    if (array.fortran || array.size() == 0 || !fits_float(array.element)) return {};
    // With another number of columns one of them may be the label.
    if (options.known && options.known->features != columns) return {};
    const RowRange range = options.part ? options.part(array.rows()) : RowRange{0, array.rows()};
    Dataset found;
    const std::size_t bytes = range.size() * columns * array.item;
    begin += range.first * columns * array.item;
    const bool native = array.big_endian == (std::endian::native == std::endian::big);
    if (options.most_bytes > 0 && bytes > options.most_bytes && native &&
        array.element == Element::f32 && begin % sizeof(float) == 0) {
        const auto mapping = std::make_shared<const Mapping>(file.descriptor(), begin, bytes,
                                                             RowPlace::file, input.path);
        found.x =
            Rows::borrow(MatrixView<const float>(reinterpret_cast<const float*>(mapping->data()),
                                                 range.size(), columns),
                         mapping);
        return found;
    }
    if (!options.part) return {};
    if (range.first > 0) {
        array.name = "array from row " + std::to_string(range.first + 1) + " on";
    }
    std::vector<char> content(bytes);
    file.fetch(begin, content.data(), bytes);
    array.bytes = {content.data(), bytes};
    array.shape[0] = range.size();
    bool rounded = false;
    formats::Input part = input;  // what may be allocated goes by the bytes that were read
    part.bytes = array.bytes;
    found.x = Rows::dense(formats::array_rows<float>(part, array, rounded), columns);
    return found;
}

}  // namespace mercer
