#include "mercer/data/detail/array_part.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <vector>

#include "mercer/data/formats/detail/npy.hpp"
#include "mercer/data/formats/detail/windows.hpp"

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
           options.missing != MissingValues::refuse || options.form == RowForm::sparse ||
           options.columns > 0;
}

/// The rows of a range, some at a time; those that memory is not to hold wait in a file.
template <class T>
Dataset gather_array(const formats::Input& input, const PlainFile& file, const Array& array,
                     std::size_t begin, const RowRange& range, bool& rounded) {
    constexpr std::size_t numbers_at_once = std::size_t{1} << 21;
    const std::size_t columns = array.columns();
    const std::size_t block = std::max<std::size_t>(1, numbers_at_once / columns);
    const formats::Holding holding(input.options, input.name);
    Store<T> values;
    std::vector<char> content;
    for (std::size_t first = range.first; first < range.last; first += block) {
        const double done =
            static_cast<double>(first - range.first) / static_cast<double>(range.size());
        if (!keep_going(input.options.progress, {.task = "reading", .fraction = done})) {
            throw Cancelled();
        }
        Array some = array;
        some.shape[0] = std::min(block, range.last - first);
        some.rows_before = first;
        content.resize(some.size() * array.item);
        file.fetch(begin + first * columns * array.item, content.data(), content.size());
        some.bytes = {content.data(), content.size()};
        formats::Input part = input;  // what may be allocated goes by the bytes that were read
        part.bytes = some.bytes;
        values.append(formats::array_rows<T>(part, some, rounded));
        holding.keep(values);
    }
    Dataset data;
    data.x = formats::dense_rows(values, columns);
    return data;
}

}  // namespace

std::optional<Dataset> read_array_part(const formats::Input& input, const PlainFile& file) {
    const ReadOptions& options = input.options;
    if ((!options.part && options.most_bytes == 0) || asks_for_all(options)) return {};
    std::size_t begin = 0;
    const Array array = formats::npy_outline(input, file.size(), begin);
    const std::size_t columns = array.columns();
    if (array.fortran || array.size() == 0 || array.is_text()) return {};
    // With another number of columns one of them may be the label.
    if (options.known && options.known->features != columns) return {};
    const bool large = options.most_bytes > 0 && array.size() > options.most_bytes / sizeof(float);
    const bool settled = fits_float(array.element) || options.double_precision;
    // How many bytes numbers take is settled by all rows, not by those of a part.
    if (!settled && !large) return {};
    const bool partly = options.part && settled;
    const RowRange range = partly ? options.part(array.rows()) : RowRange{0, array.rows()};
    const std::size_t bytes = range.size() * columns * array.item;
    const std::size_t first = begin + range.first * columns * array.item;
    const bool native = array.big_endian == (std::endian::native == std::endian::big);
    if (large && bytes > options.most_bytes && native && array.element == Element::f32 &&
        !options.double_precision && first % sizeof(float) == 0) {
        const auto mapping = std::make_shared<const Mapping>(file.descriptor(), first, bytes,
                                                             RowPlace::file, input.path);
        Dataset found;
        found.x =
            Rows::borrow(MatrixView<const float>(reinterpret_cast<const float*>(mapping->data()),
                                                 range.size(), columns),
                         mapping);
        return found;
    }
    if (!large && !partly) return {};
    ReadOptions held = options;
    if (!large) held.most_bytes = std::numeric_limits<std::size_t>::max();
    formats::Input own{input.bytes, input.name, held, input.path};
    return formats::in_lean_precision(own, [&](auto number, bool& rounded) {
        return std::optional(
            gather_array<decltype(number)>(own, file, array, begin, range, rounded));
    });
}

}  // namespace mercer
