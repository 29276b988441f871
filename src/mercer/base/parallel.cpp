#include "mercer/base/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace mercer {
namespace {

std::size_t available_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
    }
    return std::max(1U, std::thread::hardware_concurrency());
}

thread_local bool inside_parallel_for = false;

/// One parallel_for under way: workers take the next task number until none is left.
struct Job {
    const std::function<void(std::size_t)>& body;
    std::size_t tasks;
    std::atomic<std::size_t> next{0};
    std::mutex error_mutex;
    std::exception_ptr error;

    void work() {
        inside_parallel_for = true;
        for (std::size_t task; (task = next.fetch_add(1)) < tasks;) {
            try {
                body(task);
            } catch (...) {
                const std::lock_guard lock(error_mutex);
                if (!error) error = std::current_exception();
                next = tasks;
            }
        }
        inside_parallel_for = false;
    }
};

/// Threads that sleep between jobs, started when first needed and joined at exit.
class Pool {
   public:
    ~Pool() { resize(0); }

    void run(Job& job, std::size_t helpers) {
        const std::lock_guard one_at_a_time(run_mutex_);
        resize(helpers);
        {
            const std::lock_guard lock(mutex_);
            job_ = &job;
            running_ = workers_.size();
            ++generation_;
        }
        wake_.notify_all();
        job.work();
        std::unique_lock lock(mutex_);
        done_.wait(lock, [&] { return running_ == 0; });
        job_ = nullptr;
    }

   private:
    void resize(std::size_t count) {
        if (workers_.size() == count) return;
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        wake_.notify_all();
        for (std::thread& worker : workers_) worker.join();
        workers_.clear();
        stop_ = false;
        for (std::size_t i = 0; i < count; ++i) {
            workers_.emplace_back([this, seen = generation_]() mutable { sleep_and_work(seen); });
        }
    }

    void sleep_and_work(std::size_t seen) {
        for (;;) {
            Job* job = nullptr;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
                if (stop_) return;
                seen = generation_;
                job = job_;
            }
            job->work();
            const std::lock_guard lock(mutex_);
            if (--running_ == 0) done_.notify_one();
        }
    }

    std::mutex run_mutex_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    std::vector<std::thread> workers_;
    Job* job_ = nullptr;
    std::size_t running_ = 0;
    std::size_t generation_ = 0;
    bool stop_ = false;
};

Pool& pool() {
    static Pool instance;
    return instance;
}

std::atomic<std::size_t> wanted_threads{0};

}  // namespace

std::size_t threads() {
    const std::size_t wanted = wanted_threads;
    return wanted != 0 ? wanted : available_processors();
}

void set_threads(std::size_t count) {
    wanted_threads = count;
}

void parallel_for(std::size_t tasks, const std::function<void(std::size_t)>& body) {
    const std::size_t workers = std::min(threads(), tasks);
    if (workers <= 1 || inside_parallel_for) {
        for (std::size_t task = 0; task < tasks; ++task) body(task);
        return;
    }
    Job job{.body = body, .tasks = tasks, .next = 0, .error_mutex = {}, .error = {}};
    // The pool keeps its size between jobs: a short job simply leaves some workers without a task.
    pool().run(job, threads() - 1);
    if (job.error) std::rethrow_exception(job.error);
}

void parallel_ranges(std::size_t size, std::size_t grain,
                     const std::function<void(std::size_t, std::size_t)>& body) {
    grain = std::max<std::size_t>(grain, 1);
    parallel_for((size + grain - 1) / grain,
                 [&](std::size_t task) { body(task * grain, std::min(size, (task + 1) * grain)); });
}

}  // namespace mercer
