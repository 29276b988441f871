#include "studio/workbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/chart/model_figures.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/kernel/table.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/theory/certificate_check.hpp"
#include "mercer/theory/mercer_test.hpp"
#include "studio/page.hpp"

namespace mercer::studio {
namespace {

const char* word_of(JobState state) {
    switch (state) {
        case JobState::waiting: return "waiting";
        case JobState::running: return "running";
        case JobState::done: return "done";
        case JobState::stopped: return "stopped";
        case JobState::failed: break;
    }
    return "failed";
}

/// The machines whose training a page can follow, with the settings that are numbers and tunable.
Json tasks_json() {
    Json tasks = Json::array();
    for (const char* name : {"svc", "nu-svc", "hard", "svr", "nu-svr", "one-class", "svdd", "ridge",
                             "logistic", "adatron", "perceptron", "gp"}) {
        const MachineEntry& entry = machine_entry(name);
        Json settings = Json::array();
        for (const Setting& s : entry.settings) {
            const auto* number = std::get_if<double>(&s.fallback);
            if (number == nullptr || !s.tunable) continue;
            settings.push_back({{"name", s.name},
                                {"about", s.about},
                                {"value", *number},
                                {"range", s.range.text()}});
        }
        tasks.push_back({{"name", entry.name}, {"about", entry.about}, {"settings", settings}});
    }
    return tasks;
}

Json table_json(const Table& table) {
    const Dataset& data = table.data;
    Json names = Json::array();
    for (std::size_t j = 0; j < data.columns(); ++j) {
        names.push_back(j < data.feature_names.size() ? data.feature_names[j]
                                                      : fmt::format("column {}", j + 1));
    }
    Json json{{"number", table.number}, {"name", table.name},          {"rows", data.size()},
              {"columns", names},       {"labelled", !data.y.empty()}, {"classes", Json::array()}};
    json["structured"] = is_structured(data);
    Json objects = Json::array();
    for (const ObjectColumn& column : data.x.objects()) {
        objects.push_back(column.kind() == ObjectKind::text    ? "text"
                          : column.kind() == ObjectKind::graph ? "graph"
                                                               : "node");
    }
    json["objects"] = objects;
    if (!data.y.empty()) {
        const Classes classes = classes_of(data.y);
        const bool few = data.y.are_text() || classes.count() <= 20;
        if (few) json["classes"] = classes.names;
    }
    return json;
}

}  // namespace

std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json number_of(double value) {
    return std::isfinite(value) ? Json(value) : Json();
}

std::vector<std::size_t> shown_rows(std::size_t count, std::size_t most) {
    const std::size_t step = std::max<std::size_t>(1, (count + most - 1) / most);
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < count; i += step) rows.push_back(i);
    return rows;
}

Workbench::Workbench(std::string root) : root_(std::move(root)) {
    set_table({.data = as_read(make("moons", {.n = 120, .noise = 0.2}), "moons.csv"),
               .name = "moons",
               .make = "mercer make moons -n 120 --noise 0.2 -o moons.csv",
               .file = "moons.csv"});
    worker_ = std::thread([this] { work(); });
}

Workbench::~Workbench() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        for (auto& [id, job] : jobs_) job->stop = true;
        ++version_;
    }
    news_.notify_all();
    worker_.join();
}

void Workbench::changed() {
    ++version_;
    news_.notify_all();
}

void Workbench::set_table(Table table) {
    table.data.check();
    const std::lock_guard lock(mutex_);
    table.number = next_table_++;
    table_ = std::make_shared<const Table>(std::move(table));
    changed();
}

std::shared_ptr<const Table> Workbench::table() const {
    const std::lock_guard lock(mutex_);
    return table_;
}

TrainedRun Workbench::run_of(int id) const {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(id);
    if (found == runs_.end()) throw InvalidInput(fmt::format("there is no run {} any more", id));
    return found->second;
}

int Workbench::add_run(TrainedRun run) {
    const std::lock_guard lock(mutex_);
    run.id = next_id_++;
    const int id = run.id;
    runs_.emplace(id, std::move(run));
    while (runs_.size() > limits_.runs) runs_.erase(runs_.begin());
    changed();
    return id;
}

Json Workbench::try_kernel(const Json& asked) const {
    const std::string text = asked.at("kernel").get<std::string>();
    Json json{{"ok", false}};
    try {
        const Kernel kernel = Kernel::parse(text);
        const Definiteness found = definiteness(kernel);
        Json reasons = Json::array();
        for (const Reason& r : found.reasons) {
            reasons.push_back({{"depth", r.depth},
                               {"part", r.part},
                               {"verdict", describe(r)},
                               {"because", r.because}});
        }
        json = {{"ok", true},
                {"kernel", kernel.text()},
                {"verdict", describe(found)},
                {"positive", found.definite == Definite::positive},
                {"refuted", found.definite == Definite::refuted},
                {"reasons", reasons}};
        const auto rows = table();
        const MercerTest test =
            mercer_test(kernel, rows->data.x, rows->data.feature_names, {.max_rows = 150});
        Json values = Json::array();
        for (const double v : test.values) values.push_back(number_of(v));
        json["resolved"] = test.kernel.text();
        json["test"] = {
            {"rows", test.rows.size()},           {"smallest", number_of(test.smallest)},
            {"largest", number_of(test.largest)}, {"tolerance", number_of(test.tolerance)},
            {"indefinite", test.indefinite},      {"values", values}};
        if (test.indefinite) {
            json["test"]["witness"] = {
                {"rows", test.rows}, {"a", test.witness}, {"value", number_of(test.witness_value)}};
        }
    } catch (const InvalidInput& error) {
        json["error"] = error.what();
    }
    return json;
}

Json Workbench::stop(const Json& asked) {
    const std::lock_guard lock(mutex_);
    const auto found = jobs_.find(asked.at("job").get<int>());
    if (found == jobs_.end()) throw InvalidInput("there is no such job");
    found->second->stop = true;
    return {{"stopping", found->first}};
}

Json Workbench::verify(const Json& asked) {
    const int id = asked.at("run").get<int>();
    const TrainedRun run = run_of(id);
    if (!run.table) throw InvalidInput("there are no rows to verify it on");
    Json problems = Json::array();
    bool holds = true;
    for (const CheckedReport& c : check_certificate(*run.model, run.table->data)) {
        holds = holds && c.broken.empty();
        problems.push_back(
            {{"name", c.claimed.name},
             {"primal", {number_of(c.claimed.primal), number_of(c.found.primal)}},
             {"dual", {number_of(c.claimed.dual), number_of(c.found.dual)}},
             {"gap", {number_of(c.claimed.relative_gap), number_of(c.found.relative_gap)}},
             {"violation", {number_of(c.claimed.kkt_violation), number_of(c.found.kkt_violation)}},
             {"broken", c.broken}});
    }
    Json json{{"run", id}, {"holds", holds}, {"problems", problems}};
    const std::lock_guard lock(mutex_);
    if (const auto found = runs_.find(id); found != runs_.end()) found->second.verified = json;
    changed();
    return json;
}

Json Workbench::points(const Request& request) const {
    const auto rows = table();
    const Dataset& data = rows->data;
    const auto number = [&](const char* name, std::size_t fallback) {
        const auto value = parse_number(request.query(name));
        return value && *value >= 0 && *value < 1e9 ? static_cast<std::size_t>(*value) : fallback;
    };
    // Rows without numbers have a place on the components of a kernel only.
    const std::size_t last = std::max<std::size_t>(data.columns(), 1) - 1;
    const std::size_t first = std::min(number("first", 0), last);
    const std::size_t second = std::min(number("second", 1), last);
    const bool curve = data.columns() == 1 && !data.y.empty();
    Json x = Json::array(), y = Json::array(), label = Json::array(), row = Json::array();
    std::vector<double> values(std::max<std::size_t>(data.columns(), 1), 0.0);
    const Classes classes = data.y.empty() ? Classes{} : classes_of(data.y);
    const bool few = data.y.are_text() || classes.count() <= 20;
    for (const std::size_t i : shown_rows(data.size(), limits_.points_shown)) {
        if (data.columns() > 0) data.x.copy_row(i, values);
        x.push_back(number_of(values[first]));
        y.push_back(number_of(curve ? data.y.values[i] : values[second]));
        label.push_back(data.y.empty() ? Json(0)
                        : few          ? Json(classes.index[i])
                                       : Json(data.y.values[i]));
        row.push_back(i);
    }
    return {{"first", first}, {"second", second}, {"curve", curve}, {"x", x},
            {"y", y},         {"label", label},   {"row", row},     {"table", rows->number}};
}

Json Workbench::jobs_and_runs() const {
    const std::lock_guard lock(mutex_);
    Json jobs = Json::array();
    for (const auto& [id, job] : jobs_) {
        Json curve = Json::array();
        for (const auto& [seconds, gap, violation] : job->curve) {
            curve.push_back({number_of(seconds), number_of(gap), number_of(violation)});
        }
        jobs.push_back({{"id", id},
                        {"kind", job->kind},
                        {"state", word_of(job->state)},
                        {"moment", job->moment},
                        {"curve", curve},
                        {"result", job->result},
                        {"error", job->error}});
    }
    Json runs = Json::array();
    for (const auto& [id, run] : runs_) runs.push_back(summary_of(run));
    return {{"version", version_}, {"table", table_->number}, {"jobs", jobs}, {"runs", runs}};
}

Json Workbench::state() const {
    Json json = jobs_and_runs();
    json["data"] = table_json(*table());
    json["tasks"] = tasks_json();
    Json kernels = Json::array();
    for (const KernelEntry* entry : kernel_table()) {
        kernels.push_back({{"name", entry->name}, {"formula", entry->formula}});
    }
    json["kernels"] = kernels;
    Json samples = Json::array();
    for (const SampleEntry& e : sample_table()) samples.push_back(e.name);
    json["samples"] = samples;
    json["root"] = !root_.empty();
    return json;
}

std::string Workbench::next_event(std::uint64_t& seen) {
    {
        std::unique_lock lock(mutex_);
        news_.wait_for(lock, std::chrono::seconds(2), [&] { return version_ > seen || ending_; });
        if (ending_) return {};
        if (version_ == seen) return ": still here\n\n";
        seen = version_;
    }
    // Ten times a second is enough for eyes.
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
    return "data: " + text_of(jobs_and_runs()) + "\n\n";
}

Answer Workbench::answer(const Request& request) {
    const auto json = [](const Json& value) { return Answer{.body = text_of(value)}; };
    const auto number = [&](const char* name, std::size_t fallback) {
        const auto value = parse_number(request.query(name));
        return value && *value >= 0 && *value < 1e9 ? static_cast<std::size_t>(*value) : fallback;
    };
    try {
        if (request.method == "GET") {
            if (const PageFile* file = page_file(request.path)) {
                return {.type = std::string(file->type), .body = std::string(file->content)};
            }
            if (request.path == "/api/state") return json(state());
            if (request.path == "/api/points") return json(points(request));
            if (request.path == "/api/structures") {
                return json(structures_of(*table(), limits_.structures_shown));
            }
            if (request.path == "/api/events") {
                return {.type = "text/event-stream",
                        .stream = [this, seen = std::uint64_t{0}]() mutable {
                            return next_event(seen);
                        }};
            }
            const auto run = [&] { return run_of(static_cast<int>(number("run", 0))); };
            if (request.path == "/api/view") {
                return json(view_of(run(), number("first", 0), number("second", 1),
                                    std::clamp<std::size_t>(number("size", 90), 8, 200)));
            }
            if (request.path == "/api/point") return json(point_of(run(), number("row", 0)));
            if (request.path == "/api/copies") return json(copies_of(run()));
            if (request.path == "/api/model") {
                return {.type = "application/octet-stream",
                        .body = save_to_memory(*run().model),
                        .file_name = fmt::format("run{}.mercer", number("run", 0))};
            }
            if (request.path == "/api/picture") {
                const TrainedRun drawn = run();
                if (!drawn.table) throw InvalidInput("there are no rows to draw it with");
                return {.type = "image/svg+xml",
                        .body = chart::svg(chart::decision_figure(
                            *drawn.model, drawn.table->data,
                            {.first = number("first", 0), .second = number("second", 1)})),
                        .file_name = fmt::format("run{}.svg", number("run", 0))};
            }
            if (request.path == "/api/data.csv") {
                const auto rows = table();
                return {.type = "text/csv",
                        .body = csv_of(rows->data),
                        .file_name = rows->file[0] == '@' ? "data.csv" : tame(rows->file)};
            }
            return {.status = 404, .body = Json{{"error", "there is no such page"}}.dump()};
        }
        const Json asked = Json::parse(request.body);
        if (request.path == "/api/data") return json(set_data(asked));
        if (request.path == "/api/kernel") return json(try_kernel(asked));
        if (request.path == "/api/train") return json(begin(asked, "train"));
        if (request.path == "/api/tune") return json(begin(asked, "tune"));
        if (request.path == "/api/stop") return json(stop(asked));
        if (request.path == "/api/verify") return json(verify(asked));
        if (request.path == "/api/open") return json(open_model(asked));
        if (request.path == "/api/lecture") return json(lecture_of(asked));
        if (request.path == "/api/projection") {
            return json(projection_of(*table(), asked.at("kernel").get<std::string>(),
                                      limits_.points_shown));
        }
        return {.status = 404, .body = Json{{"error", "there is no such page"}}.dump()};
    } catch (const Json::exception&) {
        return {.status = 400,
                .body = Json{{"error", "this is not the JSON expected here"}}.dump()};
    } catch (const InvalidInput& error) {
        return {.status = 422, .body = text_of({{"error", error.what()}})};
    }
}

}  // namespace mercer::studio
