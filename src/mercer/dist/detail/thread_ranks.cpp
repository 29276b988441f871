#include "mercer/dist/detail/thread_ranks.hpp"

#include <barrier>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

/// What all threads see: where each has laid down what it says.
struct Table {
    explicit Table(std::size_t count)
        : meeting(static_cast<std::ptrdiff_t>(count)), places(count), sizes(count) {}

    std::barrier<> meeting;
    std::vector<const std::byte*> places;
    std::vector<std::span<const std::size_t>> sizes;
};

class ThreadRank final : public Communicator {
   public:
    ThreadRank(Table& table, std::size_t rank) : table_(table), rank_(rank) {}
    std::size_t rank() const override { return rank_; }
    std::size_t size() const override { return table_.places.size(); }

   protected:
    void gather(const void* own, void* all, std::span<const std::size_t> bytes) override {
        table_.places[rank_] = static_cast<const std::byte*>(own);
        table_.meeting.arrive_and_wait();
        auto* to = static_cast<std::byte*>(all);
        for (std::size_t r = 0; r < size(); ++r) {
            if (bytes[r] > 0) std::memcpy(to, table_.places[r], bytes[r]);
            to += bytes[r];
        }
        table_.meeting.arrive_and_wait();
    }

    void exchange(const void* sent, std::span<const std::size_t> sent_bytes, void* received,
                  std::span<const std::size_t> received_bytes) override {
        table_.places[rank_] = static_cast<const std::byte*>(sent);
        table_.sizes[rank_] = sent_bytes;
        table_.meeting.arrive_and_wait();
        auto* to = static_cast<std::byte*>(received);
        for (std::size_t r = 0; r < size(); ++r) {
            const std::byte* from = table_.places[r];
            for (std::size_t k = 0; k < rank_; ++k) from += table_.sizes[r][k];
            if (received_bytes[r] > 0) std::memcpy(to, from, received_bytes[r]);
            to += received_bytes[r];
        }
        table_.meeting.arrive_and_wait();
    }

   private:
    Table& table_;
    std::size_t rank_;
};

}  // namespace

void run_ranks(std::size_t count, const std::function<void(Communicator&)>& body) {
    Table table(count);
    std::vector<std::exception_ptr> thrown(count);
    const auto live = [&](std::size_t r) {
        ThreadRank ranks(table, r);
        const SpreadOver spread(ranks);
        try {
            body(ranks);
            ranks.barrier();
        } catch (const RankFailed&) {  // another's
        } catch (const Cancelled&) {   // on all
            thrown[r] = std::current_exception();
        } catch (const std::exception& error) {
            thrown[r] = std::current_exception();
            ranks.fail(1, error.what());
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < count; ++r) threads.emplace_back(live, r);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : thrown) {
        if (error) std::rethrow_exception(error);
    }
}

}  // namespace mercer
