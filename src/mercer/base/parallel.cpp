#include "mercer/base/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

namespace mercer {
namespace {

std::size_t affine_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
    }
    return std::max(1U, std::thread::hardware_concurrency());
}

std::string first_line(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// A container may see all processors of its machine and be allowed the time of two: more threads
/// than that only take it from each other.
std::size_t available_processors() {
    std::size_t limit = processors_of_limit(first_line("/sys/fs/cgroup/cpu.max"));
    if (limit == 0) {  // as older kernels say it
        limit = processors_of_limit(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") + ' ' +
                                    first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
    }
    return limit == 0 ? affine_processors() : std::min(limit, affine_processors());
}

thread_local bool inside_parallel_for = false;

/// One parallel_for under way: workers take the next task number until none is left.
struct Job {
    const std::function<void(std::size_t)>& body;
    std::size_t tasks;
    std::atomic<std::ptrdiff_t> places;  ///< threads that may still join
    std::atomic<std::size_t> next{0};
    std::mutex error_mutex;
    std::exception_ptr error;

    void work() {
        if (places.fetch_sub(1) <= 0) return;
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

/// How long a worker looks out for the next job before it goes to sleep, in turns of a loop: about
/// a millisecond. Solvers hand out small jobs in quick succession, and a virtual machine may take
/// a tenth of that to wake a sleeper.
constexpr int turns_before_sleep = 40000;

void wait_a_turn() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Threads that wait between jobs, started when first needed and joined at exit. A worker that is
/// late misses the job: the caller does what is left and waits only for those who have begun.
class Pool {
   public:
    ~Pool() { resize(0); }

    void run(Job& job, std::size_t helpers) {
        const std::lock_guard one_at_a_time(run_mutex_);
        resize(helpers);
        bool sleepers = false;
        {
            const std::lock_guard lock(mutex_);
            job_ = &job;
            generation_.fetch_add(1, std::memory_order_release);
            sleepers = sleeping_ > 0;
        }
        if (sleepers) wake_.notify_all();
        job.work();
        {
            const std::lock_guard lock(mutex_);
            job_ = nullptr;  // from here on nobody begins
            if (working_.load(std::memory_order_relaxed) == 0) return;
        }
        for (int turn = 0; turn < turns_before_sleep; ++turn) {
            if (working_.load(std::memory_order_acquire) == 0) break;
            wait_a_turn();
        }
        std::unique_lock lock(mutex_);  // also: no worker is still on its way out
        done_.wait(lock, [&] { return working_.load(std::memory_order_relaxed) == 0; });
    }

   private:
    void resize(std::size_t count) {
        if (workers_.size() == count) return;
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
            generation_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        for (std::thread& worker : workers_) worker.join();
        workers_.clear();
        stop_ = false;
        for (std::size_t i = 0; i < count; ++i) {
            workers_.emplace_back(
                [this, seen = generation_.load()]() mutable { wait_and_work(seen); });
        }
    }

    void wait_and_work(std::size_t seen) {
        for (;;) {
            for (int turn = 0; turn < turns_before_sleep; ++turn) {
                if (generation_.load(std::memory_order_acquire) != seen) break;
                wait_a_turn();
            }
            Job* job = nullptr;
            {
                std::unique_lock lock(mutex_);
                ++sleeping_;
                wake_.wait(lock, [&] { return generation_.load() != seen; });
                --sleeping_;
                if (stop_) return;
                seen = generation_.load();
                job = job_;
                if (job == nullptr) continue;
                working_.fetch_add(1, std::memory_order_relaxed);
            }
            job->work();
            const std::lock_guard lock(mutex_);
            if (working_.fetch_sub(1, std::memory_order_release) == 1) done_.notify_one();
        }
    }

    std::mutex run_mutex_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    std::vector<std::thread> workers_;
    Job* job_ = nullptr;
    std::atomic<std::size_t> working_{0};  ///< workers inside the job
    std::atomic<std::size_t> generation_{0};
    std::size_t sleeping_ = 0;
    bool stop_ = false;
};

Pool& pool() {
    static Pool instance;
    return instance;
}

std::atomic<std::size_t> wanted_threads{0};

}  // namespace

std::size_t processors_of_limit(const std::string& text) {
    std::istringstream words(text);
    double time = 0, period = 0;
    if (!(words >> time >> period) || !(time > 0) || !(period > 0)) return 0;
    return static_cast<std::size_t>(std::clamp(std::ceil(time / period), 1.0, 1e6));
}

std::size_t threads() {
    const std::size_t wanted = wanted_threads;
    static const std::size_t available = available_processors();
    return wanted != 0 ? wanted : available;
}

void set_threads(std::size_t count) {
    wanted_threads = count;
}

void parallel_for(std::size_t tasks, const std::function<void(std::size_t)>& body,
                  std::size_t at_once) {
    std::size_t workers = std::min(threads(), tasks);
    if (at_once != 0) workers = std::min(workers, at_once);
    if (workers <= 1 || inside_parallel_for) {
        for (std::size_t task = 0; task < tasks; ++task) body(task);
        return;
    }
    Job job{.body = body,
            .tasks = tasks,
            .places = static_cast<std::ptrdiff_t>(workers),
            .next = 0,
            .error_mutex = {},
            .error = {}};
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
