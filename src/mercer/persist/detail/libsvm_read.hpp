// Reading LIBSVM's model files. For libsvm_header.cpp and libsvm_read.cpp only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::persist {

struct Word {
    std::string_view text;
    std::size_t column = 0;  ///< from 1
};

/// The text line by line, each line word by word.
class LibsvmReader {
   public:
    LibsvmReader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

    /// Goes to the next line; false at the end.
    bool next_line() {
        if (rest_.empty()) return false;
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        ++number_;
        at_ = 0;
        return true;
    }

    /// The next word of the line; empty at its end.
    Word next_word() {
        while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
        const std::size_t first = at_;
        while (at_ < line_.size() && !is_blank(line_[at_])) ++at_;
        return {line_.substr(first, at_ - first), first + 1};
    }

    double number(const Word& word, const std::string& what) const {
        const auto value = parse_number(word.text);
        if (!value) fail(word, what + " must be a finite number, found " + shown(word));
        return *value;
    }

    std::size_t count(const Word& word, std::size_t low, std::size_t high,
                      const std::string& what) const {
        std::size_t value = 0;
        bool good = !word.text.empty() && word.text.size() <= 10;
        for (const char c : word.text) {
            good = good && c >= '0' && c <= '9';
            value = value * 10 + static_cast<std::size_t>(c - '0');
        }
        if (!good || value < low || value > high) {
            fail(word, what + " must be a whole number between " + std::to_string(low) + " and " +
                           std::to_string(high) + ", found " + shown(word));
        }
        return value;
    }

    static std::string shown(const Word& word) {
        return word.text.empty() ? "the end of the line" : quoted(word.text);
    }

    [[noreturn]] void fail(const Word& word, const std::string& message) const {
        throw InvalidInput(Location{name_, number_, word.column}, message);
    }
    [[noreturn]] void fail_line(const std::string& message) const {
        throw InvalidInput(Location{name_, number_, 0}, message);
    }
    /// Fails unless the line ends here.
    void end_line() {
        const Word word = next_word();
        if (!word.text.empty()) fail(word, "expected the end of the line, found " + shown(word));
    }

   private:
    static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

    std::string_view rest_;
    std::string_view line_{};
    std::size_t at_ = 0;
    std::size_t number_ = 0;
    const std::string& name_;
};

struct LibsvmHeader {
    std::string type;
    std::string kernel;
    std::map<std::string, std::vector<double>> numbers;  ///< of every key but these two

    bool has(const std::string& key) const { return numbers.contains(key); }
    bool classifies() const { return type == "c_svc" || type == "nu_svc"; }
};

/// The counts of the header, agreed with one another.
struct LibsvmCounts {
    std::size_t classes = 0;
    std::size_t total = 0;
    std::vector<std::size_t> group_sizes;  ///< lines of each class; one group without classes
};

/// Reads the lines up to and with "SV".
LibsvmHeader read_libsvm_header(LibsvmReader& in);

/// Checks the counts of the header against one another and against the size of the file, before
/// anything is made of them. `name` is for messages.
LibsvmCounts check_counts(const LibsvmHeader& header, std::size_t file_bytes,
                          const std::string& name);

/// Task, kernel, biases, classes and sigmoids of the model.
void fill_from_header(const LibsvmHeader& header, const LibsvmCounts& counts, ModelParts& model,
                      const std::string& name);

}  // namespace mercer::persist
