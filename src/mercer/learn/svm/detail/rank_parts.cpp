#include "mercer/learn/svm/detail/rank_parts.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <type_traits>

namespace mercer {
namespace {

/// Fewer parts than this for each rank are not shared out: some ranks would wait for long.
constexpr std::size_t parts_each = 2;

/// Values as bytes, one after another.
class Writer {
   public:
    template <class... Values>
    void operator()(const Values&... values) {
        (write(values), ...);
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }

   private:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void write(const T& value) {
        const auto* from = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), from, from + sizeof value);
    }
    template <class T>
    void write_all(const T& values) {
        write(values.size());
        for (const auto& value : values) write(value);
    }
    void write(const std::string& text) { write_all(text); }
    void write(const std::vector<double>& values) { write_all(values); }
    void write(const std::map<std::string, double>& values) {
        write(values.size());
        for (const auto& [name, value] : values) (*this)(name, value);
    }

    std::vector<std::byte> bytes_{};
};

/// And back.
class Reader {
   public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
    template <class... Values>
    void operator()(Values&... values) {
        (read(values), ...);
    }

   private:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void read(T& value) {
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_ = bytes_.subspan(sizeof value);
    }
    template <class T>
    void read_all(T& values) {
        std::size_t count = 0;
        read(count);
        values.resize(count);
        for (auto& value : values) read(value);
    }
    void read(std::string& text) { read_all(text); }
    void read(std::vector<double>& values) { read_all(values); }
    void read(std::map<std::string, double>& values) {
        std::size_t count = 0;
        read(count);
        values.clear();
        for (; count > 0; --count) {
            std::string name;
            read(name);
            read(values[name]);
        }
    }

    std::span<const std::byte> bytes_;
};

/// Every member, or it does not compile.
template <class Archive>
void pass(Archive& archive, Report& report) {
    auto& [name, status, convexity, least_curvature, curvature_error, primal, dual, gap,
           relative_gap, kkt_violation, infeasibility, margin, squared_norm, bias, rho, epsilon,
           radius, rows, free_support_vectors, bounded_support_vectors, margin_errors, nu,
           fraction_errors, fraction_support, iterations, kernel_evaluations, seconds, hull_weights,
           hull_distance, margin_bound, figures, history] = report;
    archive(name, status, convexity, least_curvature, curvature_error, primal, dual, gap,
            relative_gap, kkt_violation, infeasibility, margin, squared_norm, bias, rho, epsilon,
            radius, rows, free_support_vectors, bounded_support_vectors, margin_errors, nu,
            fraction_errors, fraction_support, iterations, kernel_evaluations, seconds,
            hull_weights, hull_distance, margin_bound, figures, history);
}

template <class Archive>
void pass(Archive& archive, PartResult& result) {
    auto& [learned, report, sigmoid, in_double] = result;
    auto& [beta, bias, rho, epsilon, radius] = learned;
    archive(beta, bias, rho, epsilon, radius, sigmoid, in_double);
    pass(archive, report);
}

/// The longest part goes to whoever has least so far, then the next.
std::vector<std::size_t> shared_out(const std::vector<Part>& parts, std::size_t ranks) {
    std::vector<std::size_t> order(parts.size()), rank_of(parts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto cost = [&](std::size_t part) {
        const auto rows = static_cast<double>(parts[part].problem.size());
        return rows * rows;
    };
    std::ranges::stable_sort(order, std::ranges::greater(), cost);
    std::vector<double> load(ranks, 0.0);
    for (const std::size_t part : order) {
        const auto least = std::ranges::min_element(load);
        *least += cost(part);
        rank_of[part] = static_cast<std::size_t>(least - load.begin());
    }
    return rank_of;
}

}  // namespace

RankParts::RankParts(Communicator* ranks, const std::vector<Part>& parts)
    : ranks_(ranks && ranks->size() > 1 ? ranks : nullptr) {
    if (!ranks_) return;
    // Parts of all rows have a store in common, and each finds in it what the last has left there.
    if (!parts.front().rows.is_all() && parts.size() >= parts_each * ranks_->size()) {
        rank_of_ = shared_out(parts, ranks_->size());
    } else {
        partners_.emplace(*ranks_);
    }
}

void RankParts::exchange(std::span<PartResult> results) const {
    if (rank_of_.empty()) return;
    Writer own;
    for (std::size_t part = 0; part < results.size(); ++part) {
        if (has(part)) pass(own, results[part]);
    }
    std::vector<std::size_t> sizes;
    const std::vector<std::byte> all =
        ranks_->all_gather(std::span<const std::byte>(own.bytes()), &sizes);
    std::vector<Reader> readers;
    std::size_t from = 0;
    for (const std::size_t size : sizes) {
        readers.emplace_back(std::span(all).subspan(from, size));
        from += size;
    }
    for (std::size_t part = 0; part < results.size(); ++part) {
        pass(readers[rank_of_[part]], results[part]);
    }
}

Wish RankParts::agreed(Wish own) const {
    if (!partners_) return own;
    for (const Wish& wish : ranks_->all_gather(std::span<const Wish>(&own, 1))) {
        own.stop = own.stop || wish.stop;
        own.late = own.late || wish.late;
    }
    return own;
}

}  // namespace mercer
