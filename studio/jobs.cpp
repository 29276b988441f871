// Work in the background: one job after another, each of which tells how it goes and can be
// stopped.
#include <fmt/format.h>

#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/select/search.hpp"
#include "studio/workbench.hpp"

namespace mercer::studio {
namespace {

/// Keeps a curve short: every other point goes when there are many.
void add_to_curve(std::vector<std::array<double, 3>>& curve, std::array<double, 3> point) {
    curve.push_back(point);
    if (curve.size() <= 400) return;
    std::vector<std::array<double, 3>> half;
    for (std::size_t i = 0; i < curve.size(); i += 2) half.push_back(curve[i]);
    half.push_back(curve.back());
    curve = std::move(half);
}

SettingValues values_of(const Recipe& recipe) {
    SettingValues values;
    for (const auto& [name, value] : recipe.settings) values[name] = value;
    return values;
}

FitSettings common_of(const Recipe& recipe, const Progress& progress, double time_limit) {
    return {.kernel = Kernel::parse(recipe.kernel),
            .scaling = ScalingRule::parse(recipe.scale),
            .time_limit = time_limit,
            .progress = progress};
}

}  // namespace

Recipe recipe_of(const Json& asked) {
    Recipe recipe;
    recipe.task = asked.value("task", recipe.task);
    recipe.kernel = asked.value("kernel", recipe.kernel);
    recipe.scale = asked.value("scale", recipe.scale);
    if (asked.contains("settings")) {
        for (const auto& [name, value] : asked["settings"].items()) {
            recipe.settings[name] = value.get<double>();
        }
    }
    return recipe;
}

Machine machine_of(const Recipe& recipe, const Progress& progress, double time_limit) {
    const MachineEntry& entry = machine_entry(recipe.task);
    if (!entry.make) throw InvalidInput(recipe.task + " learns from two sets of rows");
    return entry.make(common_of(recipe, progress, time_limit), values_of(recipe));
}

Json Workbench::begin(const Json& asked, const std::string& kind) {
    const auto job = std::make_shared<Job>();
    job->kind = kind;
    job->recipe = recipe_of(asked);
    (void)machine_of(job->recipe, {}, 0);  // a slip is said at once
    if (kind == "tune") {
        for (const auto& axis : asked.at("grid")) job->grid.push_back(axis.get<std::string>());
        if (job->grid.size() != 2) throw InvalidInput("the map has two axes, such as gamma and C");
    }
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= limits_.waiting_jobs) {
        throw InvalidInput(fmt::format("{} jobs are waiting already; stop some", waiting_.size()));
    }
    job->table = table_;
    job->id = next_id_++;
    jobs_[job->id] = job;
    // Old jobs that are over go; what they made are runs.
    for (auto old = jobs_.begin(); jobs_.size() > 12 && old != jobs_.end();) {
        const bool over =
            old->second->state != JobState::waiting && old->second->state != JobState::running;
        old = over ? jobs_.erase(old) : std::next(old);
    }
    waiting_.push_back(job->id);
    changed();
    return {{"job", job->id}};
}

void Workbench::work() {
    for (;;) {
        std::shared_ptr<Job> job;
        {
            std::unique_lock lock(mutex_);
            news_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
            if (ending_) return;
            job = jobs_.at(waiting_.front());
            waiting_.pop_front();
            job->state = job->stop ? JobState::stopped : JobState::running;
            changed();
        }
        if (job->state == JobState::stopped) continue;
        JobState end = JobState::done;
        std::string error;
        try {
            if (job->kind == "tune") {
                tune(*job);
            } else {
                train(*job);
            }
            if (job->stop) end = JobState::stopped;
        } catch (const Cancelled&) {
            end = JobState::stopped;
        } catch (const std::exception& thrown) {
            end = JobState::failed;
            error = thrown.what();
        }
        const std::lock_guard lock(mutex_);
        job->state = end;
        job->error = error;
        changed();
    }
}

void Workbench::train(Job& job) {
    const Progress progress = [&](const Moment& m) {
        const std::lock_guard lock(mutex_);
        Json figures{{"task", std::string(m.task)}, {"fraction", number_of(m.fraction)}};
        for (const Figure& f : m.figures) figures[std::string(f.name)] = number_of(f.value);
        job.moment = std::move(figures);
        add_to_curve(job.curve,
                     {m.figure("seconds"), m.figure("gap", NAN), m.figure("violation", NAN)});
        changed();
        return !job.stop;
    };
    TrainedRun run{.recipe = job.recipe, .table = job.table};
    run.model = machine_of(job.recipe, progress, limits_.job_seconds).fit(job.table->data);
    const Report report = run.model->report();
    const int id = add_run(std::move(run));
    const std::lock_guard lock(mutex_);
    add_to_curve(job.curve, {report.seconds, report.gap, report.kkt_violation});
    job.result = {{"run", id}};
}

void Workbench::tune(Job& job) {
    const MachineEntry& entry = machine_entry(job.recipe.task);
    SearchTask task = search_task(entry, common_of(job.recipe, {}, 0), {}, job.recipe.kernel);
    std::vector<Axis> axes;
    for (const std::string& text : job.grid) axes.push_back(Axis::parse(text));
    const SearchSpace space(std::move(task), axes, job.table->data);
    SearchSettings settings;
    settings.progress = [&](const Moment& m) {
        const std::lock_guard lock(mutex_);
        job.moment = {{"task", std::string(m.task)}, {"fraction", number_of(m.fraction)}};
        changed();
        return !job.stop;
    };
    const SearchResult found = search(space, job.table->data, settings);
    Json points = Json::array();
    for (const SearchPoint& p : found.points) {
        points.push_back({{"values", p.values},
                          {"score", p.done ? number_of(p.mean) : Json()},
                          {"deviation", p.done ? number_of(p.deviation) : Json()},
                          {"kernel", space.kernel(p.values).text()},
                          {"settings", space.settings(p.values)}});
    }
    Json axes_json = Json::array();
    for (const Axis& axis : space.axes()) {
        axes_json.push_back({{"name", axis.name}, {"values", axis.values}});
    }
    const std::lock_guard lock(mutex_);
    job.result = {{"axes", axes_json},
                  {"measure", measure_name(found.measure)},
                  {"larger_is_better", larger_is_better(found.measure)},
                  {"best", found.best ? Json(*found.best) : Json()},
                  {"task", job.recipe.task},
                  {"scale", job.recipe.scale},
                  {"points", points}};
}

}  // namespace mercer::studio
