// LIBSVM's model file, in. libsvm_write.cpp says how it is laid out.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/source.hpp"
#include "mercer/learn/detail/model_check.hpp"
#include "mercer/persist/detail/libsvm_read.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

using namespace persist;

/// The SV section.
struct Lines {
    std::vector<double> coefficients;  ///< lines × (classes − 1)
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    std::vector<double> values;
    std::vector<std::size_t> serials;  ///< precomputed: rows of the matrix, from 0
    std::size_t columns = 0;
};

void read_entry(LibsvmReader& in, const Word& word, std::size_t& lowest, Lines& out) {
    const std::size_t colon = std::min(word.text.find(':'), word.text.size());
    const Word index{word.text.substr(0, colon), word.column};
    const std::size_t number =
        in.count(index, lowest, std::numeric_limits<std::int32_t>::max(), "an index");
    if (colon == word.text.size()) in.fail(word, "expected index:value, found " + in.shown(word));
    const Word value{word.text.substr(colon + 1), word.column + colon + 1};
    lowest = number + 1;
    out.columns = std::max(out.columns, number);
    const double parsed = in.number(value, "a value");
    if (parsed == 0) return;
    out.index.push_back(static_cast<std::uint32_t>(number - 1));
    out.values.push_back(parsed);
}

void read_serial(LibsvmReader& in, const Word& word, Lines& out) {
    if (!word.text.starts_with("0:")) {
        in.fail(word,
                "expected 0:number, the row of the precomputed matrix, found " + in.shown(word));
    }
    const Word number{word.text.substr(2), word.column + 2};
    out.serials.push_back(in.count(number, 1, most_precomputed_rows, "a row number") - 1);
    out.columns = std::max(out.columns, out.serials.back() + 1);
    in.end_line();
}

Lines read_lines(LibsvmReader& in, std::size_t total, std::size_t slots, bool precomputed) {
    Lines out;
    for (std::size_t i = 0; i < total; ++i) {
        if (!in.next_line()) {
            in.fail_line("the file ends after " + std::to_string(i) + " of " +
                         std::to_string(total) + " support vectors; it was cut short");
        }
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const Word word = in.next_word();
            out.coefficients.push_back(in.number(
                word, "coefficient " + std::to_string(slot + 1) + " of " + std::to_string(slots)));
        }
        if (precomputed) {
            read_serial(in, in.next_word(), out);
            continue;
        }
        std::size_t lowest = 1;
        for (Word word = in.next_word(); !word.text.empty(); word = in.next_word()) {
            read_entry(in, word, lowest, out);
        }
        out.starts.push_back(out.index.size());
    }
    while (in.next_line()) {
        const Word word = in.next_word();
        if (!word.text.empty()) {
            in.fail(word, "expected the end of the file after " + std::to_string(total) +
                              " support vectors, found " + quoted(word.text));
        }
    }
    return out;
}

/// Where each line goes in the model: its own point, except that lines of one row of a precomputed
/// matrix share theirs.
std::vector<std::size_t> places_of(const Lines& lines, std::size_t total,
                                   std::vector<std::size_t>& origins) {
    std::vector<std::size_t> places;
    std::map<std::size_t, std::size_t> known;
    for (std::size_t i = 0; i < total; ++i) {
        if (lines.serials.empty()) {
            places.push_back(i);
            continue;
        }
        const auto [found, fresh] = known.emplace(lines.serials[i], origins.size());
        if (fresh) origins.push_back(lines.serials[i]);
        places.push_back(found->second);
    }
    return places;
}

/// LIBSVM's layout undone: the slots of a line of class c below c are the pairs (slot, c), the
/// others (c, slot + 1).
void place_coefficients(const Lines& lines, const std::vector<std::size_t>& group_sizes,
                        const std::vector<std::size_t>& places, Matrix<double>& out) {
    const std::size_t classes = group_sizes.size();
    const auto pair = [classes](std::size_t i, std::size_t j) {
        return i * classes - i * (i + 1) / 2 + j - i - 1;
    };
    std::size_t line = 0;
    for (std::size_t c = 0; c < classes; ++c) {
        for (std::size_t n = 0; n < group_sizes[c]; ++n, ++line) {
            for (std::size_t slot = 0; slot + 1 < classes; ++slot) {
                const double value = lines.coefficients[line * (classes - 1) + slot];
                double& place = out(slot < c ? pair(slot, c) : pair(c, slot + 1), places[line]);
                place = place == 0 ? value : place + value;
            }
        }
    }
}

/// Dense when more than a quarter of the entries are there, as the reader of data does.
Rows points_of(Lines& lines, const std::vector<std::size_t>& origins) {
    if (!lines.serials.empty()) {
        const Rows empty = Rows::sparse(std::vector<std::size_t>(origins.size() + 1, 0), {},
                                        std::vector<double>(), lines.columns);
        return empty.with_origins(origins);
    }
    const std::size_t rows = lines.starts.size() - 1;
    const bool dense = lines.values.size() > rows * lines.columns / 4;
    const Rows sparse = Rows::sparse(std::move(lines.starts), std::move(lines.index),
                                     std::move(lines.values), lines.columns);
    return dense ? sparse.to_dense() : sparse;
}

}  // namespace

bool is_libsvm_model(std::string_view bytes) {
    return bytes.starts_with("svm_type ");
}

Model import_libsvm_from_memory(std::string_view text, const std::string& name,
                                std::size_t columns) {
    if (text.empty()) {
        throw InvalidInput(Location{.file = name}, "is empty; a LIBSVM model was expected");
    }
    LibsvmReader in(text, name);
    const LibsvmHeader header = read_libsvm_header(in);
    const LibsvmCounts counts = check_counts(header, text.size(), name);
    ModelParts model;
    fill_from_header(header, counts, model, name);
    Lines lines = read_lines(in, counts.total, counts.classes - 1, header.kernel == "precomputed");
    lines.columns = std::max(lines.columns, columns);
    const std::vector<std::size_t> places = places_of(lines, counts.total, model.origins);
    const std::size_t points = lines.serials.empty() ? counts.total : model.origins.size();
    model.expansion.coefficients = Matrix<double>(model.expansion.outputs(), points);
    place_coefficients(lines, counts.group_sizes, places, model.expansion.coefficients);
    model.columns = lines.columns;
    model.expansion.points = points_of(lines, model.origins);
    model.double_precision = true;
    return Model(std::move(model), name);
}

Model import_libsvm(const std::string& path, std::size_t columns) {
    const Content content = read_bytes(path);
    return import_libsvm_from_memory(content.view(), path == "-" ? "standard input" : path,
                                     columns);
}

}  // namespace mercer
