#include "mercer/data/formats/detail/windows.hpp"

#include <cstring>

#include "mercer/base/text.hpp"

namespace mercer::formats {
namespace {

constexpr std::size_t most_for_lines = std::size_t{16} << 20;

std::size_t newlines_in(std::string_view text) {
    std::size_t count = 0;
    while (const void* found =
               text.empty() ? nullptr : std::memchr(text.data(), '\n', text.size())) {
        text.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) +
                           1);
        ++count;
    }
    return count;
}

}  // namespace

TextWindows::TextWindows(ByteSource& source, const ReadOptions& options, std::size_t bytes)
    : source_(source), options_(options), progress_(options.progress), bytes_(bytes) {
    options_.progress = {};
    rewind();
}

void TextWindows::rewind() {
    source_.rewind();
    buffer_.clear();
    begin_ = end_ = lines_before_ = total_ = 0;
    dropped_ = 1;
    over_ = false;
    first_ = true;
}

/// A line that goes on behind the buffer's end, `begun` bytes of it there, is too long to be one.
void TextWindows::refuse_line(std::size_t begun) {
    std::size_t length = begun;
    std::string more(std::size_t{1} << 20, '\0');
    for (std::size_t got = source_.read(more.data(), more.size()); got > 0;
         got = source_.read(more.data(), more.size())) {
        const std::size_t newline = std::string_view(more).substr(0, got).find('\n');
        length += std::min(newline, got);
        if (newline != std::string_view::npos) break;
    }
    const std::string_view before(buffer_.data() + begin_, buffer_.size() - begun - begin_);
    throw InvalidInput(Location{source_.name(), lines_before_ + newlines_in(before) + 1, 1},
                       long_line(length, options_.longest_line));
}

bool TextWindows::has_lines(std::size_t count) const {
    const std::string_view text = std::string_view(buffer_).substr(begin_);
    if (text.size() >= most_for_lines) return true;
    return newlines_in(text) >= count;
}

bool TextWindows::fetch(std::size_t least_lines) {
    if (!keep_going(progress_, {.task = "reading", .fraction = source_.fraction()})) {
        throw Cancelled();
    }
    if (dropped_ == 0 && buffer_.size() > options_.longest_line) {
        throw InvalidInput(Location{source_.name(), lines_before_ + 1, 1},
                           "found a row that does not end in " + std::to_string(buffer_.size()) +
                               " bytes, expected a quote that closes the one opened in it");
    }
    buffer_.erase(0, begin_);
    begin_ = 0;
    // Where a row did not end in the last window, more of it is wanted.
    const std::size_t wanted = dropped_ == 0 ? buffer_.size() + bytes_ : bytes_;
    std::size_t newline = std::string_view::npos;
    while (!over_) {
        const std::size_t size = buffer_.size();
        const std::size_t room = std::max(size < wanted ? wanted - size : 0, bytes_ / 4 + 1);
        buffer_.resize(size + room);
        const std::size_t got = source_.read(buffer_.data() + size, room);
        buffer_.resize(size + got);
        if (first_ && buffer_.size() >= 3) {
            if (buffer_.starts_with("\xEF\xBB\xBF")) buffer_.erase(0, 3);
            first_ = false;
        }
        if (got == 0) {
            over_ = true;
            if (!buffer_.empty() && buffer_.back() != '\n') buffer_ += '\n';
        }
        newline = buffer_.rfind('\n');
        const std::size_t open = buffer_.size() - (newline == std::string::npos ? 0 : newline + 1);
        if (open > options_.longest_line) refuse_line(open);
        const bool more = dropped_ > 0 || newline == std::string::npos || newline + 1 > end_;
        if (buffer_.size() >= wanted && newline != std::string::npos && more &&
            (least_lines <= 1 || has_lines(least_lines))) {
            break;
        }
    }
    newline = buffer_.rfind('\n');
    end_ = newline == std::string::npos ? 0 : newline + 1;
    dropped_ = 0;
    return end_ > 0;
}

Input TextWindows::input() const {
    return {.bytes = std::string_view(buffer_).substr(begin_, end_ - begin_),
            .name = source_.name(),
            .options = options_,
            .lines_before = lines_before_};
}

void TextWindows::drop(std::size_t bytes) {
    lines_before_ += newlines_in(std::string_view(buffer_).substr(begin_, bytes));
    begin_ += bytes;
    dropped_ += bytes;
    total_ += bytes;
}

void LabelGatherer::append(const Input& window, LabelColumn&& column) {
    if (!first_number_ && column.first_number != nullptr) {
        first_number_.emplace(window, column.first_number);
    }
    if (!first_name_ && column.first_name != nullptr) {
        first_name_.emplace(window, column.first_name);
    }
    if (first_number_ && first_name_) return;  // a mistake; what else there is does not matter
    values_.insert(values_.end(), column.values.begin(), column.values.end());
    for (std::string& name : column.names) {
        const auto [found, fresh] = places_.try_emplace(name, names_.size());
        if (fresh) names_.push_back(std::move(name));
        values_.push_back(static_cast<double>(found->second));
    }
}

Labels LabelGatherer::finish() {
    if (first_number_ && first_name_) {
        const bool name_later = *first_number_ < *first_name_;
        const SeenWord& later = name_later ? *first_name_ : *first_number_;
        throw InvalidInput(later.where, mixed_labels(later.word, name_later));
    }
    if (names_.empty()) return {.values = std::move(values_), .names = {}};
    places_.clear();
    const Labels places = labels_from_names(names_);
    for (double& value : values_) value = places.values[static_cast<std::size_t>(value)];
    return {.values = std::move(values_), .names = places.names};
}

}  // namespace mercer::formats
