// CSV, TSV and tables separated by blanks. Quotes as in RFC 4180; lines that begin with # are
// comments; every row has as many fields as the first.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/table.hpp"

namespace mercer::formats {
namespace {

constexpr std::size_t table_piece_bytes = std::size_t{1} << 19;
constexpr std::size_t wave = 32;

/// The rows of one piece of the file, or of the whole of it.
template <class T>
struct Part {
    std::vector<T> values;
    LabelColumn labels;
    std::vector<double> weights;
    std::vector<Texts> texts;  ///< one a column of texts
    std::size_t rows = 0;
    bool missing = false;
    bool rounded = false;  ///< some value is not as it was written

    void append(Part&& other) {
        values.insert(values.end(), other.values.begin(), other.values.end());
        labels.append(std::move(other.labels));
        weights.insert(weights.end(), other.weights.begin(), other.weights.end());
        texts.resize(std::max(texts.size(), other.texts.size()));
        for (std::size_t k = 0; k < other.texts.size(); ++k) {
            for (std::size_t i = 0; i < other.texts[k].size(); ++i) {
                texts[k].push_back(other.texts[k].text(i));
            }
        }
        rows += other.rows;
        missing |= other.missing;
        rounded |= other.rounded;
    }
};

template <class T>
class RowParser {
   public:
    RowParser(const Input& input, const TableLayout& layout, std::string_view text, Part<T>& part)
        : input_(input),
          layout_(layout),
          scan_(input, layout.delimiter),
          part_(part),
          p_(text.data()),
          last_(text.data() + text.size()),
          features_(layout.features()) {
        part.texts.resize(layout.texts());
    }

    void parse() {
        while (p_ != last_) {
            p_ = scan_.skip_blanks(p_);
            if (*p_ == '\n' || *p_ == '#') {
                p_ = static_cast<const char*>(std::memchr(p_, '\n', left())) + 1;
                continue;
            }
            const char* line = p_;
            parse_row(line);
            if (static_cast<std::size_t>(p_ - line) > input_.options.longest_line) {
                throw Mistake{line, ""};
            }
            ++p_;
            ++part_.rows;
        }
    }

   private:
    std::size_t left() const { return static_cast<std::size_t>(last_ - p_); }

    /// Leaves p_ at the newline behind the row.
    void parse_row(const char* line) {
        const std::size_t place = part_.values.size();
        part_.values.resize(place + features_);
        T* out = part_.values.data() + place;
        const std::size_t columns = layout_.roles.size();
        std::size_t texts = 0;
        for (std::size_t j = 0; j < columns; ++j) {
            switch (layout_.roles[j]) {
                case ColumnRole::feature: *out++ = feature(j); break;
                case ColumnRole::text: text(part_.texts[texts++]); break;
                case ColumnRole::label: label(); break;
                case ColumnRole::weight: weight(); break;
                case ColumnRole::ignored: ignore(); break;
            }
            if (*p_ == '\n') {
                if (j + 1 != columns) refuse_width(line);
                return;
            }
            p_ = scan_.step(p_);
        }
        refuse_width(line);
    }

    [[noreturn]] void refuse_width(const char* line) const {
        const char* p = line;
        throw Mistake{line, "found " + std::to_string(scan_.line(p).size()) + " fields, expected " +
                                std::to_string(layout_.roles.size()) + " as in the rows before"};
    }

    /// True when a field may end here; then p is moved to its delimiter.
    bool ends_field(const char*& p) const {
        const char* behind = scan_.skip_blanks(p);
        if (*behind != '\n' && *behind != layout_.delimiter &&
            !(layout_.delimiter == ' ' && behind != p)) {
            return false;
        }
        p = behind;
        return true;
    }

    T feature(std::size_t j) {
        const char* first = scan_.skip_blanks(p_);
        const Number<T> number = read_number<T>(first, last_);
        const char* end = number.end;
        if (is_usable(number) && ends_field(end)) {
            p_ = end;
            return number.value;
        }
        return unusual_feature(j);
    }

    bool is_usable(const Number<T>& number) {
        if (number.kind == NumberKind::good) return true;
        if (number.kind != NumberKind::rounded) return false;
        part_.rounded = true;
        return true;
    }

    /// A number in quotes, a missing value, or a mistake.
    T unusual_feature(std::size_t j) {
        Field field;
        p_ = scan_.field(p_, field);
        if (is_missing(field.raw())) {
            if (input_.options.missing == MissingValues::refuse) {
                const std::string found =
                    field.raw().empty() ? "an empty field" : quoted(field.raw());
                throw Mistake{field.first, "found " + found + " in column " +
                                               layout_.column_text(j) +
                                               ", expected a number; to fill in missing values " +
                                               "set `missing=mean`, median or zero"};
            }
            part_.missing = true;
            return std::numeric_limits<T>::quiet_NaN();
        }
        const Number<T> number = read_number<T>(field.first, last_);
        if (number.end == field.last && is_usable(number)) return number.value;
        const bool whole = number.end == field.last && number.kind != NumberKind::malformed;
        if (whole) throw number_mistake(input_, number, field.first);
        throw Mistake{field.first,
                      "found " + quoted(field.raw()) + " in column " + layout_.column_text(j) +
                          ", expected a number" +
                          "; columns that hold text do so from the first row on, or by "
                          "`text_columns`"};
    }

    void label() {
        Field field;
        p_ = scan_.field(p_, field);
        const Number<double> number = read_number<double>(field.first, last_);
        const bool whole = number.end == field.last && number.kind != NumberKind::malformed;
        const bool not_a_number = whole && number.kind == NumberKind::not_finite;
        if (field.raw().empty() || field.raw() == "?" || not_a_number) {
            throw Mistake{field.first, "found " +
                                           (field.raw().empty() ? std::string("an empty field")
                                                                : quoted(field.raw())) +
                                           " in the label column, expected a label"};
        }
        if (whole && number.kind == NumberKind::too_large) {
            throw number_mistake(input_, number, field.first);
        }
        if (whole && !input_.options.text_labels) {
            check_whole_label(field.first, field.last, number.value);
            part_.labels.add(number.value, field.first);
        } else {
            part_.labels.add(field.text(), field.first);
        }
    }

    void text(Texts& out) {
        Field field;
        p_ = scan_.field(p_, field);
        if (field.quoted) {
            out.push_back(field.text());
        } else {
            out.push_back(field.raw());
        }
    }

    void ignore() {
        Field field;
        p_ = scan_.field(p_, field);
    }

    void weight() {
        Field field;
        p_ = scan_.field(p_, field);
        const Number<double> number = read_number<double>(field.first, last_);
        if (number.kind != NumberKind::good || number.end != field.last || number.value < 0) {
            throw Mistake{field.first, "found " + quoted(field.raw()) +
                                           " in the weight column, expected a number from 0"};
        }
        part_.weights.push_back(number.value);
    }

    const Input& input_;
    const TableLayout& layout_;
    FieldScanner scan_;
    Part<T>& part_;
    const char* p_;
    const char* last_;
    std::size_t features_;
};

/// scikit-learn's header names the classes 0, 1, …; other labels stay the numbers they are.
void name_classes(const TableLayout& layout, Labels& labels) {
    if (layout.classes.empty() || labels.are_text()) return;
    const auto count = static_cast<double>(layout.classes.size());
    const bool fit = std::all_of(labels.values.begin(), labels.values.end(), [&](double value) {
        return value >= 0 && value < count && value == std::floor(value);
    });
    if (fit) labels.names = layout.classes;
}

template <class T>
Part<T> parse_table(const Input& input, const TableLayout& layout) {
    const std::string_view text(layout.first_row,
                                static_cast<std::size_t>(input.end() - layout.first_row));
    // Inside quotes a newline is text, so a file with quotes cannot be cut at newlines.
    const bool quotes =
        layout.delimiter != '\t' && std::memchr(text.data(), '"', text.size()) != nullptr;
    const auto texts = cut_behind_lines(text, quotes ? text.size() : table_piece_bytes);
    std::vector<Part<T>> parts(texts.size());
    Part<T> whole;
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
                parts[k] = Part<T>();
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
    Part<T> table = parse_table<T>(input, layout);
    rounded = table.rounded;
    if (rounded && input.options.exact && std::is_same_v<T, float>) return {};
    const std::size_t columns = layout.features();
    std::vector<std::size_t> positions;
    for (std::size_t j = 0; j < layout.roles.size(); ++j) {
        if (layout.roles[j] == ColumnRole::feature) positions.push_back(j);
    }
    if (layout.promised_rows != TableLayout::none && layout.promised_rows != table.rows) {
        fail(input, "found " + std::to_string(table.rows) + " rows, expected the " +
                        std::to_string(layout.promised_rows) + " that its first line names");
    }
    if (table.missing) {
        fill_missing(input, table.values, columns,
                     [&](std::size_t j) { return layout.column_text(positions[j]); });
    }
    Dataset data;
    data.roles.label = layout.label;
    data.roles.weight = layout.weight;
    if (!layout.names.empty()) {
        for (const std::size_t j : positions) data.feature_names.push_back(layout.names[j]);
        if (layout.label != TableLayout::none) data.roles.label_name = layout.names[layout.label];
        if (layout.weight != TableLayout::none) {
            data.roles.weight_name = layout.names[layout.weight];
        }
        for (std::size_t j = 0; j < layout.roles.size(); ++j) {
            if (layout.roles[j] == ColumnRole::ignored) data.left_out.push_back(layout.names[j]);
        }
    }
    data.y = labels_from(input, std::move(table.labels));
    name_classes(layout, data.y);
    data.weights = std::move(table.weights);
    Rows rows = Rows::dense(std::move(table.values), columns);
    if (!layout.order.empty()) {
        rows = rows.select_columns(layout.order);
        std::vector<std::string> names;
        for (const std::size_t k : layout.order) names.push_back(data.feature_names[k]);
        data.feature_names = std::move(names);
    }
    data.x = fitted(input, std::move(rows));
    std::vector<ObjectColumn> objects;
    for (std::size_t k = 0; k < table.texts.size(); ++k) {
        objects.push_back(ObjectColumn::texts(layout.objects[k], std::move(table.texts[k])));
    }
    if (!objects.empty()) data.x = data.x.with_objects(std::move(objects));
    // Columns added by the options have no name of their own.
    for (std::size_t j = data.feature_names.size();
         !data.feature_names.empty() && j < data.columns(); ++j) {
        data.feature_names.push_back("x" + std::to_string(j));
    }
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
    format.read = [](const Input& input) {
        return read_table(input, find_delimiters(input).semicolon ? ';' : ',');
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
    format.write = [](const Dataset& data, const std::string&, const WriteOptions& options,
                      Output& output) { write_table(data, options, ' ', output); };
    return format;
}

}  // namespace mercer::formats
