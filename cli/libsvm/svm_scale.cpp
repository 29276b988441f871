// svm-scale: LIBSVM's program. Its arithmetic and its text are kept to the last digit, so that
// files scaled by the one and the other are the same.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "cli/common/files.hpp"
#include "cli/common/output.hpp"
#include "cli/common/tell.hpp"
#include "cli/libsvm/libsvm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/source.hpp"

namespace mercer::cli {
namespace {

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    void see(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

/// From one range to another; its ends exactly to the ends.
double moved(double value, const Range& from, const Range& to) {
    if (value == from.low) return to.low;
    if (value == from.high) return to.high;
    return to.low + (to.high - to.low) * (value - from.low) / (from.high - from.low);
}

/// The scaling: features by their index, 0 included because LIBSVM lets it pass.
struct Factors {
    Range target{-1, 1};
    std::vector<Range> feature{};
    bool scales_y = false;
    Range y{};
    Range y_target{};
};

struct ScaleOrder {
    Factors factors{};
    std::string save{};
    std::string restore{};
    std::string input{};
};

/// LIBSVM 3.24 as Debian builds it takes the limits in single precision.
double limit(LibsvmArguments& arguments) {
    return static_cast<double>(static_cast<float>(arguments.number()));
}

ScaleOrder read_scale_order(const std::vector<std::string>& words) {
    LibsvmArguments arguments(words);
    ScaleOrder order;
    for (std::string option; !(option = arguments.next_option()).empty();) {
        switch (option.size() < 2 ? '?' : option[1]) {
            case 'l': order.factors.target.low = limit(arguments); break;
            case 'u': order.factors.target.high = limit(arguments); break;
            case 'y':
                order.factors.y_target.low = limit(arguments);
                order.factors.y_target.high = limit(arguments);
                order.factors.scales_y = true;
                break;
            case 's': order.save = arguments.text(); break;
            case 'r': order.restore = arguments.text(); break;
            default: throw LibsvmUsage{"unknown option"};
        }
    }
    const Factors& f = order.factors;
    if (!(f.target.high > f.target.low) || (f.scales_y && !(f.y_target.high > f.y_target.low))) {
        throw LibsvmFailure{"inconsistent lower/upper specification"};
    }
    if (!order.save.empty() && !order.restore.empty()) {
        throw LibsvmFailure{"cannot use -r and -s simultaneously"};
    }
    const std::vector<std::string> files = arguments.files();
    if (files.size() != 1) throw LibsvmUsage{};
    order.input = files[0];
    return order;
}

void check_memory(std::size_t columns) {
    if (columns < physical_memory() / (4 * sizeof(Range))) return;
    throw LibsvmFailure{fmt::format("ERROR: index {} is too large for this machine", columns - 1)};
}

/// Entries that are not written are zeros, and seen as such.
void find_ranges(const Dataset& data, Factors& factors) {
    check_memory(data.columns());
    factors.feature.assign(data.columns(), Range{});
    std::vector<std::size_t> seen(data.columns(), 0);
    const SparseView<double> rows = data.x.sparse_view<double>();
    for (std::size_t i = 0; i < rows.rows; ++i) {
        const auto index = rows.row_index(i);
        for (std::size_t k = 0; k < index.size(); ++k) {
            factors.feature[index[k]].see(rows.row_value(i)[k]);
            ++seen[index[k]];
        }
    }
    for (std::size_t j = 0; j < data.columns(); ++j) {
        if (seen[j] < data.size()) factors.feature[j].see(0);
    }
    for (const double y : data.y.values) factors.y.see(y);
}

/// Words of a scaling file, one after another.
class Words {
   public:
    Words(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

    std::string_view next() {
        const std::size_t first = std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size());
        const std::size_t last = std::min(rest_.find_first_of(" \t\r\n", first), rest_.size());
        const std::string_view word = rest_.substr(first, last - first);
        rest_.remove_prefix(last);
        return word;
    }
    double number() { return number(next()); }
    double number(std::string_view word) {
        const auto value = parse_number(word);
        if (!value) fail(word);
        return *value;
    }
    [[noreturn]] void fail(std::string_view word) {
        throw LibsvmFailure{fmt::format("ERROR: {} is no file of scaling factors: found {}", path_,
                                        mercer::quoted(word))};
    }

   private:
    std::string_view rest_;
    const std::string& path_;
};

/// Replaces what was found in the data by what is in the file; says which features it lacks.
void restore(const ScaleOrder& order, Factors& factors) {
    check_opens(order.restore, "file");
    const Content content = read_bytes(order.restore);
    Words words(content.view(), order.restore);
    std::string_view word = words.next();
    if (word == "y") {
        factors.y_target.low = words.number();
        factors.y_target.high = words.number();
        factors.y.low = words.number();
        factors.y.high = words.number();
        factors.scales_y = true;
        word = words.next();
    }
    if (word != "x") words.fail(word);
    factors.target.low = words.number();
    factors.target.high = words.number();
    std::vector<Range> known(factors.feature.size(), Range{0, 0});
    std::vector<bool> listed(factors.feature.size(), false);
    for (word = words.next(); !word.empty(); word = words.next()) {
        const double index = words.number(word);
        if (!(index >= 1 && index < 2147483648.0) || index != std::floor(index)) words.fail(word);
        const auto j = static_cast<std::size_t>(index);
        check_memory(j + 1);
        if (j >= known.size()) known.resize(j + 1, Range{0, 0});
        if (j >= listed.size()) listed.resize(j + 1, false);
        known[j].low = words.number();
        known[j].high = words.number();
        listed[j] = true;
    }
    for (std::size_t j = 1; j < factors.feature.size(); ++j) {
        if (listed[j] || factors.feature[j].low == factors.feature[j].high) continue;
        tell(
            "WARNING: feature index {} appeared in file {} was not seen in the scaling "
            "factor file {}. The feature is scaled to 0.\n",
            j, order.input, order.restore);
    }
    if (!factors.feature.empty()) known[0] = factors.feature[0];
    factors.feature = std::move(known);
}

void save(const ScaleOrder& order, const Factors& f, bool zero_index) {
    std::string text;
    if (f.scales_y) {
        text += fmt::format("y\n{:.17g} {:.17g}\n{:.17g} {:.17g}\n", f.y_target.low,
                            f.y_target.high, f.y.low, f.y.high);
    }
    text += fmt::format("x\n{:.17g} {:.17g}\n", f.target.low, f.target.high);
    for (std::size_t j = 1; j < f.feature.size(); ++j) {
        const Range& range = f.feature[j];
        if (range.low != range.high) {
            text += fmt::format("{} {:.17g} {:.17g}\n", j, range.low, range.high);
        }
    }
    if (zero_index) {
        tell(
            "WARNING: scaling factors with indices smaller than 1 are not stored to the "
            "file {}.\n",
            order.save);
    }
    try {
        const InterruptLater later(order.save);
        write_whole(order.save, [&](Output& out) { out.write(text); });
    } catch (const InvalidInput& error) {
        throw LibsvmFailure{fmt::format("can't open file {}\n{}", order.save, error.what())};
    }
}

/// As printf's %.<digits>g.
void append_number(std::string& text, double value, int digits) {
    char buffer[40];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits);
    text.append(buffer, end.ptr);
}

/// Prints the rows; how many entries other than 0 there were.
std::size_t print_rows(const Dataset& data, const Factors& f, std::size_t first) {
    const SparseView<double> rows = data.x.sparse_view<double>();
    // A feature whose zeros stay zeros needs a visit only where it has an entry.
    std::vector<std::size_t> restless;
    for (std::size_t j = first; j < f.feature.size(); ++j) {
        const Range& range = f.feature[j];
        if (range.low != range.high && moved(0, range, f.target) != 0) restless.push_back(j);
    }
    std::size_t nonzeros = 0;
    std::string text;
    for (std::size_t i = 0; i < rows.rows; ++i) {
        const double y = data.y.values[i];
        append_number(text, f.scales_y ? moved(y, f.y, f.y_target) : y, 17);
        text += ' ';
        const auto put = [&](std::size_t j, double value) {
            const Range& range = f.feature[j];
            if (range.low == range.high) return;
            const double scaled = moved(value, range, f.target);
            if (scaled == 0) return;
            text += std::to_string(j) + ':';
            append_number(text, scaled, 6);
            text += ' ';
            ++nonzeros;
        };
        const auto index = rows.row_index(i);
        auto next = restless.begin();
        for (std::size_t k = 0; k < index.size(); ++k) {
            for (; next != restless.end() && *next < index[k]; ++next) put(*next, 0);
            if (next != restless.end() && *next == index[k]) ++next;
            put(index[k], rows.row_value(i)[k]);
        }
        for (; next != restless.end(); ++next) put(*next, 0);
        text += '\n';
        if (text.size() > 60'000) {
            say("{}", text);
            text.clear();
        }
    }
    say("{}", text);
    return nonzeros;
}

}  // namespace

int svm_scale(const std::vector<std::string>& words) {
    const ScaleOrder order = read_scale_order(words);
    check_opens(order.input, "file");
    check_files({{"data_filename", order.input, FileUse::input},
                 {"-r", order.restore, FileUse::input},
                 {"-s", order.save, FileUse::data}});
    const Content content = read_bytes(order.input);
    const Dataset data = read_libsvm_data(content.view(), order.input);
    Factors factors = order.factors;
    find_ranges(data, factors);
    const Range none{0, 0};
    const Range& zeroth = factors.feature.empty() ? none : factors.feature[0];
    const bool zero_index = zeroth.low != 0 || zeroth.high != 0;
    if (zero_index) {
        tell("WARNING: minimal feature index is 0, but indices should start from 1\n");
    }
    if (!order.restore.empty()) restore(order, factors);
    if (!order.save.empty()) save(order, factors, zero_index);
    const std::size_t after = print_rows(data, factors, zero_index ? 0 : 1);
    // Entries written as 0 count too, and are no longer in the data.
    const auto before = static_cast<std::size_t>(std::ranges::count(content.view(), ':'));
    if (after > before) {
        tell(
            "WARNING: original #nonzeros {}\n       > new      #nonzeros {}\n"
            "If feature values are non-negative and sparse, use -l 0 rather than the "
            "default -l -1\n",
            before, after);
    }
    return 0;
}

}  // namespace mercer::cli
