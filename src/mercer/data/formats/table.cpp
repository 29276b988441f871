// CSV, TSV and tables separated by blanks. Quotes as in RFC 4180; lines that begin with # are
// comments; every row has as many fields as the first.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/table_rows.hpp"

namespace mercer::formats {

void name_classes(const TableLayout& layout, Labels& labels) {
    // scikit-learn's header names the classes 0, 1, …; other labels stay the numbers they are.
    if (layout.classes.empty() || labels.are_text()) return;
    const auto count = static_cast<double>(layout.classes.size());
    const bool fit = std::all_of(labels.values.begin(), labels.values.end(), [&](double value) {
        return value >= 0 && value < count && value == std::floor(value);
    });
    if (fit) labels.names = layout.classes;
}

std::vector<std::size_t> feature_positions(const TableLayout& layout) {
    std::vector<std::size_t> positions;
    for (std::size_t j = 0; j < layout.roles.size(); ++j) {
        if (layout.roles[j] == ColumnRole::feature) positions.push_back(j);
    }
    return positions;
}

Dataset table_outline(const Input& input, const TableLayout& layout, std::size_t rows) {
    if (layout.promised_rows != TableLayout::none && layout.promised_rows != rows) {
        fail(input, "found " + std::to_string(rows) + " rows, expected the " +
                        std::to_string(layout.promised_rows) + " that its first line names");
    }
    Dataset data;
    data.roles.label = layout.label;
    data.roles.weight = layout.weight;
    if (layout.names.empty()) return data;
    for (const std::size_t j : feature_positions(layout)) {
        data.feature_names.push_back(layout.names[j]);
    }
    if (layout.label != TableLayout::none) data.roles.label_name = layout.names[layout.label];
    if (layout.weight != TableLayout::none) data.roles.weight_name = layout.names[layout.weight];
    for (std::size_t j = 0; j < layout.roles.size(); ++j) {
        if (layout.roles[j] == ColumnRole::ignored) data.left_out.push_back(layout.names[j]);
    }
    if (layout.order.empty()) return data;
    std::vector<std::string> names;
    for (const std::size_t k : layout.order) names.push_back(data.feature_names[k]);
    data.feature_names = std::move(names);
    return data;
}

void name_added_columns(Dataset& data) {
    for (std::size_t j = data.feature_names.size();
         !data.feature_names.empty() && j < data.columns(); ++j) {
        data.feature_names.push_back("x" + std::to_string(j));
    }
}

namespace {

constexpr std::size_t wave = 32;

template <class T>
TablePart<T> parse_table(const Input& input, const TableLayout& layout) {
    const std::string_view text(layout.first_row,
                                static_cast<std::size_t>(input.end() - layout.first_row));
    // Inside quotes a newline is text, so a file with quotes cannot be cut at newlines.
    const bool quotes =
        layout.delimiter != '\t' && std::memchr(text.data(), '"', text.size()) != nullptr;
    const auto texts = cut_behind_lines(text, quotes ? text.size() : table_piece_bytes);
    std::vector<TablePart<T>> parts(texts.size());
    TablePart<T> whole;
    parse_pieces(
        input, texts.size(), wave,
        [&](std::size_t k) {
            // What will be read again need not be read to the end.
            if (input.options.exact && whole.rounded) return;
            RowParser<T>(input, layout, texts[k], parts[k]).parse();
        },
        [&](std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last; ++k) {
                whole.append(std::move(parts[k]));
                parts[k] = TablePart<T>();
                // Once the first piece has told how long rows are, make room for all of them.
                if (k == 0) {
                    whole.values.reserve(
                        std::min(whole.values.size() * (texts.size() + 1), text.size() / 2 + 1));
                }
            }
        });
    return whole;
}

template <class T>
Dataset read_as(const Input& input, const TableLayout& layout, bool& rounded) {
    TablePart<T> table = parse_table<T>(input, layout);
    rounded = table.rounded;
    if (rounded && input.options.exact && std::is_same_v<T, float>) return {};
    const std::size_t columns = layout.features();
    Dataset data = table_outline(input, layout, table.rows);
    if (table.missing) {
        const std::vector<std::size_t> positions = feature_positions(layout);
        fill_missing(input, table.values, columns,
                     [&](std::size_t j) { return layout.column_text(positions[j]); });
    }
    data.y = labels_from(input, std::move(table.labels));
    name_classes(layout, data.y);
    data.weights = std::move(table.weights);
    Rows rows = Rows::dense(std::move(table.values), columns);
    if (!layout.order.empty()) rows = rows.select_columns(layout.order);
    data.x = fitted(input, std::move(rows));
    std::vector<ObjectColumn> objects;
    for (std::size_t k = 0; k < table.texts.size(); ++k) {
        objects.push_back(ObjectColumn::texts(layout.objects[k], std::move(table.texts[k])));
    }
    if (!objects.empty()) data.x = data.x.with_objects(std::move(objects));
    name_added_columns(data);
    return data;
}

Dataset read_table(const Input& input, char delimiter) {
    TableLayout layout;
    try {
        layout = find_layout(input, delimiter);
    } catch (const Mistake& mistake) {
        fail_mistake(input, mistake);
    }
    return *in_fitting_precision(input, [&](auto number, bool& rounded) {
        return std::optional(read_as<decltype(number)>(input, layout, rounded));
    });
}

char csv_delimiter(const Input& input) {
    return find_delimiters(input).semicolon ? ';' : ',';
}

Match possible(bool so) {
    return {.certainty = so ? Certainty::possible : Certainty::none};
}

/// What tables have in common.
Format table(const char* name, const char* title, const char* about) {
    return {.name = name,
            .title = title,
            .about = about,
            .uses = {.label = true,
                     .text_labels = true,
                     .header = true,
                     .missing = true,
                     .weight_column = true,
                     .text_columns = true,
                     .leave_out = true},
            .keeps = {.texts = true}};
}

}  // namespace

Format csv() {
    Format format =
        table("csv", "CSV", "separated by commas, or by semicolons when the first line has one");
    format.suffixes = {".csv"};
    format.recognise = [](const Input& input) {
        const Delimiters found = find_delimiters(input);
        return possible(!found.tab && (found.semicolon || found.comma));
    };
    format.read = [](const Input& input) { return read_table(input, csv_delimiter(input)); };
    format.read_windows = [](TextWindows& windows) {
        return read_table_text(windows, csv_delimiter);
    };
    format.write = [](const Dataset& data, const std::string&, const WriteOptions& options,
                      Output& output) { write_table(data, options, ',', output); };
    return format;
}

Format tsv() {
    Format format = table("tsv", "TSV", "separated by tabs");
    format.suffixes = {".tsv"};
    format.recognise = [](const Input& input) { return possible(find_delimiters(input).tab); };
    format.read = [](const Input& input) { return read_table(input, '\t'); };
    format.read_windows = [](TextWindows& windows) {
        return read_table_text(windows, [](const Input&) { return '\t'; });
    };
    format.write = [](const Dataset& data, const std::string&, const WriteOptions& options,
                      Output& output) { write_table(data, options, '\t', output); };
    return format;
}

Format spaces() {
    Format format = table("spaces", "text in columns", "separated by runs of blanks");
    format.recognise = [](const Input& input) {
        const Delimiters found = find_delimiters(input);
        return possible(!found.tab && !found.semicolon && !found.comma);
    };
    format.read = [](const Input& input) { return read_table(input, ' '); };
    format.read_windows = [](TextWindows& windows) {
        return read_table_text(windows, [](const Input&) { return ' '; });
    };
    format.write = [](const Dataset& data, const std::string&, const WriteOptions& options,
                      Output& output) { write_table(data, options, ' ', output); };
    return format;
}

}  // namespace mercer::formats
