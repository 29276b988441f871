// Tables from text: which sign separates fields, whether there is a header, how numbers are
// written.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/formats/detail/input.hpp"
#include "mercer/data/formats/detail/table.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/source.hpp"
#include "mercer/data/table/detail/arff.hpp"
#include "mercer/data/table/detail/cells.hpp"

namespace mercer {
namespace {

using formats::Field;
using formats::FieldScanner;
using formats::Input;

constexpr std::size_t most_table_columns = 100'000;
constexpr std::size_t looked_at = 50;  ///< lines that tell the separator

bool is_utf8_text(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        const std::size_t more = c < 0x80       ? 0
                                 : c >> 5 == 6  ? 1
                                 : c >> 4 == 14 ? 2
                                 : c >> 3 == 30 ? 3
                                                : 9;
        if (more == 9 || i + more >= text.size() + (more == 0 ? 1 : 0)) return false;
        for (std::size_t k = 1; k <= more; ++k) {
            if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
        }
        i += more + 1;
    }
    return true;
}

void append_utf8(std::string& out, std::uint32_t point) {
    const auto tail = [&](unsigned shift) {
        out += static_cast<char>(0x80 | ((point >> shift) & 0x3F));
    };
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += static_cast<char>(0xC0 | (point >> 6));
        tail(0);
    } else if (point < 0x10000) {
        out += static_cast<char>(0xE0 | (point >> 12));
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0 | (point >> 18));
        tail(12);
        tail(6);
        tail(0);
    }
}

/// What spreadsheets call Unicode text.
std::string from_utf16(std::string_view bytes) {
    const bool little = bytes.starts_with("\xFF\xFE");
    const auto unit = [&](std::size_t i) {
        const auto a = static_cast<unsigned char>(bytes[i]);
        const auto b = static_cast<unsigned char>(bytes[i + 1]);
        return static_cast<std::uint32_t>(little ? a | (b << 8) : b | (a << 8));
    };
    std::string out;
    out.reserve(bytes.size() / 2);
    for (std::size_t i = 2; i + 1 < bytes.size(); i += 2) {
        std::uint32_t point = unit(i);
        if (point >= 0xD800 && point < 0xDC00 && i + 3 < bytes.size()) {
            point = 0x10000 + ((point - 0xD800) << 10) + (unit(i + 2) & 0x3FF);
            i += 2;
        } else if (point >= 0xD800 && point < 0xE000) {
            point = 0xFFFD;  // half of a pair
        }
        append_utf8(out, point);
    }
    return out;
}

/// UTF-8 without a byte order mark, lines ended by newlines whoever wrote them, and a newline at
/// the end. Bytes that are no UTF-8 are taken for Latin-1.
std::string as_lines(std::string_view bytes, std::string& remark) {
    std::string text;
    if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
        text = from_utf16(bytes);
        remark += ", UTF-16";
    } else {
        if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
        if (is_utf8_text(bytes)) {
            text = bytes;
        } else {
            text.reserve(bytes.size() + bytes.size() / 8);
            for (const char c : bytes) append_utf8(text, static_cast<unsigned char>(c));
            remark += ", Latin-1";
        }
    }
    if (text.find('\n') == std::string::npos && text.find('\r') != std::string::npos) {
        std::ranges::replace(text, '\r', '\n');
        remark += ", lines as old Macs end them";
    }
    if (!text.ends_with('\n')) text += '\n';
    return text;
}

/// How many of the first lines have the usual number of fields, and that number.
struct Regularity {
    std::size_t fields = 0;
    double share = 0;
};

Regularity regularity(const Input& input, char delimiter) {
    const FieldScanner scan(input, delimiter);
    std::map<std::size_t, std::size_t> counts;
    std::size_t lines = 0;
    std::size_t first = 0;
    try {
        const char* p = scan.next_line(input.begin());
        for (; p != input.end() && lines < looked_at; ++lines) {
            const std::size_t fields = scan.line(p).size();
            if (lines == 0) first = fields;
            ++counts[fields];
            p = scan.next_line(p);
        }
    } catch (const formats::Mistake&) {
        if (lines < 2) return {};
    }
    // R writes no name above the names of rows.
    if (first > 0 && counts.contains(first + 1) && counts[first] == 1) {
        counts.erase(first);
        ++counts[first + 1];
    }
    Regularity best;
    for (const auto& [fields, times] : counts) {
        const double share =
            static_cast<double>(times) / static_cast<double>(std::max<std::size_t>(lines, 1));
        if (share >= best.share) best = {fields, std::min(share, 1.0)};
    }
    return best;
}

char find_delimiter(const Input& input) {
    // A comma may be a decimal sign, so that what else separates goes before it.
    for (const double least : {1.0, 0.9, 0.6}) {
        for (const char candidate : {'\t', ';', '|', ','}) {
            const Regularity r = regularity(input, candidate);
            if (r.fields > 1 && r.share >= least) return candidate;
        }
    }
    const Regularity blanks = regularity(input, ' ');
    return blanks.fields > 1 && blanks.share >= 0.9 ? ' ' : ',';
}

/// Every line has the same number of fields by some separator other than blanks.
bool is_regular(const Input& input) {
    for (const char candidate : {'\t', ';', '|', ','}) {
        const Regularity r = regularity(input, candidate);
        if (r.fields > 1 && r.share == 1) return true;
    }
    return false;
}

bool tells_header(std::string_view cell) {
    return !cell.empty() && !tables::number_in(cell, false) && !tables::number_in(cell, true);
}

/// One line of fields as texts.
std::vector<std::string> texts_of(const std::vector<Field>& fields) {
    std::vector<std::string> texts;
    for (const Field& field : fields) texts.push_back(field.text());
    return texts;
}

/// True when the first line names columns: nothing in it is a number, no name comes twice, and
/// below it there is a column of numbers, dates or answers, or no name is ever a value of its
/// column.
bool looks_like_names(const std::vector<std::string>& first,
                      const std::vector<std::vector<std::string>>& below) {
    if (below.empty()) return false;
    std::set<std::string> names;
    std::size_t empty = 0;
    for (const std::string& cell : first) {
        if (cell.empty()) {
            ++empty;
            continue;
        }
        if (!tells_header(cell) || tables::day_in(cell, DateOrder::year_first)) return false;
        if (!names.insert(cell).second) return false;
    }
    if (empty > 1 || names.empty()) return false;
    const std::size_t shift = below[0].size() == first.size() + 1 ? 1 : 0;
    bool repeats = false;
    for (std::size_t j = 0; j < first.size(); ++j) {
        std::size_t plain = 0, there = 0;
        std::set<std::string> values;
        for (const auto& row : below) {
            if (j + shift >= row.size() || is_missing_cell(row[j + shift])) continue;
            const std::string& cell = row[j + shift];
            ++there;
            values.insert(cell);
            plain += tables::number_in(cell, false) || tables::number_in(cell, true) ||
                             tables::answer_in(cell) ||
                             tables::day_in(cell, DateOrder::year_first) ||
                             tables::day_in(cell, DateOrder::day_first) ||
                             tables::day_in(cell, DateOrder::month_first)
                         ? 1
                         : 0;
        }
        if (values.contains(first[j])) return false;
        if (there > 0 && plain * 10 >= there * 8) return true;
        repeats |= 2 * values.size() <= there;
    }
    const std::string usual[] = {"label", "class", "target", "y", "text", "sequence"};
    for (const std::string& name : names) {
        if (std::ranges::find(usual, tables::lower(name)) != std::end(usual)) return true;
    }
    return repeats;
}

/// scikit-learn's "150,4,setosa,versicolor,virginica" above rows of 4 numbers and a label.
std::vector<std::string> counted_classes(const std::vector<std::string>& first,
                                         std::size_t columns) {
    if (first.size() < 4 || columns < 2) return {};
    const auto features = parse_number(first[1]);
    if (!parse_number(first[0]) || !features || *features + 1 != static_cast<double>(columns)) {
        return {};
    }
    std::vector<std::string> classes(first.begin() + 2, first.end());
    return std::ranges::all_of(classes, tells_header) ? classes : std::vector<std::string>{};
}

void find_decimal_sign(Table& table) {
    std::size_t decimal = 0, thousands = 0;
    for (const Texts& column : table.cells) {
        for (std::size_t i = 0; i < std::min<std::size_t>(column.size(), 1000); ++i) {
            const auto hint = tables::comma_hint(column.text(i));
            decimal += hint == tables::CommaHint::decimal ? 1 : 0;
            thousands += hint == tables::CommaHint::thousands ? 1 : 0;
        }
    }
    table.decimal_comma = decimal > thousands;
    table.comma_is_known = decimal != thousands;
}

class TableReader {
   public:
    TableReader(const Input& input, const TableOptions& options)
        : input_(input),
          options_(options),
          scan_(input, options.delimiter != 0 ? options.delimiter : find_delimiter(input)) {}

    Table read() {
        read_first_lines();
        read_rows();
        if (table_.rows() == 0) formats::fail(input_, "holds a header line but no rows");
        name_classes();
        return std::move(table_);
    }

    char delimiter() const { return scan_.delimiter(); }

   private:
    void read_first_lines() {
        p_ = scan_.next_line(input_.begin());
        if (p_ == input_.end())
            formats::fail(input_, "holds no rows, only blank lines or comments");
        const char* const start = p_;
        std::vector<std::string> first = texts_of(scan_.line(p_));
        std::vector<std::vector<std::string>> below;
        const char* second = scan_.next_line(p_);
        for (const char* q = second; q != input_.end() && below.size() < 200;) {
            below.push_back(texts_of(scan_.line(q)));
            q = scan_.next_line(q);
        }
        columns_ = below.empty() ? first.size() : below[0].size();
        classes_ = counted_classes(first, columns_);
        const bool header =
            classes_.empty() && (options_.header == HeaderLine::yes ||
                                 (options_.header == HeaderLine::automatic &&
                                  (has_known_name(first) || looks_like_names(first, below))));
        p_ = header || !classes_.empty() ? second : start;
        if (!header && classes_.empty()) columns_ = first.size();
        if (header) take_names(std::move(first));
        if (columns_ > most_table_columns) {
            formats::fail(
                input_, "has " + std::to_string(columns_) + " columns; a table may have " +
                            std::to_string(most_table_columns) + ": write LIBSVM text for so many");
        }
        for (std::size_t j = table_.names.size(); j < columns_; ++j) {
            table_.names.push_back("column" + std::to_string(j + 1));
        }
        table_.cells.resize(columns_);
        table_.declared.resize(columns_);
    }

    bool has_known_name(const std::vector<std::string>& first) const {
        return std::ranges::any_of(options_.known_names, [&](const std::string& name) {
            return std::ranges::find(first, name) != first.end();
        });
    }

    void take_names(std::vector<std::string> first) {
        table_.has_names = true;
        // R writes no name above the names of rows.
        if (first.size() + 1 == columns_) first.insert(first.begin(), "row");
        columns_ = std::max(columns_, first.size());
        std::set<std::string> taken;
        for (std::size_t j = 0; j < first.size(); ++j) {
            std::string name =
                first[j].empty() ? (j == 0 ? "row" : "column" + std::to_string(j + 1)) : first[j];
            const std::string own = name;
            for (std::size_t k = 2; !taken.insert(name).second; ++k) {
                name = own + "." + std::to_string(k);
            }
            table_.names.push_back(std::move(name));
        }
    }

    void read_rows() {
        std::size_t line = 1 + static_cast<std::size_t>(std::count(input_.begin(), p_, '\n'));
        const char* counted = p_;
        const auto size = static_cast<double>(input_.end() - input_.begin());
        for (p_ = scan_.next_line(p_); p_ != input_.end(); p_ = scan_.next_line(p_)) {
            line += static_cast<std::size_t>(std::count(counted, p_, '\n'));
            counted = p_;
            const std::vector<Field> fields = scan_.line(p_);
            if (static_cast<std::size_t>(p_ - counted) > options_.longest_line + 1) {
                throw formats::Mistake{counted, ""};
            }
            add_row(fields, line);
            if (table_.rows() % 4096 == 0 &&
                !keep_going(options_.progress,
                            {.task = "reading",
                             .fraction = static_cast<double>(p_ - input_.begin()) / size})) {
                throw Cancelled();
            }
        }
    }

    void add_row(const std::vector<Field>& fields, std::size_t line) {
        std::size_t count = fields.size();
        // A separator that ends the line begins no further field.
        if (count == columns_ + 1 && fields.back().raw().empty()) --count;
        if (count != columns_ && table_.defect.empty()) {
            table_.defect = Location{table_.name.empty() ? input_.name : table_.name, line}.text() +
                            ": found " + std::to_string(count) + " fields, expected " +
                            std::to_string(columns_) + " as in the rows before";
        }
        for (std::size_t j = 0; j < columns_; ++j) {
            if (j >= count) {
                table_.cells[j].push_back("");
            } else if (fields[j].quoted) {
                table_.cells[j].push_back(fields[j].text());
            } else {
                table_.cells[j].push_back(fields[j].raw());
            }
        }
        table_.lines.push_back(line);
    }

    void name_classes() {
        if (classes_.empty()) return;
        Texts named;
        const Texts& column = table_.cells.back();
        for (std::size_t i = 0; i < column.size(); ++i) {
            const auto k = parse_number(column.text(i));
            if (!k || *k < 0 || *k >= static_cast<double>(classes_.size())) return;
            named.push_back(classes_[static_cast<std::size_t>(*k)]);
        }
        table_.cells.back() = std::move(named);
    }

    const Input& input_;
    const TableOptions& options_;
    FieldScanner scan_;
    Table table_{};
    const char* p_ = nullptr;
    std::size_t columns_ = 0;
    std::vector<std::string> classes_{};
};

const char* delimiter_words(char delimiter) {
    switch (delimiter) {
        case '\t': return "separated by tabs";
        case ' ': return "separated by blanks";
        case ';': return "separated by ;";
        case '|': return "separated by |";
        default: return "separated by ,";
    }
}

Table read_lines_of(const Input& input, const TableOptions& options, const std::string& remark) {
    try {
        Table table;
        std::string dialect;
        if (tables::is_arff(input)) {
            table = tables::read_arff(input);
            dialect = "ARFF";
        } else {
            TableReader reader(input, options);
            table = reader.read();
            dialect = delimiter_words(reader.delimiter());
        }
        table.name = input.name;
        find_decimal_sign(table);
        table.dialect = dialect + (table.decimal_comma ? ", decimal commas" : "") + remark;
        return table;
    } catch (const formats::Mistake& mistake) {
        formats::fail_mistake(input, mistake);
    }
}

}  // namespace

Table table_from_text(std::string_view content, const std::string& name,
                      const TableOptions& options) {
    const ReadOptions plain{.longest_line = options.longest_line};
    Input input{content, name, plain};
    if (content.empty()) formats::fail(input, "is empty, expected at least one row");
    std::string other;
    if (!content.starts_with("\xFF\xFE") && !content.starts_with("\xFE\xFF")) {
        Content copy;
        Input probe = input;
        const Format& format = formats::settle_format(probe, copy);  // refuses what is no text
        if (format.kind != Format::Kind::text) {
            formats::fail(input, "found " + format.title + ", expected a table in text" +
                                     (format.remedy.empty() ? "" : "; " + format.remedy));
        }
        const bool table = format.uses.leave_out;
        if (!table) other = format.title;
    }
    std::string remark;
    const std::string text = as_lines(content, remark);
    input.bytes = text;
    // 12:30 looks like an entry of LIBSVM text, but not between separators.
    if (!other.empty() && !is_regular(input)) {
        formats::fail(input, "found " + other + ", expected a table in text");
    }
    return read_lines_of(input, options, remark);
}

Table read_table(const std::string& path, const TableOptions& options) {
    const std::string name = path == "-" ? "standard input" : path;
    try {
        const Content content = read_bytes(path, options.progress);
        return table_from_text(content.view(), name, options);
    } catch (const std::bad_alloc&) {
        fail_memory(name);
    } catch (const std::length_error&) {
        fail_memory(name);
    }
}

Table table_of(std::vector<std::string> names, std::vector<Texts> cells, const std::string& name) {
    if (names.size() != cells.size() || cells.empty()) {
        throw InvalidInput(name + ": " + std::to_string(names.size()) + " names for " +
                           std::to_string(cells.size()) + " columns");
    }
    Table table{
        .name = name, .names = std::move(names), .has_names = true, .cells = std::move(cells)};
    for (const Texts& column : table.cells) {
        if (column.size() == table.cells[0].size()) continue;
        throw InvalidInput(name + ": columns of " + std::to_string(column.size()) + " and " +
                           std::to_string(table.cells[0].size()) + " cells");
    }
    for (std::size_t i = 0; i < table.cells[0].size(); ++i) table.lines.push_back(i + 1);
    table.declared.resize(table.columns());
    table.dialect = "from memory";
    return table;
}

}  // namespace mercer
