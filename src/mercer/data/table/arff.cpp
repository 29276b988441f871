#include "mercer/data/table/detail/arff.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/input.hpp"
#include "mercer/data/table/detail/cells.hpp"

namespace mercer::tables {
namespace {

constexpr std::size_t most_attributes = 100'000;

std::string_view line_at(const formats::Input& input, const char* p) {
    const auto left = static_cast<std::size_t>(input.end() - p);
    const auto* end = static_cast<const char*>(std::memchr(p, '\n', left));
    return {p, static_cast<std::size_t>((end == nullptr ? input.end() : end) - p)};
}

std::string_view trimmed_line(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

/// A word, or what stands between quotes of either kind; `text` is moved behind it.
std::string take_word(std::string_view& text, std::string_view ends, const char* where) {
    text = trimmed_line(text);
    std::string word;
    if (!text.empty() && (text[0] == '\'' || text[0] == '"')) {
        const char quote = text[0];
        std::size_t i = 1;
        for (; i < text.size() && text[i] != quote; ++i) {
            if (text[i] == '\\' && i + 1 < text.size()) ++i;
            word += text[i];
        }
        if (i == text.size()) {
            throw formats::Mistake{where, "found a quote that is never closed"};
        }
        text.remove_prefix(i + 1);
        text = trimmed_line(text);
        return word;
    }
    const std::size_t end = std::min(text.find_first_of(ends), text.size());
    word = trimmed_line(text.substr(0, end));
    text.remove_prefix(end);
    return word;
}

void add_attribute(std::string_view rest, const char* where, Table& table) {
    std::string name = take_word(rest, " \t{", where);
    if (name.empty()) throw formats::Mistake{where, "found an attribute without a name"};
    rest = trimmed_line(rest);
    std::optional<ColumnKind> kind;
    const std::string word =
        lower(rest.substr(0, std::min(rest.find_first_of(" \t"), rest.size())));
    if (rest.starts_with('{')) {
        kind = ColumnKind::category;
    } else if (word == "numeric" || word == "real" || word == "integer") {
        kind = ColumnKind::number;
    } else if (word == "date") {
        kind = std::nullopt;  // in whatever form its cells show
    } else if (word != "string") {
        throw formats::Mistake{where, "found the attribute " + quoted(name) + " of type " +
                                          quoted(word) +
                                          ", expected numeric, a list of names, string or date"};
    }
    if (table.names.size() == most_attributes) {
        throw formats::Mistake{
            where, "found more than " + std::to_string(most_attributes) + " attributes"};
    }
    table.names.push_back(std::move(name));
    table.declared.push_back(kind);
}

void add_sparse_row(std::string_view line, const char* where, Table& table) {
    line = trimmed_line(line.substr(1, line.find('}') - 1));
    std::vector<std::string> cells(table.names.size(), "0");
    while (!line.empty()) {
        const auto index = parse_number(take_word(line, " \t", where));
        if (!index || *index < 0 || *index >= static_cast<double>(cells.size())) {
            throw formats::Mistake{where, "found an entry without the number of its attribute"};
        }
        cells[static_cast<std::size_t>(*index)] = take_word(line, ",", where);
        if (line.starts_with(',')) line.remove_prefix(1);
        line = trimmed_line(line);
    }
    for (std::size_t j = 0; j < cells.size(); ++j) table.cells[j].push_back(cells[j]);
}

void add_dense_row(std::string_view line, const char* where, Table& table) {
    std::size_t j = 0;
    for (;; ++j) {
        std::string cell = take_word(line, ",\t", where);
        if (j < table.names.size()) table.cells[j].push_back(cell);
        if (line.empty()) break;
        line.remove_prefix(1);
    }
    if (j + 1 == table.names.size()) return;
    throw formats::Mistake{where, "found " + std::to_string(j + 1) + " fields, expected " +
                                      std::to_string(table.names.size()) +
                                      ", one for each attribute"};
}

}  // namespace

bool is_arff(const formats::Input& input) {
    for (const char* p = input.begin(); p != input.end();) {
        const std::string_view whole = line_at(input, p);
        const std::string_view line = trimmed_line(whole);
        if (!line.empty() && line[0] != '%') return lower(line.substr(0, 9)) == "@relation";
        p += std::min(whole.size() + 1, static_cast<std::size_t>(input.end() - p));
    }
    return false;
}

Table read_arff(const formats::Input& input) {
    Table table;
    table.has_names = true;
    bool rows = false;
    std::size_t number = 0;
    for (const char* p = input.begin(); p != input.end();) {
        const std::string_view whole = line_at(input, p);
        const std::string_view line = trimmed_line(whole);
        const char* const where = p;
        ++number;
        p += std::min(whole.size() + 1, static_cast<std::size_t>(input.end() - p));
        if (line.empty() || line[0] == '%') continue;
        if (rows) {
            if (line[0] == '{') {
                add_sparse_row(line, where, table);
            } else {
                add_dense_row(line, where, table);
            }
            table.lines.push_back(number);
            continue;
        }
        const std::string word = lower(line.substr(0, std::min<std::size_t>(line.size(), 10)));
        if (word.starts_with("@attribute")) {
            add_attribute(line.substr(10), where, table);
        } else if (word.starts_with("@data")) {
            rows = true;
            table.cells.resize(table.names.size());
        } else if (!word.starts_with("@relation")) {
            throw formats::Mistake{where,
                                   "found " + quoted(line) + ", expected @attribute or @data"};
        }
    }
    if (table.names.empty()) formats::fail(input, "holds no @attribute");
    if (table.rows() == 0) formats::fail(input, "holds no rows behind @data");
    return table;
}

}  // namespace mercer::tables
