// The shape of a table, found from its first lines: delimiter, header, label column.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <set>

#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/table.hpp"

namespace mercer::formats {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

bool is_number(const Field& field) {
    // A number in quotes is a name: what wrote it quoted it for that.
    return !field.quoted && parse_number(field.raw()).has_value();
}

bool all_text(const std::vector<Field>& fields, std::size_t from) {
    return std::none_of(fields.begin() + static_cast<std::ptrdiff_t>(from), fields.end(),
                        [](const Field& f) { return is_number(f) || f.raw().empty(); });
}

std::optional<std::size_t> count_in(const Field& field) {
    const std::optional<double> number = parse_number(field.raw());
    if (field.quoted || !number || *number < 1 || *number > 1e15) return std::nullopt;
    const auto count = static_cast<std::size_t>(*number);
    if (static_cast<double>(count) != *number) return std::nullopt;
    return count;
}

/// Whether a field is the number of one of so many classes, counted from 0.
bool is_class_number(const Field& field, std::size_t classes) {
    const std::optional<double> number = parse_number(field.raw());
    return !field.quoted && number && *number >= 0 && *number < static_cast<double>(classes) &&
           *number == std::floor(*number);
}

/// scikit-learn's "150,4,setosa,versicolor,virginica" above rows of 4 numbers and the number of a
/// class. A row of a table may look like it ("3,2,a" above "1,2,b"), and must not be lost: so there
/// are two names or more, and the row below ends as promised.
bool take_counted_header(const std::vector<Field>& first, const std::vector<Field>& second,
                         TableLayout& layout) {
    if (first.size() < 4 || second.size() < 2 || !all_text(first, 2)) return false;
    const std::optional<std::size_t> rows = count_in(first[0]);
    const std::optional<std::size_t> columns = count_in(first[1]);
    if (!rows || !columns || *columns + 1 != second.size()) return false;
    if (!is_class_number(second.back(), first.size() - 2)) return false;
    layout.promised_rows = *rows;
    for (std::size_t k = 2; k < first.size(); ++k) layout.classes.push_back(first[k].text());
    return true;
}

bool looks_like_header(const std::vector<Field>& first, const std::vector<Field>& second) {
    if (std::any_of(first.begin(), first.end(), is_number)) return false;
    if (std::all_of(first.begin(), first.end(), [](const Field& f) { return f.raw().empty(); })) {
        return false;
    }
    // Where all is text, a name that columns usually have tells.
    std::vector<std::string> names;
    for (const Field& field : first) names.push_back(field.text());
    const bool usual = usual_label(names) != TableLayout::none ||
                       std::ranges::any_of(names, [](const std::string& name) {
                           return lower(name) == "text" || lower(name) == "sequence";
                       });
    if (usual) return true;
    return second.empty() || std::any_of(second.begin(), second.end(), is_number);
}

/// The position a person means by `text`: a header's name first, then a number or first or last.
std::size_t named_column(const Input& input, const TableLayout& layout, const std::string& text,
                         const char* what) {
    const auto found = std::find(layout.names.begin(), layout.names.end(), text);
    if (found != layout.names.end()) {
        return static_cast<std::size_t>(found - layout.names.begin());
    }
    if (const auto position = column_position(input, text, layout.roles.size())) return *position;
    std::string message = std::string("there is no ") + what + " column " + quoted(text);
    if (layout.names.empty()) {
        fail(input, message + ": the file has no header line; give its number, first or last");
    }
    if (const auto near = nearest_word(text, layout.names)) {
        message += "; did you mean " + quoted(*near) + "?";
    } else {
        message += " among the " + std::to_string(layout.names.size()) + " of the header line";
    }
    fail(input, message);
}

/// True when a column holds a different text in each of the first rows: no class, but what is to be
/// classified.
bool never_repeats(const Input& input, const TableLayout& layout, std::size_t column) {
    constexpr std::size_t enough = 20;
    constexpr std::size_t most = 50;
    if (!layout.text_like[column] || layout.first_row == nullptr) return false;
    const FieldScanner scan(input, layout.delimiter);
    std::set<std::string> seen;
    std::size_t rows = 0;
    for (const char* p = layout.first_row; p != input.end() && rows < most; p = scan.next_line(p)) {
        const std::vector<Field> fields = scan.line(p);
        if (fields.size() <= column) return false;  // which the reader will say
        seen.insert(fields[column].text());
        if (seen.size() != ++rows) return false;
    }
    return rows >= enough;
}

std::size_t label_column(const Input& input, const TableLayout& layout) {
    const std::string& wanted = input.options.label;
    if (wanted == "none") return TableLayout::none;
    if (!wanted.empty()) return named_column(input, layout, wanted, "label");
    if (!input.options.labels_file.empty()) return TableLayout::none;
    const std::size_t usual = usual_label(layout.names);
    if (usual != TableLayout::none) return usual;
    if (layout.roles.size() == 1) return TableLayout::none;
    const std::size_t last = layout.roles.size() - 1;
    return never_repeats(input, layout, last) ? 0 : last;
}

/// The positions of columns given as "a,3,last".
std::vector<std::size_t> listed_columns(const Input& input, const TableLayout& layout,
                                        const std::string& text, const char* what) {
    std::vector<std::size_t> positions;
    for (std::size_t first = 0; first <= text.size();) {
        const std::size_t comma = std::min(text.find(',', first), text.size());
        positions.push_back(named_column(input, layout, text.substr(first, comma - first), what));
        first = comma + 1;
    }
    return positions;
}

/// Which columns hold texts: as said, or those whose field in the first row is no number.
void find_texts(const Input& input, const std::vector<Field>& row, TableLayout& layout) {
    layout.text_like.assign(layout.roles.size(), false);
    const std::string& said = input.options.text_columns;
    if (said == "none") return;
    if (!said.empty()) {
        for (const std::size_t j : listed_columns(input, layout, said, "text")) {
            layout.text_like[j] = true;
        }
        return;
    }
    for (std::size_t j = 0; j < std::min(row.size(), layout.roles.size()); ++j) {
        const Number<double> number = read_number<double>(row[j].first, input.end());
        const bool whole = number.end == row[j].last && number.kind != NumberKind::malformed;
        layout.text_like[j] = !whole && !is_missing(row[j].raw());
    }
}

/// The columns of texts among the features, and what they are called.
void place_texts(const Input& input, TableLayout& layout) {
    const KnownColumns* known = input.options.known.get();
    std::vector<std::size_t> positions;
    for (std::size_t j = 0; j < layout.roles.size(); ++j) {
        if (layout.roles[j] == ColumnRole::feature && layout.text_like[j]) {
            layout.roles[j] = ColumnRole::text;
        }
        if (layout.roles[j] == ColumnRole::text) positions.push_back(j);
    }
    const bool as_known = known != nullptr && known->has_columns();
    if (as_known && known->objects.size() != positions.size()) {
        fail(input, "has " + std::to_string(positions.size()) +
                        " columns of texts; trained on were " +
                        std::to_string(known->objects.size()) +
                        ": say which they are with `text_columns`, and what to `leave_out`");
    }
    for (std::size_t k = 0; k < positions.size(); ++k) {
        const std::string number = positions.size() == 1 ? "" : std::to_string(k + 1);
        layout.objects.push_back(!layout.names.empty() ? layout.names[positions[k]]
                                 : as_known            ? known->objects[k].name
                                                       : "text" + number);
    }
}

}  // namespace

Delimiters find_delimiters(const Input& input) {
    const char* p = FieldScanner(input, ',').next_line(input.begin());
    Delimiters found;
    bool inside = false;
    for (; p != input.end() && *p != '\n'; ++p) {
        if (*p == '"') inside = !inside;
        if (inside) continue;
        found.tab |= *p == '\t';
        found.semicolon |= *p == ';';
        found.comma |= *p == ',';
    }
    return found;
}

std::size_t usual_label(const std::vector<std::string>& names) {
    for (const char* usual : {"label", "class", "target", "y"}) {
        for (std::size_t j = 0; j < names.size(); ++j) {
            if (lower(names[j]) == usual) return j;
        }
    }
    return TableLayout::none;
}

std::string Field::text() const {
    if (!quoted) return std::string(raw());
    std::string result;
    for (std::string_view rest = raw(); !rest.empty();) {  // "" stands for a quote
        const std::size_t quote = rest.find("\"\"");
        result += rest.substr(0, quote == std::string_view::npos ? rest.size() : quote + 1);
        rest.remove_prefix(quote == std::string_view::npos ? rest.size() : quote + 2);
    }
    return result;
}

const char* FieldScanner::quoted_field(const char* p, Field& out) const {
    const char* opening = p++;
    out = {.first = p, .last = p, .quoted = true};
    for (;;) {
        const auto rest = static_cast<std::size_t>(input_.end() - p);
        const void* found = rest == 0 ? nullptr : std::memchr(p, '"', rest);
        if (found == nullptr) {
            throw OpenQuote{{opening, "found a quote that is never closed, expected another \""}};
        }
        p = static_cast<const char*>(found) + 1;  // never past the newline that ends the text
        if (*p != '"') break;
        ++p;
    }
    out.last = p - 1;
    const char* behind = skip_blanks(p);
    const bool ended =
        *behind == '\n' || *behind == delimiter_ || (delimiter_ == ' ' && behind != p);
    if (!ended) {
        throw Mistake{behind, "found " + word_at(input_, behind) +
                                  " behind a closing quote, expected the next field"};
    }
    return behind;
}

/// Between tabs a quote is often part of the text; it encloses a field when another ends it.
bool FieldScanner::closes_on_line(const char* p) const {
    for (++p; *p != '\n'; ++p) {
        if (*p != '"') continue;
        if (p[1] == '"') {
            ++p;
            continue;
        }
        const char* behind = skip_blanks(p + 1);
        return *behind == '\n' || *behind == delimiter_;
    }
    return false;
}

const char* FieldScanner::field(const char* p, Field& out) const {
    p = skip_blanks(p);
    if (*p == '"' && (delimiter_ != '\t' || closes_on_line(p))) return quoted_field(p, out);
    out = {.first = p, .last = p, .quoted = false};
    while (*p != '\n' && *p != delimiter_ && !(delimiter_ == ' ' && is_blank_here(*p))) ++p;
    out.last = p;
    while (out.last != out.first && is_blank_here(out.last[-1])) --out.last;
    return skip_blanks(p);
}

std::vector<Field> FieldScanner::line(const char*& p) const {
    std::vector<Field> fields;
    for (p = skip_blanks(p);;) {
        p = field(p, fields.emplace_back());
        if (*p == '\n') break;
        p = step(p);
    }
    ++p;
    return fields;
}

const char* FieldScanner::next_line(const char* p) const {
    while (p != input_.end()) {
        const char* start = p;
        p = skip_blanks(p);
        if (*p != '\n' && *p != '#') return start;
        p = static_cast<const char*>(
                std::memchr(p, '\n', static_cast<std::size_t>(input_.end() - p))) +
            1;
    }
    return p;
}

std::size_t TableLayout::features() const {
    return static_cast<std::size_t>(std::count(roles.begin(), roles.end(), ColumnRole::feature));
}

std::size_t TableLayout::texts() const {
    return static_cast<std::size_t>(std::count(roles.begin(), roles.end(), ColumnRole::text));
}

std::string TableLayout::column_text(std::size_t position) const {
    const std::string number = std::to_string(position + 1);
    return names.empty() ? number : number + " (" + names[position] + ")";
}

bool is_missing(std::string_view text) {
    if (text.size() > 4) return false;
    const std::string word = lower(text);
    return word.empty() || word == "?" || word == "na" || word == "n/a" || word == "nan" ||
           word == "null";
}

void place_columns(const Input& input, TableLayout& layout) {
    ColumnRoles said;
    if (!input.options.weight_column.empty()) {
        said.weight = named_column(input, layout, input.options.weight_column, "weight");
    }
    // Columns to be filled with zeros are asked for by ReadOptions::columns.
    const bool known =
        input.options.known && input.options.known->has_columns() &&
        (input.options.columns == 0 || input.options.columns < input.options.known->features);
    const std::string& label = input.options.label;
    if (!known || (!label.empty() && label != "none")) said.label = label_column(input, layout);
    if (said.weight != TableLayout::none && said.weight == said.label) {
        fail(input, "column " + layout.column_text(said.weight) +
                        " cannot be both label and weight; name another label column");
    }
    if (known) {
        place_known(input, said, layout);
    } else {
        layout.label = said.label;
        layout.weight = said.weight;
    }
    if (layout.label != TableLayout::none) layout.roles[layout.label] = ColumnRole::label;
    if (layout.weight != TableLayout::none) layout.roles[layout.weight] = ColumnRole::weight;
    if (input.options.leave_out.empty()) return;
    for (const std::size_t j : listed_columns(input, layout, input.options.leave_out, "left out")) {
        if (j == layout.label) layout.label = TableLayout::none;
        if (j == layout.weight) layout.weight = TableLayout::none;
        layout.roles[j] = ColumnRole::ignored;
    }
}

TableLayout find_layout(const Input& input, char delimiter) {
    TableLayout layout;
    layout.delimiter = delimiter;
    const FieldScanner scan(input, layout.delimiter);
    const char* p = scan.next_line(input.begin());
    if (p == input.end()) fail(input, "holds no rows, only blank lines or comments");
    layout.first_row = p;
    const std::vector<Field> first = scan.line(p);
    if (static_cast<std::size_t>(p - layout.first_row) > input.options.longest_line + 1) {
        throw Mistake{layout.first_row, ""};
    }
    const char* second_line = scan.next_line(p);
    p = second_line;
    const std::vector<Field> second = p == input.end() ? std::vector<Field>() : scan.line(p);

    const HeaderLine header = input.options.header;
    std::size_t columns = first.size();
    if (header == HeaderLine::automatic && take_counted_header(first, second, layout)) {
        layout.first_row = second_line;
        columns = second.size();
    } else if (header == HeaderLine::yes ||
               (header == HeaderLine::automatic && looks_like_header(first, second))) {
        layout.first_row = second_line;
        for (const Field& field : first) layout.names.push_back(field.text());
    }
    if (layout.first_row == input.end()) fail(input, "holds a header line but no rows");

    layout.roles.assign(columns, ColumnRole::feature);
    find_texts(input, layout.first_row == second_line ? second : first, layout);
    place_columns(input, layout);
    place_texts(input, layout);
    if (layout.features() + layout.texts() == 0) {
        fail(input, "has no column left beside label and weight, expected at least one feature");
    }
    return layout;
}

}  // namespace mercer::formats
