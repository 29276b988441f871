// Several processes, or ranks, that learn one machine together, each from its own rows.
//
// Every rank runs the same program on its part of the rows (`own_rows`), and says so while it
// learns:
//
//   auto ranks = ranks_of_this_run();        // of mpirun; one alone without
//   const SpreadOver spread(*ranks);
//   const RowRange own = own_rows(*ranks, total);
//   Model model = machine.fit(rows_of(own));  // the same on every rank
//
// Machines that learn in the span of some rows (`approximate`) can be spread so, and support vector
// machines of all rows, which every rank then has; others refuse. What is added up is added in the
// order of one tree, so that the model has the same bits for any number of ranks.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/read.hpp"

namespace mercer MERCER_API {

/// Thrown on all ranks when one of them has failed, with its message and its exit code.
class RankFailed : public std::runtime_error {
   public:
    RankFailed(std::size_t rank, int code, const std::string& message)
        : std::runtime_error(message), rank_(rank), code_(code) {}
    std::size_t rank() const { return rank_; }  ///< the one that failed
    int code() const { return code_; }

   private:
    std::size_t rank_;
    int code_;
};

/// The ranks of a run. All of them must call the same functions in the same order, each from one
/// thread. Every exchange begins with all ranks saying that they are well: one that is not ends
/// it on all, so that nobody waits for a rank that will not come.
class Communicator {
   public:
    virtual ~Communicator() = default;
    virtual std::size_t rank() const = 0;  ///< of this one, from 0
    virtual std::size_t size() const = 0;  ///< how many there are

    /// The values of all ranks, those of rank 0 first. Each may have another number of them, which
    /// goes into `counts` unless that is null.
    template <class T>
    std::vector<T> all_gather(std::span<const T> own, std::vector<std::size_t>* counts = nullptr) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::vector<std::size_t> sizes;
        const std::vector<std::byte> bytes = gather_bytes(std::as_bytes(own), sizes);
        std::vector<T> values(bytes.size() / sizeof(T));
        if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
        for (std::size_t& size : sizes) size /= sizeof(T);
        if (counts) *counts = std::move(sizes);
        return values;
    }

    /// The same where all know how many bytes each has: straight into their places.
    void gather_to(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                   std::span<std::byte> all);

    /// What each has to say, told to rank 0 alone, which gets those of all one after another; the
    /// others get nothing.
    template <class T>
    std::vector<T> gather_at_first(std::span<const T> own,
                                   std::vector<std::size_t>* counts = nullptr) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::size_t bytes = own.size_bytes();
        std::vector<std::size_t> sizes = all_gather(std::span<const std::size_t>(&bytes, 1));
        std::size_t sum = 0;
        for (const std::size_t size : sizes) sum += size;
        std::vector<T> all(rank() == 0 ? sum / sizeof(T) : 0);
        to_first(std::as_bytes(own), sizes, std::as_writable_bytes(std::span(all)));
        for (std::size_t& size : sizes) size /= sizeof(T);
        if (counts) *counts = std::move(sizes);
        return all;
    }

    /// The values of rank 0 take the place of those of the others.
    template <class T>
    void broadcast(std::span<T> values) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (size() == 1) return;
        std::vector<std::size_t> sizes;
        const auto own = std::as_bytes(values).first(rank() == 0 ? values.size_bytes() : 0);
        const std::vector<std::byte> all = gather_bytes(own, sizes);
        if (rank() > 0) std::memcpy(values.data(), all.data(), values.size_bytes());
    }

    /// Sends sent_counts[r] of the values to rank r, one rank's after another's, and receives from
    /// each as many as `received_counts` says; all counts must agree.
    void all_to_all(std::span<const double> sent, std::span<const std::size_t> sent_counts,
                    std::span<double> received, std::span<const std::size_t> received_counts);

    /// Returns when all ranks have come here.
    void barrier();

    /// This rank wants all to stop: waits until the others begin an exchange, in which they throw
    /// Cancelled. The caller then does the same.
    void stop();
    /// Whether some rank has wanted to since `resume` was called.
    bool stopped() const { return stopped_; }
    void resume() { stopped_ = false; }
    /// This rank cannot go on: waits for the others likewise, which throw RankFailed. Says which
    /// rank's failure was passed on: that of the lowest which failed at the same time.
    std::size_t fail(int code, const std::string& message);

   protected:
    /// What ways to communicate have to provide. Numbers of bytes are known on both sides.
    virtual void gather(const void* own, void* all, std::span<const std::size_t> bytes) = 0;
    virtual void exchange(const void* sent, std::span<const std::size_t> sent_bytes, void* received,
                          std::span<const std::size_t> received_bytes) = 0;

   public:
    /// Whether an exchange takes next to no time, so that a second of work is worth some hundred of
    /// them; not so where they pass through the hands of somebody else.
    virtual bool is_quick() const { return true; }

   private:
    struct Word;
    std::vector<Word> say(const Word& own);
    RankFailed failure(const std::vector<Word>& words, std::span<const std::byte> own);
    std::vector<Word> meet(std::span<const std::byte> own);
    std::vector<std::byte> gather_bytes(std::span<const std::byte> own,
                                        std::vector<std::size_t>& counts);
    void to_first(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                  std::span<std::byte> all);
    void gather_pieces(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                       std::byte* all);

    bool stopped_ = false;
};

/// The ranks that mpirun (or srun) has started this program with, one of which is this process; one
/// alone where it was started by itself. Throws InvalidInput where there are several and this copy
/// of the library cannot speak to them: it was built without MPI.
std::unique_ptr<Communicator> ranks_of_this_run();

/// Which rows each rank has of the data that all learn from.
enum class HeldRows {
    own,  ///< those that `own_rows` says
    all,  ///< all of them: only the work is shared
};

/// While it lives, what this thread learns is learnt by all of these ranks together.
class SpreadOver {
   public:
    explicit SpreadOver(Communicator& ranks, HeldRows rows = HeldRows::own);
    ~SpreadOver();
    SpreadOver(const SpreadOver&) = delete;
    SpreadOver& operator=(const SpreadOver&) = delete;

   private:
    Communicator* before_;
    HeldRows rows_before_;
};

/// The ranks of the innermost `SpreadOver` of this thread; without any, this process alone.
Communicator& current_ranks();
/// The rows that each of them has.
HeldRows held_rows();

/// While it lives, machines that this thread learns in the span of some rows write down after each
/// step where they stand, whole or not at all, so that a run that ended early can be gone on with,
/// by any number of ranks, to the same bits.
///
///   const KeepCheckpoint keep("power.checkpoint", true);
///   Model model = machine.fit(data);
///   keep.remove();                      // once the model is saved
class KeepCheckpoint {
   public:
    /// With `resume` what the file says is gone on with, where there is one. It is written anew at
    /// most every `interval` seconds. A machine of several outputs has a file for each: path,
    /// path.1, path.2, ….
    KeepCheckpoint(std::string path, bool resume, double interval = 10);
    ~KeepCheckpoint();
    KeepCheckpoint(const KeepCheckpoint&) = delete;
    KeepCheckpoint& operator=(const KeepCheckpoint&) = delete;

    /// The innermost one of this thread, or null.
    static KeepCheckpoint* current();
    bool resumes() const { return resume_; }
    double interval() const { return interval_; }
    /// The file of the next output; empty for a machine of another number of rows, which stands in
    /// for the one that was stopped.
    std::string next_path(std::size_t rows);
    /// Removes the files written.
    void remove() const;

   private:
    KeepCheckpoint* before_;
    std::string path_;
    bool resume_;
    double interval_;
    std::size_t rows_ = 0;
    std::size_t files_ = 0;
};

/// While it lives, this thread keeps the checkpoints of another one, which waits for it; null:
/// none.
class ShareCheckpoint {
   public:
    explicit ShareCheckpoint(KeepCheckpoint* of);
    ~ShareCheckpoint();
    ShareCheckpoint(const ShareCheckpoint&) = delete;
    ShareCheckpoint& operator=(const ShareCheckpoint&) = delete;

   private:
    KeepCheckpoint* before_;
};

/// Sums over rows are first taken over leaves of so many rows, which depend on the number of all
/// rows alone: 8192, or so many times that by a power of two that there are at most 128 leaves.
std::size_t leaf_rows(std::size_t total);

/// Which of all rows this rank is to have: whole leaves, about as many as the others. There may be
/// none.
RowRange own_rows(const Communicator& ranks, std::size_t total);

}  // namespace mercer
