#include "mercer/data/formats/detail/libsvm_windows.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/formats/detail/libsvm_text.hpp"

namespace mercer::formats {
namespace {

/// Rows gathered window by window, sparse; beyond what may be in memory they wait in files.
template <class T>
class SparseGatherer {
   public:
    explicit SparseGatherer(const Input& input)
        : input_(input), holding_(input.options, input.name) {}

    void append(const Input& window, std::span<const Piece<T>> pieces) {
        for (const Piece<T>& piece : pieces) {
            index_.append({piece.index.get(), piece.entries});
            value_.append({piece.value.get(), piece.entries});
            holding_.keep(index_, value_);
            const std::size_t before = starts_.back();
            for (const std::size_t end : piece.row_ends) starts_.push_back(before + end);
            labels_.insert(labels_.end(), piece.labels.begin(), piece.labels.end());
            width_ = std::max(width_, piece.width);
            rounded_ |= piece.rounded;
            if (!labelled_ && piece.first_labelled != nullptr) {
                labelled_.emplace(window, piece.first_labelled);
            }
            if (!not_labelled_ && piece.first_not_labelled != nullptr) {
                not_labelled_.emplace(window, piece.first_not_labelled);
            }
        }
    }

    bool is_rounded() const { return rounded_; }

    /// `bytes` of text were read.
    Dataset finish(std::size_t bytes) {
        if (starts_.size() == 1) fail(input_, no_libsvm_rows);
        if (labelled_ && not_labelled_) {
            const bool absent = *labelled_ < *not_labelled_;
            const SeenWord& later = absent ? *not_labelled_ : *labelled_;
            throw InvalidInput(later.where, some_labels(later.word, absent));
        }
        Dataset data;
        data.y.values = std::move(labels_);
        const std::size_t columns = std::max(width_, least_columns(input_));
        const RowForm form = input_.options.form;
        if (form == RowForm::dense) {
            const auto numbers = static_cast<double>(rows()) * static_cast<double>(columns);
            check_allowance(input_.name, numbers * sizeof(T), bytes,
                            std::to_string(rows()) + " x " + std::to_string(columns) + " numbers");
        }
        const bool full = is_quarter_full(index_.size(), rows(), columns);
        const bool fill = form == RowForm::dense || (form == RowForm::automatic && full);
        data.x = !fill ? sparse(columns) : columns > 0 ? dense(columns) : sparse(0).to_dense();
        return data;
    }

   private:
    std::size_t rows() const { return starts_.size() - 1; }

    Rows sparse(std::size_t columns) {
        if (!index_.is_spilled()) {
            return Rows::sparse(std::move(starts_), index_.take(), value_.take(), columns);
        }
        struct Both {
            std::shared_ptr<const Mapping> index;
            std::shared_ptr<const Mapping> value;
        };
        const auto both = std::make_shared<const Both>(Both{index_.map(), value_.map()});
        const Rows found = Rows::borrow(
            std::move(starts_),
            std::span(reinterpret_cast<const std::uint32_t*>(both->index->data()), index_.size()),
            std::span(reinterpret_cast<const T*>(both->value->data()), value_.size()), columns,
            both);
        release_rows(found, 0, found.size());  // they were looked at once
        return found;
    }

    /// Block by block with the zeros between the entries.
    Rows dense(std::size_t columns) {
        Store<T> values;
        if (static_cast<double>(rows()) * static_cast<double>(columns) * sizeof(T) >
            static_cast<double>(holding_.most)) {
            values.spill(holding_.folder, holding_.name);
        }
        const std::size_t block = std::max<std::size_t>(1, block_numbers / columns);
        std::vector<std::uint32_t> index;
        std::vector<T> value, filled;
        for (std::size_t first = 0; first < rows(); first += block) {
            const std::size_t count = std::min(block, rows() - first);
            const std::size_t entries = starts_[first + count] - starts_[first];
            index.resize(entries);
            value.resize(entries);
            index_.fetch(starts_[first], index);
            value_.fetch(starts_[first], value);
            filled.assign(count * columns, T{});
            std::size_t k = 0;
            for (std::size_t i = 0; i < count; ++i) {
                for (; k < starts_[first + i + 1] - starts_[first]; ++k) {
                    filled[i * columns + index[k]] = value[k];
                }
            }
            values.append(filled);
        }
        index_ = {};
        value_ = {};
        return dense_rows(values, columns);
    }

    static constexpr std::size_t block_numbers = std::size_t{1} << 21;

    const Input& input_;
    Holding holding_;
    Store<std::uint32_t> index_{};
    Store<T> value_{};
    std::vector<std::size_t> starts_{0};
    std::vector<double> labels_{};
    std::size_t width_ = 0;
    bool rounded_ = false;
    std::optional<SeenWord> labelled_{};
    std::optional<SeenWord> not_labelled_{};
};

template <class T>
Dataset gather(TextWindows& windows, const Input& whole, std::size_t piece, bool& rounded) {
    windows.rewind();
    SparseGatherer<T> rows(whole);
    std::vector<Piece<T>> pieces;
    while (windows.fetch()) {
        const Input window = windows.input();
        const std::vector<std::string_view> texts = cut_behind_lines(window.bytes, piece);
        pieces.resize(std::max(pieces.size(), texts.size()));
        parse_pieces(
            window, texts.size(), texts.size(),
            [&](std::size_t k) { PieceParser<T>(window, texts[k], pieces[k]).parse(); },
            [&](std::size_t, std::size_t) {
                rows.append(window, std::span(pieces).first(texts.size()));
            });
        windows.drop(window.bytes.size());
        // What will be read again need not be read to the end.
        if (whole.options.exact && rows.is_rounded() && sizeof(T) == sizeof(float)) break;
    }
    rounded = rows.is_rounded();
    if (whole.options.exact && rounded && sizeof(T) == sizeof(float)) return {};
    return rows.finish(windows.text_bytes());
}

}  // namespace

std::optional<Dataset> read_libsvm_text(TextWindows& windows, std::size_t piece) {
    const Input whole = windows.input();  // its name and options; there is no text yet
    return in_lean_precision(whole, [&](auto number, bool& rounded) {
        return std::optional(gather<decltype(number)>(windows, whole, piece, rounded));
    });
}

}  // namespace mercer::formats
