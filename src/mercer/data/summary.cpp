#include "mercer/data/summary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <unordered_set>

#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/memory.hpp"

namespace mercer {
namespace {

/// Calls visit(column, value) for the entries of row i that are not 0.
template <class Visit>
void visit_row(const Rows& rows, std::size_t i, Visit&& visit) {
    const auto dense = [&]<class T>(MatrixView<const T> view) {
        const std::span<const T> row = view.row(i);
        for (std::size_t j = 0; j < row.size(); ++j) {
            if (row[j] != 0) visit(j, static_cast<double>(row[j]));
        }
    };
    const auto sparse = [&]<class T>(const SparseView<T>& view) {
        const auto index = view.row_index(i);
        const auto value = view.row_value(i);
        for (std::size_t e = 0; e < index.size(); ++e) {
            if (value[e] != 0) visit(std::size_t{index[e]}, static_cast<double>(value[e]));
        }
    };
    if (rows.is_sparse()) {
        rows.is_double() ? sparse(rows.sparse_view<double>()) : sparse(rows.sparse_view<float>());
    } else {
        rows.is_double() ? dense(rows.dense_view<double>()) : dense(rows.dense_view<float>());
    }
}

/// Mean and deviation follow Welford's update, one pass without cancellation; the zeros that were
/// not visited are merged in at the end (Chan, Golub and LeVeque 1983).
class Running {
   public:
    void add(double value) {
        ++count_;
        const double step = value - mean_;
        mean_ += step / static_cast<double>(count_);
        squares_ += step * (value - mean_);
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
    }

    ColumnSummary finish(std::size_t rows) const {
        ColumnSummary result;
        result.nonzeros = count_;
        if (rows == 0) return result;
        const auto total = static_cast<double>(rows);
        const double zeros = total - static_cast<double>(count_);
        result.low = count_ < rows ? std::min(low_, 0.0) : low_;
        result.high = count_ < rows ? std::max(high_, 0.0) : high_;
        result.mean = mean_ * (static_cast<double>(count_) / total);
        const double between = mean_ * mean_ * static_cast<double>(count_) * zeros / total;
        result.deviation =
            result.constant() ? 0 : std::sqrt(std::max(0.0, squares_ + between) / total);
        return result;
    }

   private:
    std::size_t count_ = 0;
    double mean_ = 0;
    double squares_ = 0;
    double low_ = std::numeric_limits<double>::infinity();
    double high_ = -std::numeric_limits<double>::infinity();
};

void summarize_entries(const Rows& rows, Summary& result) {
    std::vector<Running> running(rows.columns());
    result.whole_numbers = true;
    result.unit_rows = rows.size() > 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double squares = 0;
        std::size_t nonzeros = 0;
        visit_row(rows, i, [&](std::size_t j, double value) {
            running[j].add(value);
            squares += value * value;
            ++nonzeros;
            result.whole_numbers = result.whole_numbers && value == std::floor(value);
        });
        result.nonzeros += nonzeros;
        result.zero_rows += nonzeros == 0 ? 1 : 0;
        result.unit_rows = result.unit_rows && std::abs(squares - 1) < 1e-5;
    }
    for (std::size_t j = 0; j < rows.columns(); ++j) {
        result.column.push_back(running[j].finish(rows.size()));
        const ColumnSummary& column = result.column.back();
        result.low = j == 0 ? column.low : std::min(result.low, column.low);
        result.high = j == 0 ? column.high : std::max(result.high, column.high);
        if (column.constant()) result.constant_columns.push_back(j);
    }
    const double size = static_cast<double>(rows.size()) * static_cast<double>(rows.columns());
    result.density = size > 0 ? static_cast<double>(result.nonzeros) / size : 0;
}

/// A hash over the columns and values that are not 0, so that dense and sparse rows hash alike.
std::uint64_t hash_of(const Rows& rows, std::size_t i) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto mix = [&](std::uint64_t word) {
        hash = (hash ^ word) * 0x9E3779B97F4A7C15;
        hash ^= hash >> 29;
    };
    visit_row(rows, i, [&](std::size_t j, double value) {
        mix(j);
        mix(std::bit_cast<std::uint64_t>(value));
    });
    return hash;
}

bool equal_rows(const Rows& rows, std::size_t a, std::size_t b) {
    std::vector<std::pair<std::size_t, double>> entries;
    visit_row(rows, a, [&](std::size_t j, double value) { entries.emplace_back(j, value); });
    std::size_t at = 0;
    bool equal = true;
    visit_row(rows, b, [&](std::size_t j, double value) {
        equal = equal && at < entries.size() && entries[at] == std::pair(j, value);
        ++at;
    });
    return equal && at == entries.size();
}

/// Texts, and which nodes of a graph.
std::uint64_t hash_of_texts(const Rows& rows, std::size_t i) {
    std::uint64_t hash = 0;
    for (const ObjectColumn& column : rows.objects()) {
        if (column.kind() == ObjectKind::graph) continue;
        const bool text = column.kind() == ObjectKind::text;
        hash = hash * 0x9e3779b97f4a7c15U +
               (text ? std::hash<std::string_view>()(column.text(i)) : column.node(i).node);
    }
    return hash;
}

bool equal_texts(const Rows& rows, std::size_t a, std::size_t b) {
    return std::ranges::all_of(rows.objects(), [&](const ObjectColumn& column) {
        if (column.kind() == ObjectKind::node) return column.node(a).node == column.node(b).node;
        return column.kind() == ObjectKind::text && column.text(a) == column.text(b);
    });
}

/// Whether two graphs are equal is another question, and a harder one.
void count_duplicates(const Dataset& data, Summary& result) {
    const Rows& rows = data.x;
    if (std::ranges::any_of(rows.objects(), [](const ObjectColumn& column) {
            return column.kind() == ObjectKind::graph;
        })) {
        return;
    }
    std::vector<std::pair<std::uint64_t, std::size_t>> order(rows.size());
    parallel_ranges(rows.size(), 1024, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            order[i] = {hash_of(rows, i) ^ hash_of_texts(rows, i), i};
        }
    });
    std::sort(order.begin(), order.end());
    // Within a run of one hash, each row is compared with the first row of its kind. Different
    // rows under one hash are so rare that remembering one representative a run is enough.
    for (std::size_t first = 0, i = 1; i < order.size(); ++i) {
        if (order[i].first != order[first].first) {
            first = i;
            continue;
        }
        const std::size_t a = order[first].second;
        const std::size_t b = order[i].second;
        if (!equal_rows(rows, a, b) || !equal_texts(rows, a, b)) continue;
        ++result.duplicates;
        if (!data.y.empty() && data.y.values[a] != data.y.values[b]) ++result.contradictions;
    }
}

/// Adds the words of a text: runs of letters and digits, and of bytes beyond ASCII.
void add_words(std::string_view text, std::unordered_set<std::string>& words) {
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const auto c = static_cast<unsigned char>(i < text.size() ? text[i] : ' ');
        const auto small = static_cast<unsigned char>(c | 0x20U);
        const bool letter = small >= 'a' && small <= 'z';
        if (c >= 128 || letter || (c >= '0' && c <= '9')) {
            word += static_cast<char>(letter && c < 128 ? small : c);
        } else if (!word.empty()) {
            words.insert(word);
            word.clear();
        }
    }
}

/// One pair of brackets around the whole, others inside it, all of them closed.
bool is_tree(std::string_view text) {
    while (text.ends_with(' ')) text.remove_suffix(1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (!text.starts_with('(') || !text.ends_with(')')) return false;
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(') ++depth;
        if (text[i] == ')' && --depth == 0) return i + 1 == text.size();
    }
    return false;
}

ObjectSummary summary_of(const ObjectColumn& column) {
    ObjectSummary result{.name = column.name(), .kind = column.kind()};
    if (column.kind() == ObjectKind::node) {
        const GraphView graph = column.shared_graph().view(0);
        result.shortest = result.longest = graph.nodes;
        result.mean = static_cast<double>(graph.nodes);
        result.edges = graph.ends() / 2;
        return result;
    }
    std::array<bool, 256> seen{};
    std::set<std::int64_t> labels;
    std::unordered_set<std::string> words;
    result.trees = column.kind() == ObjectKind::text && column.size() > 0;
    double total = 0;
    for (std::size_t i = 0; i < column.size(); ++i) {
        std::size_t length = 0;
        if (column.kind() == ObjectKind::text) {
            length = column.text(i).size();
            add_words(column.text(i), words);
            result.trees = result.trees && is_tree(column.text(i));
            for (const char c : column.text(i)) seen[static_cast<unsigned char>(c)] = true;
        } else {
            const GraphView graph = column.graph(i);
            length = graph.nodes;
            result.edges += graph.ends() / 2;
            labels.insert(graph.node_labels.begin(), graph.node_labels.end());
            result.attributes = graph.attributes;
        }
        result.shortest = i == 0 ? length : std::min(result.shortest, length);
        result.longest = std::max(result.longest, length);
        total += static_cast<double>(length);
    }
    if (column.size() > 0) result.mean = total / static_cast<double>(column.size());
    result.labels = labels.size();
    result.words = words.size();
    for (std::size_t c = 0; c < seen.size(); ++c) {
        if (seen[c]) result.letters += static_cast<char>(c);
    }
    return result;
}

void summarize_labels(const Labels& labels, Summary& result) {
    if (labels.empty()) return;
    std::vector<double> sorted = labels.values;
    std::sort(sorted.begin(), sorted.end());
    result.distinct =
        static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
    const bool whole = std::all_of(labels.values.begin(), labels.values.end(),
                                   [](double value) { return value == std::floor(value); });
    const bool few = result.distinct <= 100 && 2 * result.distinct <= labels.size() + 2;
    if (!labels.are_text() && !(whole && few)) {
        result.label_kind = LabelKind::real;
        Running running;
        for (const double value : labels.values) running.add(value);
        result.label = running.finish(labels.size());
        return;
    }
    result.label_kind = LabelKind::classes;
    const Classes classes = classes_of(labels);
    for (const std::string& name : classes.names) result.classes.emplace_back(name, 0);
    std::size_t runs = 0;
    for (std::size_t i = 0; i < classes.index.size(); ++i) {
        ++result.classes[static_cast<std::size_t>(classes.index[i])].second;
        if (i == 0 || classes.index[i] != classes.index[i - 1]) ++runs;
    }
    result.grouped = classes.count() > 1 && runs == classes.count();
}

// ---- Advice ------------------------------------------------------------------------------------

std::string column_name(const Dataset& data, std::size_t j) {
    return j < data.feature_names.size() ? mercer::quoted(data.feature_names[j])
                                         : "column " + std::to_string(j);
}

/// Distances, and so kernels, are ruled by the widest columns.
void advise_on_scale(const Dataset& data, Summary& result) {
    if (result.whole_numbers && result.low >= 0 && result.high == 255) {
        result.advice.push_back("entries are bytes, 0 to 255: scale by 1/255");
        return;
    }
    std::size_t widest = 0;
    std::size_t narrowest = 0;
    double most = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < result.column.size(); ++j) {
        const double width = result.column[j].high - result.column[j].low;
        if (width <= 0) continue;
        if (width > most) most = width, widest = j;
        if (width < least) least = width, narrowest = j;
    }
    const double largest = std::max(std::abs(result.low), std::abs(result.high));
    if (most > 20 * least && largest > 2) {
        result.advice.push_back(
            "columns differ in scale: the range of " + column_name(data, widest) + " is " +
            format_number(std::round(most / least)) + " times that of " +
            column_name(data, narrowest) +
            "; kernels would see little but the wide ones. Try: scale standard");
    } else if (largest > 100) {
        result.advice.push_back("entries go up to " + format_number(largest) +
                                ", far from 1: choose the kernel width accordingly, or scale");
    }
}

void advise(const Dataset& data, Summary& result) {
    advise_on_scale(data, result);
    if (!result.constant_columns.empty()) {
        result.advice.push_back(std::to_string(result.constant_columns.size()) +
                                " constant columns tell nothing apart");
    }
    if (result.contradictions > 0) {
        result.advice.push_back(std::to_string(result.contradictions) +
                                " rows repeat an earlier row under another label: no function of "
                                "the features fits both");
    }
    if (result.label_kind == LabelKind::classes && result.classes.size() > 1) {
        const auto smallest =
            std::min_element(result.classes.begin(), result.classes.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        if (static_cast<double>(smallest->second) * static_cast<double>(result.classes.size()) <
            0.2 * static_cast<double>(result.rows)) {
            result.advice.push_back("classes are unbalanced: " + mercer::quoted(smallest->first) +
                                    " has " + std::to_string(smallest->second) + " of " +
                                    std::to_string(result.rows) +
                                    " rows; look at more than accuracy");
        }
        if (result.grouped && result.rows > result.classes.size()) {
            result.advice.push_back("rows stand class after class: shuffle before splitting");
        }
    }
    if (result.label_kind == LabelKind::classes && result.classes.size() == 1) {
        result.advice.push_back("all rows have one label: only single-class machines can learn");
    }
}

}  // namespace

Summary summarize(const Dataset& data) {
    data.check();
    check_columns(data.x, 2 * sizeof(ColumnSummary), "a summary of");
    Summary result;
    result.rows = data.size();
    result.columns = data.columns();
    result.sparse = data.x.is_sparse();
    result.double_precision = data.x.is_double();
    result.bytes = data.x.bytes();
    summarize_entries(data.x, result);
    for (const ObjectColumn& column : data.x.objects()) {
        result.objects.push_back(summary_of(column));
    }
    count_duplicates(data, result);
    summarize_labels(data.y, result);
    advise(data, result);
    return result;
}

}  // namespace mercer
