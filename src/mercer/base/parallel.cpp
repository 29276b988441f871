#include "mercer/base/parallel.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <new>
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

/// Every processor there is to have, and no more than OMP_NUM_THREADS allows; asked for once. (No
/// static variable of a function: its lock might be held when another thread forks.)
std::size_t default_threads() {
    static std::atomic<std::size_t> known{0};
    if (const std::size_t before = known; before != 0) return before;
    std::size_t count = threads_of_text(std::getenv("MERCER_NUM_THREADS"));
    if (count == 0) {
        count = available_processors();
        const std::size_t share = threads_of_text(std::getenv("OMP_NUM_THREADS"));
        if (share != 0) count = std::min(count, share);
    }
    known = count;
    return count;
}

/// As many as are of use to anyone: a slip of the finger must not start thousands.
std::size_t at_most_useful(std::size_t count) {
    constexpr std::size_t most = 256;
    return count <= most ? count : std::min(count, std::max(most, default_threads()));
}

std::atomic<std::size_t> process_threads{0};
thread_local std::size_t thread_limit = 0;
thread_local bool inside_parallel_for = false;

/// One parallel_for under way: whoever takes part takes the next task number until none is left.
struct Job {
    const std::function<void(std::size_t)>& body;
    std::size_t tasks;
    std::size_t threads;                  ///< of the call, whether or not there is a task for each
    std::size_t places;                   ///< helpers that may still join; under the pool's lock
    std::atomic<std::size_t> helping{0};  ///< changed under the pool's lock
    std::condition_variable left{};       ///< the last helper has gone
    std::atomic<std::size_t> next{0};
    std::mutex error_mutex{};
    std::exception_ptr error{};

    bool open() const { return places > 0 && next.load(std::memory_order_relaxed) < tasks; }

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

/// How long a worker looks out for the next job before it goes to sleep, in turns of a loop: about
/// a millisecond. Solvers hand out small jobs in quick succession, and a virtual machine may take
/// a tenth of that to wake a sleeper.
constexpr int turns_before_sleep = 40000;

void wait_a_turn() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Threads that wait between jobs, started when first needed and joined at exit. Several jobs may
/// be under way, each of a thread that works on its own and is helped by as many as it allows. A
/// worker that is late misses the job: the caller does what is left and waits only for those who
/// have begun.
class Pool {
   public:
    ~Pool() {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
            generation_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        for (Worker& worker : workers_) worker.thread.join();
    }

    void run(Job& job) {
        bool sleepers = false;
        {
            const std::lock_guard lock(mutex_);
            call_up(job.threads - 1);
            jobs_.push_back(&job);
            generation_.fetch_add(1, std::memory_order_release);
            for (std::size_t i = 0; i < on_duty_; ++i) sleepers = sleepers || workers_[i].asleep;
        }
        if (sleepers) wake_.notify_all();
        job.work();
        {
            const std::lock_guard lock(mutex_);
            std::erase(jobs_, &job);  // from here on nobody begins
            if (job.helping.load(std::memory_order_relaxed) == 0) return;
        }
        for (int turn = 0; turn < turns_before_sleep; ++turn) {
            if (job.helping.load(std::memory_order_acquire) == 0) break;
            wait_a_turn();
        }
        std::unique_lock lock(mutex_);  // also: no worker is still on its way out
        job.left.wait(lock, [&] { return job.helping.load(std::memory_order_relaxed) == 0; });
    }

   private:
    struct Worker {
        std::thread thread{};
        bool asleep = false;
    };

    /// Has as many workers on duty as the newest job asks for; more while several jobs are under
    /// way, as far as there are processors. The others sleep until they are wanted again.
    void call_up(std::size_t helpers) {
        std::size_t together = helpers;
        for (const Job* job : jobs_) together += job->threads - 1;
        std::size_t wanted = std::max(helpers, std::min(together, default_threads() - 1));
        while (workers_.size() < wanted) {
            try {
                workers_.emplace_back();
            } catch (const std::bad_alloc&) {
                wanted = workers_.size();
                break;
            }
            try {
                workers_.back().thread =
                    std::thread([this, index = workers_.size() - 1] { serve(index); });
            } catch (const std::exception&) {  // no more to be had, nor memory: those there are do
                workers_.pop_back();
                wanted = workers_.size();
            }
        }
        on_duty_ = wanted;
    }

    Job* open_job(std::size_t index) const {
        if (index >= on_duty_) return nullptr;
        const auto found = std::ranges::find_if(jobs_, [](const Job* job) { return job->open(); });
        return found == jobs_.end() ? nullptr : *found;
    }

    void serve(std::size_t index) {
        std::unique_lock lock(mutex_);
        while (!stop_) {
            if (Job* job = open_job(index); job != nullptr) {
                --job->places;
                job->helping.fetch_add(1, std::memory_order_relaxed);
                lock.unlock();
                job->work();
                lock.lock();
                if (job->helping.fetch_sub(1, std::memory_order_release) == 1) {
                    job->left.notify_one();
                }
                continue;
            }
            if (index < on_duty_ && job_came(lock)) continue;
            workers_[index].asleep = true;
            wake_.wait(lock, [&] { return stop_ || open_job(index) != nullptr; });
            workers_[index].asleep = false;
        }
    }

    /// Looks out for a while, without the lock.
    bool job_came(std::unique_lock<std::mutex>& lock) {
        const std::size_t seen = generation_.load(std::memory_order_relaxed);
        lock.unlock();
        bool arrived = false;
        for (int turn = 0; turn < turns_before_sleep && !arrived; ++turn) {
            arrived = generation_.load(std::memory_order_acquire) != seen;
            wait_a_turn();
        }
        lock.lock();
        return arrived;
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<Worker> workers_;
    std::size_t on_duty_ = 0;  ///< the first so many workers
    std::vector<Job*> jobs_;   ///< under way
    std::atomic<std::size_t> generation_{0};
    bool stop_ = false;
};

/// The pool of this process. A child after fork has none of its parent's threads and begins with a
/// new pool; the old one, whose lock may be held for ever, is left as it is.
class PoolOfProcess {
   public:
    PoolOfProcess() {
        pthread_atfork(nullptr, nullptr, [] { current = nullptr; });
    }
    ~PoolOfProcess() { delete current.exchange(nullptr); }

    static Pool& get() {
        Pool* pool = current.load(std::memory_order_acquire);
        if (pool != nullptr) return *pool;
        auto* made = new Pool;
        if (current.compare_exchange_strong(pool, made)) return *made;
        delete made;  // another thread was first
        return *pool;
    }

   private:
    static inline std::atomic<Pool*> current{nullptr};
};

const PoolOfProcess pool_of_process;

}  // namespace

std::size_t processors_of_limit(const std::string& text) {
    std::istringstream words(text);
    double time = 0, period = 0;
    if (!(words >> time >> period) || !(time > 0) || !(period > 0)) return 0;
    return static_cast<std::size_t>(std::clamp(std::ceil(time / period), 1.0, 1e6));
}

std::size_t threads_of_text(const char* text) {
    if (text == nullptr) return 0;
    while (*text == ' ' || *text == '\t') ++text;
    const char* end = text + std::strlen(text);
    std::size_t count = 0;
    const auto [stop, error] = std::from_chars(text, end, count);
    const bool whole = stop == end || *stop == ',' || *stop == ' ' || *stop == '\t';
    constexpr std::size_t most = 4096;  // as the command line's --threads
    return error == std::errc() && whole && count <= most ? count : 0;
}

std::size_t threads() {
    if (inside_parallel_for) return 1;
    if (thread_limit != 0) return thread_limit;
    const std::size_t wanted = process_threads;
    return wanted != 0 ? wanted : default_threads();
}

void set_threads(std::size_t count) {
    process_threads = at_most_useful(count);
}

ThreadLimit::ThreadLimit(std::size_t count) : before_(thread_limit) {
    if (count != 0) thread_limit = at_most_useful(count);
}

ThreadLimit::~ThreadLimit() {
    thread_limit = before_;
}

void run_tasks(std::size_t tasks, const std::function<void(std::size_t)>& body,
               std::size_t at_once) {
    const std::size_t count = threads();
    std::size_t workers = std::min(count, tasks);
    if (at_once != 0) workers = std::min(workers, at_once);
    if (workers <= 1) {
        for (std::size_t task = 0; task < tasks; ++task) body(task);
        return;
    }
    Job job{.body = body, .tasks = tasks, .threads = count, .places = workers - 1};
    PoolOfProcess::get().run(job);
    if (job.error) std::rethrow_exception(job.error);
}

}  // namespace mercer
