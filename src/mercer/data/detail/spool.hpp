// Rows that do not fit memory wait in a temporary file without a name: whatever ends the program,
// nothing of it is left behind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mercer/data/detail/mapping.hpp"

namespace mercer {

/// A file that grows at its end, in a folder (`spool_folder` of data/source.hpp). `name` is the
/// data it belongs to, for messages. Throws NoRoom when the folder takes no file, or no more of it.
class Spool {
   public:
    Spool(std::string folder, std::string name);
    Spool(Spool&& other) noexcept;
    Spool& operator=(Spool&&) = delete;
    ~Spool();

    void append(const void* bytes, std::size_t size);
    std::size_t size() const { return size_; }
    /// Bytes at a place, read or written over. They must be there.
    void fetch(std::size_t offset, void* out, std::size_t size) const;
    void replace(std::size_t offset, const void* bytes, std::size_t size);
    /// All of it, at least one byte. What is written later is not seen.
    std::shared_ptr<const Mapping> map() const;

   private:
    [[noreturn]] void fail(int error) const;

    std::string folder_;
    std::string name_;
    int descriptor_ = -1;
    std::size_t size_ = 0;
};

/// Numbers of one type, added one after another: in memory, and from spill() on in a temporary
/// file.
template <class T>
class Store {
   public:
    void append(std::span<const T> values) {
        count_ += values.size();
        if (spool_) return spool_->append(values.data(), values.size_bytes());
        while (!values.empty()) {
            if (used_ == chunk_items) {
                chunks_.push_back(std::make_unique_for_overwrite<T[]>(chunk_items));
                used_ = 0;
            }
            const std::size_t taken = std::min(values.size(), chunk_items - used_);
            std::copy_n(values.data(), taken, chunks_.back().get() + used_);
            used_ += taken;
            values = values.subspan(taken);
        }
    }

    std::size_t size() const { return count_; }
    std::size_t bytes() const { return count_ * sizeof(T); }
    bool is_spilled() const { return spool_ != nullptr; }

    void spill(const std::string& folder, const std::string& name) {
        if (spool_) return;
        auto spool = std::make_unique<Spool>(folder, name);
        for (std::size_t k = 0; k < chunks_.size(); ++k) {
            spool->append(chunks_[k].get(), items_of(k) * sizeof(T));
            chunks_[k].reset();
        }
        chunks_.clear();
        used_ = chunk_items;
        spool_ = std::move(spool);
    }

    /// The numbers from `first` on into `out`.
    void fetch(std::size_t first, std::span<T> out) const {
        if (spool_) return spool_->fetch(first * sizeof(T), out.data(), out.size_bytes());
        for (std::size_t done = 0; done < out.size();) {
            const std::size_t at = first + done;
            const std::size_t here = std::min(out.size() - done, chunk_items - at % chunk_items);
            std::copy_n(chunks_[at / chunk_items].get() + at % chunk_items, here,
                        out.data() + done);
            done += here;
        }
    }
    void replace(std::size_t first, std::span<const T> values) {
        if (spool_) return spool_->replace(first * sizeof(T), values.data(), values.size_bytes());
        for (std::size_t k = 0; k < values.size(); ++k) {
            chunks_[(first + k) / chunk_items][(first + k) % chunk_items] = values[k];
        }
    }

    /// All numbers in memory, where they have been so far; the store is empty afterwards.
    std::vector<T> take() {
        std::vector<T> all;
        all.reserve(count_);
        for (std::size_t k = 0; k < chunks_.size(); ++k) {
            all.insert(all.end(), chunks_[k].get(), chunks_[k].get() + items_of(k));
            chunks_[k].reset();
        }
        *this = Store();
        return all;
    }
    /// Of a store that was spilled, and has some.
    std::shared_ptr<const Mapping> map() const { return spool_->map(); }

   private:
    /// Above 32 MiB glibc gives memory back to the system as soon as it is not used any more.
    static constexpr std::size_t chunk_items = (std::size_t{33} << 20) / sizeof(T);

    std::size_t items_of(std::size_t chunk) const {
        return chunk + 1 == chunks_.size() ? used_ : chunk_items;
    }

    std::vector<std::unique_ptr<T[]>> chunks_{};
    std::size_t used_ = chunk_items;  ///< of the last chunk
    std::size_t count_ = 0;
    std::unique_ptr<Spool> spool_{};
};

}  // namespace mercer
