#include "mercer/select/detail/journal.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

constexpr std::string_view first_words = "mercer search journal 2 ";
constexpr std::string_view earlier_words = "mercer search journal 1 ";  // lines without checksums
constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 30;

std::string hexadecimal(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

/// What stands at the end of a line whose other fields are these, each with its tab.
std::string checksum_of(std::string_view fields) {
    Fingerprint sum;
    sum.add(fields);
    return hexadecimal(sum.value());
}

/// Statuses are the only free text of a line, whose fields end with tabs.
std::string one_line(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text;
}

std::vector<double> numbers(const std::string& text, const Location& where) {
    std::vector<double> result;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const auto value = word == "nan" ? std::optional(std::nan("")) : parse_number(word);
        if (!value) throw InvalidInput(where, mercer::quoted(word) + " is no number");
        result.push_back(*value);
    }
    return result;
}

std::string text_of(std::span<const double> values) {
    std::string text;
    for (const double value : values) {
        text += (text.empty() ? "" : " ") + (std::isnan(value) ? "nan" : format_number(value));
    }
    return text;
}

}  // namespace

void Fingerprint::add_byte(unsigned char byte) {
    state_ = (state_ ^ byte) * 0x100000001B3;
}
void Fingerprint::add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    add(std::uint64_t{text.size()});
}
void Fingerprint::add(double value) {
    add(std::bit_cast<std::uint64_t>(value));
}
void Fingerprint::add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
        add_byte(static_cast<unsigned char>(value >> shift));
    }
}
void Fingerprint::add(const Rows& rows) {
    add(std::uint64_t{rows.size()});
    add(std::uint64_t{rows.columns()});
    const auto all = [&](auto values) {
        for (const auto value : values) add(static_cast<double>(value));
    };
    const auto of_type = [&]<class T>(T) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!rows.is_sparse()) {
                all(rows.template dense_view<T>().row(i));
                continue;
            }
            const auto view = rows.template sparse_view<T>();
            for (const std::uint32_t column : view.row_index(i)) add(std::uint64_t{column});
            all(view.row_value(i));
        }
    };
    rows.is_double() ? of_type(double{}) : of_type(float{});
    for (const ObjectColumn& column : rows.objects()) {
        add(column.name());
        if (column.kind() == ObjectKind::node) {
            const Graphs& graph = column.shared_graph();
            add(std::uint64_t{graph.first_node.back()});
            for (const std::size_t start : graph.starts) add(std::uint64_t{start});
            for (const std::uint32_t other : graph.neighbours) add(std::uint64_t{other});
            all(std::span(graph.weights));
            for (const std::size_t node : column.own_nodes()) add(std::uint64_t{node});
            continue;
        }
        for (std::size_t i = 0; i < column.size(); ++i) {
            if (column.kind() == ObjectKind::text) {
                add(column.text(i));
                continue;
            }
            const GraphView graph = column.graph(i);
            add(std::uint64_t{graph.nodes});
            for (std::size_t v = 0; v < graph.nodes; ++v) {
                for (const std::uint32_t other : graph.neighbours_of(v)) add(std::uint64_t{other});
                add(std::uint64_t{graph.starts[v + 1] - graph.starts[v]});
            }
            for (const std::int64_t label : graph.node_labels) {
                add(static_cast<std::uint64_t>(label));
            }
            for (std::size_t k = 0; graph.edge_labels != nullptr && k < graph.ends(); ++k) {
                add(static_cast<std::uint64_t>(graph.edge_labels[graph.starts[0] + k]));
            }
            all(std::span(graph.values, graph.nodes * graph.attributes));
        }
    }
}

Journal::Journal(std::uint64_t fingerprint, std::size_t scores)
    : header_(std::string(first_words) + hexadecimal(fingerprint)), scores_(scores) {}

Journal Journal::of_others(const std::string& lines, std::uint64_t fingerprint,
                           std::size_t scores) {
    Journal journal(fingerprint, scores);
    journal.read(lines);
    return journal;
}

std::string Journal::lines() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

Journal::Journal(std::string path, std::uint64_t fingerprint, std::size_t scores)
    : Journal(fingerprint, scores) {
    path_ = std::move(path);
    std::error_code none;
    if (std::filesystem::is_directory(path_, none)) {
        throw InvalidInput(path_ + ": is a folder; name a file for the journal");
    }
    if (std::filesystem::file_size(path_, none) > most_bytes && !none) {
        throw InvalidInput(path_ + ": is larger than 1 GiB and can be no journal of a search");
    }
    std::string content;
    if (std::ifstream file(path_, std::ios::binary); file) {
        content.assign(std::istreambuf_iterator<char>(file), {});
    }
    read(content);
    const std::size_t whole =
        content.rfind('\n') == std::string::npos ? 0 : content.rfind('\n') + 1;
    if (whole < content.size()) std::filesystem::resize_file(path_, whole, none);
    try {
        append_lines(path_, whole == 0 ? header_ + '\n' : "");
    } catch (const std::runtime_error& error) {
        throw InvalidInput(error.what());
    }
}

void Journal::read(const std::string& content) {
    std::size_t number = 0;
    for (std::size_t first = 0; first < content.size();) {
        const std::size_t last = content.find('\n', first);
        if (last == std::string::npos) {
            // Whatever has no complete line of ours is somebody else's file, and stays as it is.
            if (number == 0 && !header_.starts_with(content)) {
                throw InvalidInput(path_ + ": is no journal of a search; name another file");
            }
            return;
        }
        const std::string line = content.substr(first, last - first);
        first = last + 1;
        if (++number == 1) {
            if (line.starts_with(earlier_words)) {
                throw InvalidInput(path_ +
                                   ": is a journal of an earlier Mercer, whose lines nothing "
                                   "vouches for; name another file, or remove it");
            }
            if (!line.starts_with(first_words)) {
                throw InvalidInput(path_ + ": is no journal of a search; name another file");
            }
            if (line != header_) {
                throw InvalidInput(path_ +
                                   ": belongs to another search: the data, the folds, the task, a "
                                   "setting or the seed differ; name another file, or remove it");
            }
            continue;
        }
        entries_.push_back(parse(line, number));
    }
}

Journal::Entry Journal::parse(const std::string& line, std::size_t number) const {
    const Location where{.file = path_, .line = number};
    std::vector<std::string> fields;
    std::istringstream stream(line + '\t');
    for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
    if (fields.size() != 5) {
        throw InvalidInput(where, "is no line of a journal: it has " +
                                      std::to_string(fields.size()) + " fields instead of 5");
    }
    if (checksum_of(line.substr(0, line.rfind('\t') + 1)) != fields[4]) {
        throw InvalidInput(where,
                           "is damaged: its checksum does not fit; remove this line, and the "
                           "point will be tried again");
    }
    const auto figures = numbers(fields[1], where);
    if (figures.size() != 2 || !(figures[0] >= 0 && figures[0] < 1e15)) {
        throw InvalidInput(where, "has no rows and seconds where they should be");
    }
    Entry entry{
        .values = numbers(fields[0], where),
        .rows = static_cast<std::size_t>(figures[0]),
        .score = {.scores = numbers(fields[2], where), .seconds = figures[1], .status = fields[3]}};
    const std::size_t found = entry.score.scores.size();
    if (found != 0 && found != scores_) {
        throw InvalidInput(where, "has " + std::to_string(found) + " scores for " +
                                      std::to_string(scores_) + " folds");
    }
    return entry;
}

std::optional<PointScore> Journal::find(std::span<const double> values, std::size_t rows) const {
    // The last line about a point is the one that counts.
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
        if (entry->rows == rows && std::ranges::equal(entry->values, values)) return entry->score;
    }
    return std::nullopt;
}

void Journal::add(std::span<const double> values, std::size_t rows, const PointScore& score) {
    std::string line = text_of(values) + '\t' + std::to_string(rows) + ' ' +
                       format_number(score.seconds) + '\t' + text_of(score.scores) + '\t' +
                       one_line(score.status) + '\t';
    line += checksum_of(line) + '\n';
    if (!path_.empty()) append_lines(path_, line);
}

}  // namespace mercer
