#include "interrupt.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/dist/communicator.hpp"

namespace mercer::python {
namespace {

constexpr auto patience = std::chrono::milliseconds(50);

/// What the two threads share.
struct Desk {
    std::mutex mutex{};
    std::condition_variable news{};
    std::deque<Event> events{};
    bool done = false;
    std::exception_ptr error{};
    std::atomic<bool> stop{false};
    bool listening = false;

    bool post(Event event) {
        if (listening) {
            const std::lock_guard lock(mutex);
            events.push_back(std::move(event));
            news.notify_one();
        }
        return !stop;
    }
    /// Waits for news; true when the work is over.
    bool wait(std::deque<Event>& taken) {
        std::unique_lock lock(mutex);
        news.wait_for(lock, patience, [&] { return done || !events.empty(); });
        taken.swap(events);
        return done;
    }
};

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

void run_beside(const std::function<void(const Tell&)>& work, nb::object callback, bool keep) {
    Desk desk;
    desk.listening = !callback.is_none();
    std::optional<nb::python_error> raised;
    {
        const nb::gil_scoped_release free;
        std::thread worker([&, count = threads(), ranks = &current_ranks(), held = held_rows(),
                            keep_state = KeepCheckpoint::current()] {
            const ThreadLimit limit(count);  // the caller's
            const SpreadOver spread(*ranks, held);
            const ShareCheckpoint share(keep_state);
            std::exception_ptr error;
            try {
                work([&](Event event) { return desk.post(std::move(event)); });
            } catch (...) {
                error = std::current_exception();
            }
            const std::lock_guard lock(desk.mutex);
            desk.error = error;
            desk.done = true;
            desk.news.notify_one();
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
        worker.join();
    }
    if (raised && !(keep && !desk.error && raised->matches(PyExc_KeyboardInterrupt))) {
        throw std::move(*raised);
    }
    if (desk.error) std::rethrow_exception(desk.error);
}

void run_beside(const std::function<void(const Progress&)>& work, nb::object callback) {
    const std::function<void(const Tell&)> reporting = [&work](const Tell& report) {
        work([&report](const Moment& moment) {
            return report({std::string(moment.task),
                           std::string(moment.detail),
                           {{"fraction", moment.fraction}}});
        });
    };
    run_beside(reporting, std::move(callback), false);
}

}  // namespace mercer::python
