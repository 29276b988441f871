// Tables written.
#include <algorithm>
#include <vector>

#include "mercer/base/text.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/formats/detail/table.hpp"
#include "mercer/data/formats/detail/write_rows.hpp"

namespace mercer::formats {
namespace {

/// A name as a field, in quotes where it would be taken for something else without.
void append_name(std::string& text, const std::string& name, char delimiter, bool quote_numbers) {
    const bool plain = !name.empty() && name.front() != ' ' && name.back() != ' ' &&
                       name.front() != '#' && name.find('"') == std::string::npos &&
                       name.find_first_of("\r\n\t,;") == std::string::npos &&
                       name.find(delimiter) == std::string::npos &&
                       !(quote_numbers && parse_number(name));
    if (plain) {
        text += name;
        return;
    }
    text += '"';
    for (const char c : name) text.append(c == '"' ? 2 : 1, c);
    text += '"';
}

std::string header_line(const Dataset& data, char delimiter) {
    std::string text;
    const auto add = [&](const std::string& name) {
        if (!text.empty()) text += delimiter;
        append_name(text, name, delimiter, true);
    };
    for (std::size_t j = 0; j < data.columns(); ++j) {
        add(data.feature_names.empty() ? "x" + std::to_string(j) : data.feature_names[j]);
    }
    for (const ObjectColumn& column : data.x.objects()) add(column.name());
    if (!data.weights.empty()) add("weight");
    if (!data.y.empty()) add(data.roles.label_name.empty() ? "label" : data.roles.label_name);
    return text + "\n";
}

template <class T>
void append_table_row(std::string& text, const Rows& rows, std::size_t i, char delimiter,
                      std::vector<T>& full) {
    if (rows.is_sparse()) {
        const SparseView<T> view = rows.sparse_view<T>();
        const auto index = view.row_index(i);
        const auto value = view.row_value(i);
        full.assign(view.columns, T{});
        for (std::size_t k = 0; k < index.size(); ++k) full[index[k]] = value[k];
    } else {
        const auto row = rows.dense_view<T>().row(i);
        full.assign(row.begin(), row.end());
    }
    for (std::size_t j = 0; j < full.size(); ++j) {
        if (j != 0) text += delimiter;
        append_number(text, full[j]);
    }
}

template <class T>
void write_table_as(const Dataset& data, const WriteOptions& options, char delimiter,
                    Output& output) {
    write_rows(data.size(), options.progress, output,
               [&](std::string& text, std::size_t first, std::size_t last) {
                   std::vector<T> full;
                   for (std::size_t i = first; i < last; ++i) {
                       append_table_row(text, data.x, i, delimiter, full);
                       for (std::size_t k = 0; k < data.x.objects().size(); ++k) {
                           if (k > 0 || data.columns() > 0) text += delimiter;
                           const std::string field(data.x.objects()[k].text(i));
                           append_name(text, field, delimiter, true);
                       }
                       if (!data.weights.empty()) {
                           text += delimiter;
                           append_number(text, data.weights[i]);
                       }
                       if (!data.y.empty()) {
                           text += delimiter;
                           append_name(text, data.y.text(i), delimiter, false);
                       }
                       text += '\n';
                   }
               });
}

}  // namespace

void write_table(const Dataset& data, const WriteOptions& options, char delimiter, Output& output) {
    check_columns(data.x, 16, "a row of");
    const bool named =
        !data.feature_names.empty() || !data.roles.label_name.empty() || !data.x.objects().empty();
    const bool header =
        options.header == HeaderLine::yes ||
        (options.header == HeaderLine::automatic && (named || !data.weights.empty()));
    if (header) output.write(header_line(data, delimiter));
    data.x.is_double() ? write_table_as<double>(data, options, delimiter, output)
                       : write_table_as<float>(data, options, delimiter, output);
}

}  // namespace mercer::formats
