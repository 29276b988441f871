#include "interrupt.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/dist/communicator.hpp"

namespace mercer::python {
namespace {

constexpr auto patience = std::chrono::milliseconds(50);

/// How long either thread looks out for the other before it sleeps, in turns of a loop: a few tens
/// of microseconds for the one that has given the work away, a millisecond for the one that waits
/// for more. Small machines are learnt in less time than it takes to wake a sleeper.
constexpr int turns_for_news = 1000;
constexpr int turns_for_work = 20000;

void wait_a_turn() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// A thread that does one piece of work after another; a new one for each would cost more than a
/// small machine does, and begin with memory that nobody has touched.
class Helper {
   public:
    Helper() : thread_([this] { serve(); }) {}
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;
    ~Helper() {
        hand_over([this] { stop_ = true; });
        thread_.join();
    }

    /// Begins with it; the helper must not have anything else to do.
    void begin(std::function<void()> work) {
        hand_over([&] { work_ = std::move(work); });
    }

   private:
    template <class Change>
    void hand_over(const Change& change) {
        const std::lock_guard lock(mutex_);
        change();
        given_.fetch_add(1, std::memory_order_release);
        news_.notify_one();
    }

    void serve() {
        std::size_t seen = 0;
        for (;;) {
            for (int turn = 0; turn < turns_for_work; ++turn) {
                if (given_.load(std::memory_order_acquire) != seen) break;
                wait_a_turn();
            }
            std::function<void()> work;
            {
                std::unique_lock lock(mutex_);
                news_.wait(lock, [&] { return given_.load(std::memory_order_relaxed) != seen; });
                ++seen;
                if (stop_) return;
                work = std::exchange(work_, nullptr);
            }
            work();
        }
    }

    std::mutex mutex_{};
    std::condition_variable news_{};
    std::function<void()> work_{};
    std::atomic<std::size_t> given_{0};
    bool stop_ = false;
    std::thread thread_;  ///< last: it uses the others
};

/// Helpers that have nothing to do at present. A child after fork has none of its parent's threads
/// and leaves them as they are.
class IdleHelpers {
   public:
    IdleHelpers() {
        pthread_atfork(nullptr, nullptr, [] {
            new (&mutex) std::mutex;
            new (&list) std::vector<std::unique_ptr<Helper>>;
        });
    }
    ~IdleHelpers() { list.clear(); }

    static std::unique_ptr<Helper> take() {
        {
            const std::lock_guard lock(mutex);
            if (!list.empty()) {
                std::unique_ptr<Helper> helper = std::move(list.back());
                list.pop_back();
                return helper;
            }
        }
        return std::make_unique<Helper>();
    }
    static void give_back(std::unique_ptr<Helper> helper) {
        const std::lock_guard lock(mutex);
        list.push_back(std::move(helper));
    }

   private:
    static inline std::mutex mutex;
    static inline std::vector<std::unique_ptr<Helper>> list;
};

const IdleHelpers idle_helpers;

/// A moment that outlives its call.
struct Event {
    std::string task;
    std::string detail;
    std::map<std::string, double> numbers{};

    explicit Event(const Moment& moment) : task(moment.task), detail(moment.detail) {
        for (const Figure& figure : moment.figures) {
            numbers[std::string(figure.name)] = figure.value;
        }
        if (moment.figures.empty()) numbers["fraction"] = moment.fraction;
    }
};

/// What the two threads share.
struct Desk {
    std::mutex mutex{};
    std::condition_variable news{};
    std::deque<Event> events{};
    std::atomic<bool> done{false};
    std::exception_ptr error{};
    std::atomic<bool> stop{false};
    bool listening = false;

    bool post(const Moment& moment) {
        if (listening) {
            const std::lock_guard lock(mutex);
            events.emplace_back(moment);
            news.notify_one();
        }
        return !stop;
    }
    /// The last that the helper says.
    void end(std::exception_ptr reason) {
        const std::lock_guard lock(mutex);
        error = std::move(reason);
        done = true;
        news.notify_one();
    }
    /// Waits for news; true when the work is over.
    bool wait(std::deque<Event>& taken) {
        for (int turn = 0; turn < turns_for_news && !done; ++turn) wait_a_turn();
        std::unique_lock lock(mutex);
        news.wait_for(lock, patience, [&] { return done || !events.empty(); });
        taken.swap(events);
        return done;
    }
};

/// One report of the work: numbers and texts by name.
nb::dict as_dict(const Event& event) {
    nb::dict result;
    result["task"] = nb::str(event.task.c_str());
    result["detail"] = nb::str(event.detail.c_str());
    for (const auto& [name, value] : event.numbers) result[name.c_str()] = value;
    return result;
}

/// Python's turn: signals first, then the callback. Its exception is kept and ends the listening.
void listen(Desk& desk, std::deque<Event>& events, const nb::object& callback,
            std::optional<nb::python_error>& raised) {
    const nb::gil_scoped_acquire lock;
    try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        for (const Event& event : events) {
            const nb::object answer = callback(as_dict(event));
            if (answer.ptr() == Py_False) desk.stop = true;
        }
    } catch (nb::python_error& error) {
        raised.emplace(error);
        desk.stop = true;
    }
    events.clear();
}

}  // namespace

void run_beside(const std::function<void(const Progress&)>& work, nb::object callback, bool keep) {
    Desk desk;
    desk.listening = !callback.is_none();
    std::optional<nb::python_error> raised;
    {
        const nb::gil_scoped_release free;
        std::unique_ptr<Helper> helper = IdleHelpers::take();
        helper->begin([&, count = threads(), ranks = &current_ranks(), held = held_rows(),
                       keep_state = KeepCheckpoint::current()] {
            std::exception_ptr error;
            {
                const ThreadLimit limit(count);  // the caller's
                const SpreadOver spread(*ranks, held);
                const ShareCheckpoint share(keep_state);
                try {
                    work([&](const Moment& moment) { return desk.post(moment); });
                } catch (...) {
                    error = std::current_exception();
                }
            }
            desk.end(std::move(error));
        });
        std::deque<Event> events;
        for (bool done = false; !done;) {
            done = desk.wait(events);
            if (raised) {
                events.clear();
            } else if (!done || !events.empty()) {
                listen(desk, events, callback, raised);
            }
        }
        IdleHelpers::give_back(std::move(helper));
    }
    if (raised && !(keep && !desk.error && raised->matches(PyExc_KeyboardInterrupt))) {
        throw std::move(*raised);
    }
    if (desk.error) std::rethrow_exception(desk.error);
}

}  // namespace mercer::python
