// What a studio knows and does: one data set, kernels tried on it, runs beside each other, and work
// in the background. Everything is kept here, not in the page, so that a reload loses nothing.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/registry.hpp"
#include "studio/server.hpp"

namespace mercer::studio {

using Json = nlohmann::ordered_json;

/// The rows of the moment, and how anyone gets the same.
struct Table {
    Dataset data{};
    std::string name{};  ///< "moons", "iris.csv"
    std::string make{};  ///< the command that makes the file; empty: it is there
    std::string file{};  ///< what to call it on a command line: "@iris", "moons.csv"
    std::uint64_t number = 0;
};

/// What is asked of training; enough to do it again.
struct Recipe {
    std::string task = "svc";
    std::string kernel = "rbf(gamma=scale)";
    std::string scale = "none";
    std::map<std::string, double> settings{};
};

struct TrainedRun {
    int id = 0;
    Recipe recipe{};
    std::shared_ptr<const Table> table{};
    std::optional<Model> model{};
    std::string source = "trained";  ///< or the name of the file it was opened from
    Json verified{};                 ///< null: not asked yet
};

enum class JobState { waiting, running, done, stopped, failed };

struct Job {
    int id = 0;
    std::string kind{};  ///< "train" or "tune"
    Recipe recipe{};
    std::vector<std::string> grid{};
    std::shared_ptr<const Table> table{};
    JobState state = JobState::waiting;
    std::atomic<bool> stop = false;
    Json moment = Json::object();                ///< the last figures
    std::vector<std::array<double, 3>> curve{};  ///< seconds, gap, violation
    Json result{};
    std::string error{};
};

struct Limits {
    std::size_t waiting_jobs = 8;
    std::size_t runs = 40;
    std::size_t points_shown = 3000;
    std::size_t structures_shown = 24;
    double job_seconds = 600;
};

class Workbench {
   public:
    /// `root`: the folder whose files may be opened by name; empty: none.
    explicit Workbench(std::string root);
    Workbench(const Workbench&) = delete;
    Workbench& operator=(const Workbench&) = delete;
    ~Workbench();

    Answer answer(const Request& request);
    /// What the command line was given: data or a model.
    void open(const std::string& path);

   private:
    Json state() const;
    Json jobs_and_runs() const;
    Json set_data(const Json& asked);
    Json try_kernel(const Json& asked) const;
    Json begin(const Json& asked, const std::string& kind);
    Json stop(const Json& asked);
    Json verify(const Json& asked);
    Json open_model(const Json& asked);
    Json points(const Request& request) const;
    std::string next_event(std::uint64_t& seen);

    void work();
    void train(Job& job);
    void tune(Job& job);
    void set_table(Table table);
    int add_run(TrainedRun run);
    int add_opened(Model model, const std::string& name);
    void changed();
    TrainedRun run_of(int id) const;
    std::shared_ptr<const Table> table() const;

    const std::string root_;
    const Limits limits_{};
    mutable std::mutex mutex_;
    std::condition_variable news_;
    std::uint64_t version_ = 1;
    bool ending_ = false;
    std::shared_ptr<const Table> table_;
    std::map<int, TrainedRun> runs_;
    std::map<int, std::shared_ptr<Job>> jobs_;
    std::deque<int> waiting_;
    int next_id_ = 1;
    std::uint64_t next_table_ = 1;
    std::thread worker_;
};

/// What the page draws of a run over two columns; of a regression on one its curve.
Json view_of(const TrainedRun& run, std::size_t first, std::size_t second, std::size_t size);
/// One row under a run: decision, slack, α, the nearest support vectors.
Json point_of(const TrainedRun& run, std::size_t row);
/// The figures of a run for the table of runs.
Json summary_of(const TrainedRun& run);
/// Command line, Python and C++ that repeat the run.
Json copies_of(const TrainedRun& run);
/// Texts, graphs, nodes and small square pictures of a row, for drawing; none where it is numbers.
Json parts_of(const Dataset& data, std::size_t row);
bool is_structured(const Dataset& data);
/// So many rows as what they are, evenly from all.
Json structures_of(const Table& table, std::size_t most);
/// A step of a lecture on these rows: perceptron, adatron or smo stopped after so many.
Json lecture_of(const Json& asked);
/// Coordinates of the rows on the first two kernel principal components.
Json projection_of(const Table& table, const std::string& kernel, std::size_t most);

/// The settings asked for, as the machine takes them.
Machine machine_of(const Recipe& recipe, const Progress& progress, double time_limit);
Recipe recipe_of(const Json& asked);
/// The rows as a table with a line of names, the label last.
std::string csv_of(const Dataset& data);
/// The rows as the program reads them from the file it writes: in the same precision, so that
/// copied commands learn the very same machine.
Dataset as_read(const Dataset& made, const std::string& name);
/// A name without folders, safe on a command line.
std::string tame(const std::string& name);
/// JSON as text; bytes that are no UTF-8, as in tables of other encodings, are replaced.
std::string text_of(const Json& json);
/// A number of a report as JSON; null where it is none.
Json number_of(double value);
std::vector<std::size_t> shown_rows(std::size_t count, std::size_t most);

}  // namespace mercer::studio
