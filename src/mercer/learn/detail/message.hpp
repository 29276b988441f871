// What ranks tell one another of machines: values as bytes, one after another, and back. Both sides
// are one program, so that nothing is checked.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "mercer/dist/communicator.hpp"
#include "mercer/learn/report.hpp"

namespace mercer {

class MessageWriter {
   public:
    template <class... Values>
    void operator()(const Values&... values) {
        (write(values), ...);
    }
    std::span<const std::byte> bytes() const { return bytes_; }

   private:
    void append(const void* from, std::size_t count) {
        const auto* const first = static_cast<const std::byte*>(from);
        bytes_.insert(bytes_.end(), first, first + count);
    }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void write(const T& value) { append(&value, sizeof value); }
    void write(const std::string& text) {
        write(text.size());
        append(text.data(), text.size());
    }
    template <class T>
    void write(const std::vector<T>& values) {
        write(values.size());
        if constexpr (std::is_trivially_copyable_v<T>) {
            append(values.data(), values.size() * sizeof(T));
        } else {
            for (const T& value : values) write(value);
        }
    }
    void write(const std::map<std::string, double>& values) {
        write(values.size());
        for (const auto& [name, value] : values) (*this)(name, value);
    }

    std::vector<std::byte> bytes_{};
};

class MessageReader {
   public:
    explicit MessageReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
    template <class... Values>
    void operator()(Values&... values) {
        (read(values), ...);
    }
    bool is_at_end() const { return bytes_.empty(); }

   private:
    void take(void* to, std::size_t count) {
        if (count > 0) std::memcpy(to, bytes_.data(), count);
        bytes_ = bytes_.subspan(count);
    }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void read(T& value) { take(&value, sizeof value); }
    std::size_t read_count() {
        std::size_t count = 0;
        read(count);
        return count;
    }
    void read(std::string& text) {
        text.resize(read_count());
        take(text.data(), text.size());
    }
    template <class T>
    void read(std::vector<T>& values) {
        values.resize(read_count());
        if constexpr (std::is_trivially_copyable_v<T>) {
            take(values.data(), values.size() * sizeof(T));
        } else {
            for (T& value : values) read(value);
        }
    }
    void read(std::map<std::string, double>& values) {
        values.clear();
        for (std::size_t count = read_count(); count > 0; --count) {
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

/// What all ranks have written, of which `use` gets a reader for each rank's, that of rank 0 first.
template <class Use>
void exchange_messages(Communicator& ranks, const MessageWriter& own, const Use& use) {
    std::vector<std::size_t> sizes;
    const std::vector<std::byte> all = ranks.all_gather(own.bytes(), &sizes);
    std::vector<MessageReader> readers;
    std::size_t from = 0;
    for (const std::size_t size : sizes) {
        readers.emplace_back(std::span(all).subspan(from, size));
        from += size;
    }
    use(readers);
}

}  // namespace mercer
