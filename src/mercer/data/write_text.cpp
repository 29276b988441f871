// LIBSVM text and tables.
#include <algorithm>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/write-inl.hpp"

namespace mercer::formats {
namespace {

/// One more than the highest column that holds anything.
template <class T>
std::size_t used_columns(const Rows& rows) {
    std::size_t used = 0;
    if (rows.is_sparse()) {
        const SparseView<T> view = rows.sparse_view<T>();
        for (std::size_t k = 0; k < view.nonzeros(); ++k) {
            if (view.value[k] != T{}) used = std::max<std::size_t>(used, view.index[k] + 1UL);
        }
        return used;
    }
    const MatrixView<const T> view = rows.dense_view<T>();
    for (std::size_t i = 0; i < view.rows; ++i) {
        std::size_t j = view.columns;
        while (j > used && view(i, j - 1) == T{}) --j;
        used = j;
        if (used == view.columns) break;
    }
    return used;
}

void append_entry(std::string& text, std::size_t index, auto value) {
    if (!text.empty() && text.back() != '\n') text += ' ';
    append_number(text, index);
    text += ':';
    append_number(text, value);
}

/// Row i as entries; true when there were any.
template <class T>
bool append_entries(std::string& text, const Rows& rows, std::size_t i, std::size_t first_index) {
    bool any = false;
    const auto put = [&](std::size_t column, T value) {
        if (value == T{}) return;
        append_entry(text, column + first_index, value);
        any = true;
    };
    if (rows.is_sparse()) {
        const SparseView<T> view = rows.sparse_view<T>();
        const auto index = view.row_index(i);
        const auto value = view.row_value(i);
        for (std::size_t k = 0; k < index.size(); ++k) put(index[k], value[k]);
    } else {
        const auto row = rows.dense_view<T>().row(i);
        for (std::size_t j = 0; j < row.size(); ++j) put(j, row[j]);
    }
    return any;
}

template <class T>
void write_libsvm_as(const Dataset& data, const WriteOptions& options, Output& output) {
    const bool widen = used_columns<T>(data.x) < data.columns();
    write_rows(data.size(), options.progress, output,
               [&](std::string& text, std::size_t first, std::size_t last) {
                   for (std::size_t i = first; i < last; ++i) {
                       if (!data.y.empty()) append_number(text, data.y.values[i]);
                       bool any = append_entries<T>(text, data.x, i, options.first_index);
                       if (i == 0 && widen) {
                           append_entry(text, data.columns() - 1 + options.first_index, 0);
                           any = true;
                       }
                       if (!any && data.y.empty()) append_entry(text, options.first_index, 0);
                       text += '\n';
                   }
               });
}

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

void write_rows(std::size_t rows, const Progress& progress, Output& output,
                const std::function<void(std::string&, std::size_t, std::size_t)>& append) {
    constexpr std::size_t grain = 256;
    constexpr std::size_t wave = 32;
    const std::size_t pieces = (rows + grain - 1) / grain;
    std::vector<std::string> texts(std::min(wave, pieces));
    for (std::size_t first = 0; first < pieces; first += wave) {
        const double fraction = static_cast<double>(first) / static_cast<double>(pieces);
        if (!keep_going(progress, {.task = "writing", .fraction = fraction})) throw Cancelled();
        const std::size_t count = std::min(wave, pieces - first);
        parallel_for(count, [&](std::size_t k) {
            texts[k].clear();
            append(texts[k], (first + k) * grain, std::min(rows, (first + k + 1) * grain));
        });
        for (std::size_t k = 0; k < count; ++k) output.write(texts[k]);
    }
}

void write_libsvm(const Dataset& data, const WriteOptions& options, Output& output) {
    if (options.first_index > 1) {
        throw InvalidInput("first_index is " + std::to_string(options.first_index) +
                           ", expected 0 or 1");
    }
    data.x.is_double() ? write_libsvm_as<double>(data, options, output)
                       : write_libsvm_as<float>(data, options, output);
}

void write_table(const Dataset& data, const WriteOptions& options, char delimiter, Output& output) {
    const bool named = !data.feature_names.empty() || !data.roles.label_name.empty();
    const bool header =
        options.header == HeaderLine::yes ||
        (options.header == HeaderLine::automatic && (named || !data.weights.empty()));
    if (header) output.write(header_line(data, delimiter));
    data.x.is_double() ? write_table_as<double>(data, options, delimiter, output)
                       : write_table_as<float>(data, options, delimiter, output);
}

void write_label_lines(const Labels& labels, Output& output) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::string text = labels.text(i);
        if (text.empty() || text.find('\n') != std::string::npos) {
            throw InvalidInput("label " + quoted(text) +
                               " cannot stand on a line of its own; write an .npy file");
        }
        output.write(text + "\n");
    }
}

}  // namespace mercer::formats
