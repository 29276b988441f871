#include "mercer/gram/locality/detail/local_operator.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace mercer {

template <class T>
void LocalOperator<T>::tile(std::span<const std::size_t> which,
                            std::span<const std::size_t> columns, MatrixView<T> out) const {
    if (which.empty() || columns.empty()) return;
    std::vector<std::size_t> places(columns.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::stable_sort(places, {}, [&](std::size_t c) { return columns[c]; });
    std::vector<std::size_t> ascending;
    for (const std::size_t c : places) ascending.push_back(columns[c]);
    this->evaluations_ +=
        this->gram_.near_block(this->gram_.select_among(this->points_, which, false),
                               this->gram_.select_among(this->points_, ascending), places, out);
}

template <class T>
void LocalOperator<T>::add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                                const Columns& columns, const Announcement& again,
                                std::span<double> sums) const {
    if (!partners_ || sums.size() <= this->gram_.strip()) {
        return GramOperator<T>::add_rows(which, weights, columns, again, sums);
    }
    if (which.empty()) return;
    const std::uint64_t computed =
        this->gram_.add_product(this->points_, which, this->columns_of(columns), weights, sums,
                                {partners_->number(), partners_->count()});
    this->evaluations_ += join(sums, computed);
}

/// The sums of each one's strips, told to all; returns how many values all have computed.
template <class T>
std::uint64_t LocalOperator<T>::join(std::span<double> sums, std::uint64_t computed) const {
    const std::size_t strip = this->gram_.strip();
    const auto each_strip = [&](std::size_t number, auto&& use) {
        for (std::size_t first = number * strip; first < sums.size();
             first += partners_->count() * strip) {
            use(sums.subspan(first, std::min(strip, sums.size() - first)));
        }
    };
    std::vector<double> own{static_cast<double>(computed)};
    each_strip(partners_->number(),
               [&](std::span<double> some) { own.insert(own.end(), some.begin(), some.end()); });
    std::vector<std::size_t> bytes(partners_->count(), sizeof(double));
    for (std::size_t p = 0; p < bytes.size(); ++p) {
        each_strip(p, [&](std::span<double> some) { bytes[p] += some.size_bytes(); });
    }
    std::vector<double> heard(sums.size() + partners_->count());
    partners_->gather(std::as_bytes(std::span<const double>(own)), bytes,
                      std::as_writable_bytes(std::span(heard)));
    const double* from = heard.data();
    double all = 0;
    for (std::size_t p = 0; p < bytes.size(); ++p) {
        all += *from++;
        each_strip(p, [&](std::span<double> some) {
            std::copy_n(from, some.size(), some.begin());
            from += some.size();
        });
    }
    return static_cast<std::uint64_t>(all);
}

template class LocalOperator<float>;
template class LocalOperator<double>;

}  // namespace mercer
