// What is brought to the workbench: tables made, painted, pasted or read, and models.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/persist/model_file.hpp"
#include "studio/workbench.hpp"

namespace mercer::studio {
namespace {

/// Points painted in the page: {"x": [[1, 2], …], "y": ["a", …]}.
Dataset painted(const Json& asked) {
    const auto& x = asked.at("x");
    const auto& y = asked.at("y");
    if (!x.is_array() || !y.is_array() || x.size() != y.size() || x.empty() || x.size() > 5000) {
        throw InvalidInput("painted points are 1 to 5000 pairs of numbers, each with a label");
    }
    std::string text = "x,y,label\n";
    for (std::size_t i = 0; i < x.size(); ++i) {
        text += fmt::format("{},{},{}\n", format_number(x[i].at(0).get<double>()),
                            format_number(x[i].at(1).get<double>()), y[i].get<int>());
    }
    return read_text(text, "painted.csv");
}

std::string decoded(const std::string& text) {
    std::string bytes;
    std::uint32_t word = 0;
    int bits = 0;
    for (const char c : text) {
        int value = -1;
        if (c >= 'A' && c <= 'Z') value = c - 'A';
        if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
        if (c >= '0' && c <= '9') value = c - '0' + 52;
        if (c == '+') value = 62;
        if (c == '/') value = 63;
        if (c == '=') break;
        if (value < 0) throw InvalidInput("the file did not arrive whole");
        word = word << 6 | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>(word >> bits & 0xFFU);
        }
    }
    return bytes;
}

}  // namespace

Dataset as_read(const Dataset& made, const std::string& name) {
    return read_text(csv_of(made), name);
}

std::string tame(const std::string& name) {
    std::string result;
    for (const char c : name.substr(name.find_last_of('/') + 1)) {
        const bool fine =
            std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
        result += fine ? c : '_';
    }
    return result.empty() || result[0] == '-' ? "data.csv" : result;
}

Json Workbench::set_data(const Json& asked) {
    const std::string source = asked.at("source").get<std::string>();
    Table table;
    if (source == "embedded") {
        table.name = asked.at("name").get<std::string>();
        table.file = "@" + table.name;
        table.data = read(table.file);
    } else if (source == "make") {
        table.name = asked.at("name").get<std::string>();
        SampleOptions options{.n = asked.at("n").get<std::size_t>()};
        if (options.n > 200000) throw InvalidInput("the studio makes at most 200000 rows");
        options.seed = asked.value("seed", std::uint64_t{1});
        table.file = table.name + ".csv";
        table.make =
            fmt::format("mercer make {} -n {} --seed {}", table.name, options.n, options.seed);
        if (asked.contains("noise") && asked["noise"].is_number()) {
            options.noise = asked["noise"].get<double>();
            table.make += " --noise " + format_number(*options.noise);
        }
        table.make += " -o " + table.file;
        table.data = as_read(make(table.name, options), table.file);
    } else if (source == "paint") {
        table.name = "painted";
        table.data = painted(asked);
        table.file = "painted.csv";
    } else if (source == "text") {
        table.name = asked.at("name").get<std::string>();
        table.file = tame(table.name);
        ReadOptions options;
        options.label = asked.value("label", std::string());
        table.data = read_text(asked.at("text").get<std::string>(), table.name, options);
    } else if (source == "file") {
        const std::string name = asked.at("name").get<std::string>();
        if (root_.empty()) {
            throw InvalidInput(
                "files are opened by name only under --root FOLDER; drop the file here");
        }
        namespace fs = std::filesystem;
        const fs::path top = fs::canonical(root_);
        std::error_code error;
        const fs::path path = fs::weakly_canonical(top / name, error);
        const auto [end, rest] = std::mismatch(top.begin(), top.end(), path.begin(), path.end());
        if (error || end != top.end()) {
            throw InvalidInput("'" + name + "' does not lie under the folder of --root");
        }
        table.name = path.filename().string();
        table.file = path.string();
        table.data = read(path.string());
    } else {
        throw InvalidInput("data comes from embedded, make, paint, text or file, not " +
                           mercer::quoted(source));
    }
    set_table(std::move(table));
    return state();
}

void Workbench::open(const std::string& path) {
    std::string head(16, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    if (path[0] != '@' && (is_model_file(head) || path.ends_with(".mercer"))) {
        add_opened(load(path), path);
        return;
    }
    set_table({.data = read(path), .name = path, .file = path});
}

Json Workbench::open_model(const Json& asked) {
    const std::string name = asked.at("name").get<std::string>();
    return {
        {"run",
         add_opened(load_from_memory(decoded(asked.at("base64").get<std::string>()), name), name)}};
}

int Workbench::add_opened(Model model, const std::string& name) {
    TrainedRun run{.source = name};
    run.recipe.task = task_name(model.task());
    run.recipe.kernel = model.expansion().kernel.text();
    // It is drawn over the rows of the moment where they fit it.
    const auto rows = table();
    if (rows->data.columns() == model.columns()) run.table = rows;
    run.model = std::move(model);
    return add_run(std::move(run));
}

}  // namespace mercer::studio
