// Tables of numbers in text of any length.
#include <algorithm>
#include <cstring>
#include <utility>

#include "mercer/data/formats/detail/table_gatherer.hpp"

namespace mercer::formats {
namespace {

/// As many lines as are looked at to find out what columns are, and some.
constexpr std::size_t layout_lines = 1000;
constexpr std::size_t pieces_at_once = 32;

/// The rows of a window, from `text` on; what was used of it. Inside quotes a newline is text, so
/// that a window with quotes is read by one thread, up to the last row that is whole.
template <class T>
const char* parse_window(const Input& window, const TableLayout& layout, std::string_view text,
                         bool last, TableGatherer<T>& rows) {
    const bool quotes =
        layout.delimiter != '\t' && std::memchr(text.data(), '"', text.size()) != nullptr;
    const auto texts = cut_behind_lines(text, quotes ? text.size() : table_piece_bytes);
    std::vector<TablePart<T>> parts(texts.size());
    const char* end = text.data() + text.size();
    parse_pieces(
        window, texts.size(), pieces_at_once,
        [&](std::size_t k) {
            RowParser<T> parser(window, layout, texts[k], parts[k]);
            if (quotes && !last) {
                end = parser.parse_whole_rows();
            } else {
                parser.parse();
            }
        },
        [&](std::size_t first, std::size_t behind) {
            for (std::size_t k = first; k < behind; ++k) {
                rows.append(window, std::move(parts[k]));
                parts[k] = TablePart<T>();
            }
        });
    return end;
}

template <class T>
Dataset gather(TextWindows& windows, const Input& whole, const TableLayout& layout,
               std::size_t header_bytes, bool& rounded) {
    windows.rewind();
    TableGatherer<T> rows(whole, layout);
    const bool twice = whole.options.exact && sizeof(T) == sizeof(float);
    std::size_t skip = header_bytes;
    while (windows.fetch(skip > 0 ? layout_lines : 1) && !(twice && rows.is_rounded())) {
        const Input window = windows.input();
        const std::size_t skipped = std::min(skip, window.bytes.size());
        const std::string_view text = window.bytes.substr(skipped);
        skip -= skipped;
        const char* const end =
            text.empty() ? window.end()
                         : parse_window<T>(window, layout, text, windows.is_last(), rows);
        windows.drop(static_cast<std::size_t>(end - window.begin()));
    }
    rounded = rows.is_rounded();
    if (twice && rounded) return {};
    return rows.finish();
}

/// What the first window says; nothing where more than that would be needed.
std::optional<TableLayout> first_layout(TextWindows& windows, char (*delimiter_of)(const Input&),
                                        std::size_t& header_bytes) {
    const Input window = windows.input();
    TableLayout layout;
    try {
        layout = find_layout(window, delimiter_of(window));
    } catch (const OpenQuote& mistake) {
        if (!windows.is_last()) return std::nullopt;
        fail_mistake(window, mistake);
    } catch (const Mistake& mistake) {
        fail_mistake(window, mistake);
    }
    header_bytes = static_cast<std::size_t>(layout.first_row - window.begin());
    return layout;
}

}  // namespace

std::optional<Dataset> read_table_text(TextWindows& windows,
                                       char (*delimiter_of)(const Input& input)) {
    windows.rewind();
    if (!windows.fetch(layout_lines)) return std::nullopt;
    std::size_t header_bytes = 0;
    const auto layout = first_layout(windows, delimiter_of, header_bytes);
    const Input whole = windows.input();  // its name and options
    const ReadOptions& options = whole.options;
    if (!layout || layout->texts() > 0 || layout->features() == 0 ||
        options.form == RowForm::sparse || options.columns > layout->features()) {
        return std::nullopt;
    }
    return in_lean_precision(whole, [&](auto number, bool& rounded) {
        return std::optional(
            gather<decltype(number)>(windows, whole, *layout, header_bytes, rounded));
    });
}

}  // namespace mercer::formats
