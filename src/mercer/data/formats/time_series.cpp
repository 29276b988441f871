// .ts, the text of sktime and of the UEA and UCR archives: lines that begin with @ say what follows
// @data, then one case a line, its dimensions separated by colons, numbers by commas, the class
// behind the last colon. Series of one length become rows of numbers, moment by moment; of several
// lengths, rows that begin with the number of moments (`counted=true` of the kernels on series).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return text.substr(text.size());
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The part up to a separator, which is taken off together with it.
std::string_view taken(std::string_view& text, char separator) {
    const std::size_t at = text.find(separator);
    const std::string_view part = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
    return part;
}

std::string lower(std::string_view word) {
    std::string result(word);
    for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return result;
}

class SeriesParser {
   public:
    explicit SeriesParser(const Input& input) : input_(input) {}

    Dataset parse() {
        for (const char* p = input_.begin(); p != input_.end();) {
            const auto left = static_cast<std::size_t>(input_.end() - p);
            const auto* end = static_cast<const char*>(std::memchr(p, '\n', left));
            const std::string_view line(p, static_cast<std::size_t>(end - p));
            if (line.size() > input_.options.longest_line) throw Mistake{p, ""};
            const std::string_view text = trimmed(line);
            p = end + 1;
            if (text.empty() || text.starts_with('#') || text.starts_with('%')) continue;
            if (!data_) {
                header(text);
            } else {
                series(text);
            }
        }
        if (!data_) fail(input_, "has no line @data, behind which the series begin");
        if (moments_.empty()) fail(input_, "holds no series behind @data");
        Dataset data;
        data.x = rows();
        if (labelled_) data.y = labels_from(input_, std::move(labels_));
        return data;
    }

   private:
    void header(std::string_view text) {
        if (!text.starts_with('@')) {
            throw Mistake{text.data(), "found " + word_at(input_, text.data()) +
                                           ", expected a line that begins with @, the last @data"};
        }
        std::string_view rest = text.substr(1);
        const std::string word = lower(taken(rest, ' '));
        const std::string_view value = trimmed(rest);
        const bool yes = lower(value.substr(0, value.find(' '))) == "true";
        if (word == "data") data_ = true;
        if (word == "timestamps" && yes) {
            throw Mistake{text.data(),
                          "found series with times of their own, expected numbers alone; write the "
                          "times as one more dimension"};
        }
        if (word == "classlabel" || word == "targetlabel") labelled_ = labelled_ || yes;
    }

    void series(std::string_view text) {
        if (labelled_) {
            const std::size_t at = text.rfind(':');
            if (at == std::string_view::npos) {
                throw Mistake{text.data(), "found no colon, expected a class behind the last"};
            }
            label(trimmed(text.substr(at + 1)));
            text = text.substr(0, at);
        }
        const std::size_t first = numbers_.size();
        std::size_t width = 0;
        std::size_t moments = 0;
        for (std::string_view rest = text; width == 0 || !rest.empty(); ++width) {
            const std::string_view dimension = taken(rest, ':');
            const std::size_t before = numbers_.size();
            add_numbers(dimension);
            const std::size_t count = numbers_.size() - before;
            if (width == 0) moments = count;
            if (count != moments) {
                throw Mistake{dimension.data(), "found " + std::to_string(count) +
                                                    " moments in dimension " +
                                                    std::to_string(width + 1) + ", expected " +
                                                    std::to_string(moments) + " as in the first"};
            }
        }
        if (moments_.empty()) width_ = width;
        if (width != width_) {
            throw Mistake{text.data(), "found " + std::to_string(width) + " dimensions, expected " +
                                           std::to_string(width_) + " as in the series before"};
        }
        by_moments(first, moments);
        moments_.push_back(moments);
    }

    void label(std::string_view text) {
        if (text.empty()) throw Mistake{text.data(), "found no class behind the last colon"};
        const std::optional<double> number =
            input_.options.text_labels ? std::nullopt : parse_number(text);
        if (number) {
            labels_.add(*number, text.data());
        } else {
            labels_.add(std::string(text), text.data());
        }
    }

    void add_numbers(std::string_view text) {
        while (!text.empty()) {
            const std::string_view field = trimmed(taken(text, ','));
            if (field == "?" || lower(field) == "nan") {
                if (input_.options.missing == MissingValues::refuse) {
                    throw Mistake{field.data(),
                                  "found a missing value, expected a number; to fill in missing "
                                  "values set `missing=mean`, median or zero"};
                }
                missing_ = true;
                numbers_.push_back(std::numeric_limits<double>::quiet_NaN());
                continue;
            }
            const std::optional<double> number = parse_number(field);
            if (!number || !std::isfinite(*number)) {
                throw Mistake{field.data(), "found " + word_at(input_, field.data()) +
                                                ", expected a finite number"};
            }
            numbers_.push_back(*number);
        }
    }

    /// The numbers from `first` on stand dimension by dimension, and are wanted moment by moment.
    void by_moments(std::size_t first, std::size_t moments) {
        if (width_ == 1) return;
        const std::vector<double> was(numbers_.begin() + static_cast<std::ptrdiff_t>(first),
                                      numbers_.end());
        for (std::size_t d = 0; d < width_; ++d) {
            for (std::size_t t = 0; t < moments; ++t) {
                numbers_[first + t * width_ + d] = was[d * moments + t];
            }
        }
    }

    /// Room for so many moments, and whether rows say how many they have. A model tells by the
    /// columns it was trained on.
    std::pair<std::size_t, bool> layout() const {
        const auto [least, most] = std::ranges::minmax(moments_);
        const std::size_t known = input_.options.known ? input_.options.known->features : 0;
        if (known > 1 && !(least == most && most * width_ == known) && (known - 1) % width_ == 0 &&
            most <= (known - 1) / width_) {
            return {(known - 1) / width_, true};
        }
        return {most, least != most};
    }

    Rows rows() const {
        const auto [room, counted] = layout();
        const std::size_t lead = counted ? 1 : 0;
        const std::size_t columns = lead + room * width_;
        if (columns == 0) fail(input_, "holds series without any moment");
        check_memory(input_, moments_.size(), columns, sizeof(double));
        std::vector<double> values(moments_.size() * columns, 0.0);
        std::size_t from = 0;
        for (std::size_t i = 0; i < moments_.size(); ++i) {
            double* row = values.data() + i * columns;
            if (counted) *row++ = static_cast<double>(moments_[i]);
            std::copy_n(numbers_.data() + from, moments_[i] * width_, row);
            from += moments_[i] * width_;
        }
        if (missing_) {
            fill_missing(input_, values, columns,
                         [](std::size_t j) { return std::to_string(j + 1); });
        }
        return Rows::dense(std::move(values), columns);
    }

    const Input& input_;
    bool data_ = false;
    bool labelled_ = false;
    bool missing_ = false;
    std::size_t width_ = 1;
    std::vector<std::size_t> moments_{};  ///< of each series
    std::vector<double> numbers_{};       ///< of all, moment by moment
    LabelColumn labels_{};
};

bool is_heading(std::string_view line) {
    const std::string word = lower(trimmed(line).substr(0, 14));
    return word.starts_with("@problemname") || word.starts_with("@timestamps") ||
           word.starts_with("@univariate") || word.starts_with("@classlabel") ||
           word.starts_with("@targetlabel");
}

}  // namespace

Format time_series() {
    return {.name = "ts",
            .title = "time series (.ts)",
            .about =
                "series as sktime and the UEA archive have them, one a line behind @data; of "
                "several lengths as counted rows",
            .suffixes = {".ts"},
            .recognise =
                [](const Input& input) {
                    Match match = match_line(input, is_heading);
                    if (match.certainty != Certainty::none) match.certainty = Certainty::certain;
                    return match;
                },
            .read =
                [](const Input& input) {
                    try {
                        return SeriesParser(input).parse();
                    } catch (const Mistake& mistake) {
                        fail_mistake(input, mistake);
                    }
                },
            .uses = {.text_labels = true, .missing = true}};
}

}  // namespace mercer::formats
