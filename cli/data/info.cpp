// mercer info: what a file holds, and what to mind before learning from it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/common/table_input.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/summary.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes_text(double bytes) {
    const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    std::size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < std::size(units)) {
        bytes /= 1000;
        ++unit;
    }
    return fmt::format("{:.3g} {}", bytes, units[unit]);
}

const char* kind_text(LabelKind kind) {
    switch (kind) {
        case LabelKind::classes: return "classes";
        case LabelKind::real: return "real";
        case LabelKind::none: break;
    }
    return "none";
}

Json json_of(const Dataset& data, const Summary& s, const std::string& path) {
    Json labels{{"kind", kind_text(s.label_kind)}};
    if (s.label_kind == LabelKind::classes) {
        labels["classes"] = Json::array();
        for (const auto& [name, count] : s.classes) {
            labels["classes"].push_back({{"name", name}, {"rows", count}});
        }
    } else if (s.label_kind == LabelKind::real) {
        labels.update({{"low", s.label.low},
                       {"high", s.label.high},
                       {"mean", s.label.mean},
                       {"deviation", s.label.deviation},
                       {"distinct", s.distinct}});
    }
    Json columns = Json::array();
    for (std::size_t j = 0; j < s.columns; ++j) {
        const ColumnSummary& c = s.column[j];
        Json column{{"low", c.low},
                    {"high", c.high},
                    {"mean", c.mean},
                    {"deviation", c.deviation},
                    {"nonzeros", c.nonzeros}};
        if (j < data.feature_names.size()) column["name"] = data.feature_names[j];
        columns.push_back(std::move(column));
    }
    Json objects = Json::array();
    for (const ObjectSummary& object : s.objects) {
        Json one{{"name", object.name},
                 {"kind", std::string(object_words.word(object.kind))},
                 {"shortest", object.shortest},
                 {"longest", object.longest},
                 {"mean", object.mean}};
        if (object.kind == ObjectKind::text) {
            one["different_bytes"] = object.letters.size();
            one["different_words"] = object.words;
            one["trees"] = object.trees;
        } else {
            one.update({{"edges", object.edges},
                        {"node_labels", object.labels},
                        {"attributes", object.attributes}});
        }
        objects.push_back(std::move(one));
    }
    return {{"input", path},
            {"rows", s.rows},
            {"columns", s.columns},
            {"sparse", s.sparse},
            {"precision", s.double_precision ? "double" : "single"},
            {"bytes", s.bytes},
            {"nonzeros", s.nonzeros},
            {"density", s.density},
            {"low", s.low},
            {"high", s.high},
            {"whole_numbers", s.whole_numbers},
            {"unit_rows", s.unit_rows},
            {"zero_rows", s.zero_rows},
            {"duplicate_rows", s.duplicates},
            {"contradictions", s.contradictions},
            {"constant_columns", s.constant_columns},
            {"weights", !data.weights.empty()},
            {"labels", std::move(labels)},
            {"column", std::move(columns)},
            {"objects", std::move(objects)},
            {"advice", s.advice}};
}

void print_line(const char* name, const std::string& text) {
    say("{:<12}{}\n", name, text);
}

std::string labels_text(const Summary& s) {
    if (s.label_kind == LabelKind::none) return "none";
    if (s.label_kind == LabelKind::real) {
        return fmt::format("real, {:.6g} to {:.6g}, mean {:.6g}, deviation {:.6g}, {} distinct",
                           s.label.low, s.label.high, s.label.mean, s.label.deviation, s.distinct);
    }
    std::string text =
        fmt::format("{} class{}: ", s.classes.size(), s.classes.size() == 1 ? "" : "es");
    const std::size_t shown = std::min<std::size_t>(s.classes.size(), 12);
    for (std::size_t c = 0; c < shown; ++c) {
        text +=
            fmt::format("{}{} ({})", c == 0 ? "" : ", ", s.classes[c].first, s.classes[c].second);
    }
    if (shown < s.classes.size()) text += fmt::format(", … {} more", s.classes.size() - shown);
    return text;
}

/// The letters of an alphabet; nothing for what is no alphabet, but any writing.
std::string alphabet_text(const std::string& letters) {
    const bool plain = std::ranges::all_of(letters, [](char c) { return c > ' ' && c <= '~'; });
    return plain && letters.size() <= 60 ? fmt::format(", letters {}", letters)
                                         : fmt::format(", {} different bytes", letters.size());
}

std::string object_text(const ObjectSummary& object) {
    if (object.kind == ObjectKind::text) {
        std::string text =
            fmt::format("{}: {} to {} bytes, {:.1f} in the mean{}", object.name, object.shortest,
                        object.longest, object.mean, alphabet_text(object.letters));
        // A sequence is one word, and nobody asks for its vocabulary.
        if (object.letters.find(' ') != std::string::npos) {
            text += fmt::format(", {} different words", object.words);
        }
        return object.trees ? text + ", trees in brackets" : text;
    }
    if (object.kind == ObjectKind::node) {
        return fmt::format("{}: of a graph of {} nodes and {} edges", object.name, object.longest,
                           object.edges);
    }
    std::string text =
        fmt::format("{}: {} to {} nodes, {:.1f} in the mean, {} edges in all", object.name,
                    object.shortest, object.longest, object.mean, object.edges);
    if (object.labels > 0) text += fmt::format(", {} labels of nodes", object.labels);
    if (object.attributes > 0) text += fmt::format(", {} numbers per node", object.attributes);
    return text;
}

/// "0, 32, 39 and 5 more"
std::string positions_text(const std::vector<std::size_t>& positions) {
    if (positions.empty()) return "none";
    const std::size_t shown = std::min<std::size_t>(positions.size(), 10);
    std::string text = fmt::format(
        "{} (counted from 0: {}", positions.size(),
        fmt::join(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    return text + (shown < positions.size() ? ", …)" : ")");
}

void print_columns(const Dataset& data, const Summary& s) {
    say("\n{:>6} {:>12} {:>12} {:>12} {:>12} {:>9}  {}\n", "column", "low", "high", "mean",
        "deviation", "nonzeros", "name");
    for (std::size_t j = 0; j < s.columns; ++j) {
        const ColumnSummary& c = s.column[j];
        say("{:>6} {:>12.6g} {:>12.6g} {:>12.6g} {:>12.6g} {:>9}  {}\n", j, c.low, c.high, c.mean,
            c.deviation, c.nonzeros, j < data.feature_names.size() ? data.feature_names[j] : "");
    }
}

void print_entries(const Summary& s) {
    print_line("entries",
               fmt::format("{}, {:.3g} % not zero, {} precision, {}", s.sparse ? "sparse" : "dense",
                           100 * s.density, s.double_precision ? "double" : "single",
                           bytes_text(static_cast<double>(s.bytes))));
    print_line("values", fmt::format("{:.6g} to {:.6g}{}{}", s.low, s.high,
                                     s.whole_numbers ? ", whole numbers" : "",
                                     s.unit_rows ? ", rows of length 1" : ""));
}

void print_text(const Dataset& data, const Summary& s, const InputOptions& input, bool columns) {
    print_line("input", input.path);
    print_line("rows", std::to_string(s.rows));
    print_line("columns", std::to_string(s.columns));
    if (s.columns > 0 || s.objects.empty()) print_entries(s);
    for (const ObjectSummary& object : s.objects) {
        const bool text = object.kind == ObjectKind::text;
        print_line(text                              ? "texts"
                   : object.kind == ObjectKind::node ? "nodes"
                                                     : "graphs",
                   object_text(object));
    }
    print_line("labels", labels_text(s));
    if (!data.weights.empty()) print_line("weights", "one per row");
    print_line("missing", input.missing == "refuse" ? "none" : "replaced by the " + input.missing);
    if (s.columns > 0) print_line("constant", positions_text(s.constant_columns));
    std::string duplicates = fmt::format("{} row{}", s.duplicates, s.duplicates == 1 ? "" : "s");
    if (s.contradictions > 0) {
        duplicates += fmt::format(", {} with another label", s.contradictions);
    }
    print_line("duplicates", duplicates);
    if (s.zero_rows > 0 && s.objects.empty()) print_line("empty rows", std::to_string(s.zero_rows));
    const double n = static_cast<double>(s.rows);
    print_line("full Gram", bytes_text(4 * n * n) + " in single precision");
    for (const std::string& line : s.advice) print_line("advice", line);
    if (columns) print_columns(data, s);
}

// ---- Tables with columns of several kinds.

std::string number_range(const ColumnProfile& p) {
    return fmt::format("{:.4g} to {:.4g}, mean {:.4g}", p.low, p.high, p.mean);
}

/// "M (1528), I (1342), F (1307)"
std::string examples_text(const ColumnProfile& p) {
    std::string text;
    for (std::size_t k = 0; k < p.examples.size(); ++k) {
        const std::string count = p.counts[k] > 1 ? fmt::format(" ({})", p.counts[k]) : "";
        text += fmt::format("{}{}{}", k == 0 ? "" : ", ", p.examples[k], count);
    }
    return p.distinct > p.examples.size() ? text + ", …" : text;
}

std::string odd_text(const ColumnProfile& p) {
    if (p.odd == 0) return "";
    return fmt::format("; {} that {} no {}, such as {} in line {}", counted(p.odd, "cell"),
                       p.odd == 1 ? "is" : "are", column_kinds.word(p.kind),
                       mercer::quoted(p.odd_cell), p.odd_line);
}

Json json_of(const Table& table, const std::vector<ColumnProfile>& profiles) {
    Json list = Json::array();
    for (const ColumnProfile& p : profiles) {
        Json one{{"name", p.name},         {"kind", std::string(column_kinds.word(p.kind))},
                 {"missing", p.missing},   {"distinct", p.distinct},
                 {"examples", p.examples}, {"odd", p.odd}};
        if (p.kind == ColumnKind::number || p.kind == ColumnKind::date) {
            one.update({{"low", p.low}, {"high", p.high}, {"mean", p.mean}});
        }
        if (p.odd > 0) one.update({{"odd_cell", p.odd_cell}, {"odd_line", p.odd_line}});
        list.push_back(std::move(one));
    }
    Json json{{"rows", table.rows()},
              {"dialect", table.dialect},
              {"header", table.has_names},
              {"columns", std::move(list)}};
    if (!table.defect.empty()) json["defect"] = table.defect;
    return json;
}

std::size_t name_width(const std::vector<ColumnProfile>& profiles) {
    std::size_t width = 6;
    for (const ColumnProfile& p : profiles)
        width = std::max(width, std::min<std::size_t>(p.name.size(), 24));
    return width;
}

void print_kinds(const std::vector<ColumnProfile>& profiles) {
    const std::size_t width = name_width(profiles);
    say("{:<{}} {:<10} {:>8} {:>8}  {}\n", "column", width, "kind", "missing", "levels", "cells");
    for (const ColumnProfile& p : profiles) {
        const std::string cells = p.kind == ColumnKind::number ? number_range(p) : examples_text(p);
        say("{:<{}} {:<10} {:>8} {:>8}  {}{}\n", p.name, width, column_kinds.word(p.kind),
            p.missing, p.distinct, cells, odd_text(p));
    }
}

/// A table of which `read` made nothing, or columns of texts: what each column holds.
void print_table(const Table& table, const std::vector<ColumnProfile>& profiles,
                 const std::string& path) {
    print_line("input", path);
    print_line("rows", std::to_string(table.rows()));
    print_line("columns", std::to_string(table.columns()));
    print_line("table",
               table.dialect + (table.has_names ? ", with a header line" : ", no header line"));
    if (!table.defect.empty()) print_line("defect", table.defect + "; mend it before learning");
    say("\n");
    print_kinds(profiles);
    say("\nOther kinds are said with --column NAME=KIND, when a machine learns from it.\n");
}

/// The table, where the file is one; else nothing, and the readers of data say what is wrong.
std::optional<Table> try_cells(const InputOptions& input, const Session& session) {
    if (input.path == "-" || input.path.starts_with('@')) return std::nullopt;
    try {
        return read_cells(input, session);
    } catch (const InvalidInput&) {
        return std::nullopt;
    }
}

void run_info(InputOptions& input, bool columns, const Session& session) {
    input.read.exact = true;  // what differs in the file is no duplicate
    Dataset data;
    try {
        data = read_input(input, session);
    } catch (const InvalidInput&) {
        // Whoever says how to read it wants to hear why that fails.
        const bool asked = std::ranges::any_of(
            input.options, [](const CLI::Option* option) { return option->count() > 0; });
        const auto table = asked ? std::nullopt : try_cells(input, session);
        if (!table) throw;
        const std::vector<ColumnProfile> profiles = profile(*table);
        if (session.json) {
            print_json({{"input", input.path}, {"table", json_of(*table, profiles)}});
        } else {
            print_table(*table, profiles, input.path);
        }
        return;
    }
    const auto table = data.x.objects().empty() ? std::nullopt : try_cells(input, session);
    // A header above columns of names looks like a row of names to those who want numbers.
    if (table && table->rows() != data.size() && !session.json) {
        print_table(*table, profile(*table), input.path);
        return;
    }
    const Summary summary = summarize(data);
    if (session.json) {
        Json json = json_of(data, summary, input.path);
        if (table) json["table"] = json_of(*table, profile(*table));
        print_json(json);
        return;
    }
    print_text(data, summary, input, columns);
    if (!table) return;
    say("\n");
    print_kinds(profile(*table));
}

}  // namespace

void add_info(CLI::App& program, Session& session) {
    CLI::App& command =
        add_command(program, "info", "describe a data file: shape, labels, ranges, advice",
                    "  mercer info @digits\n"
                    "  mercer info wine.csv --label class --by-column\n"
                    "  mercer info a9a.gz --json | jq .labels");
    const auto input = add_input(command, session);
    const auto columns = std::make_shared<bool>(false);
    only(session, command.add_flag("--by-column", *columns, "also a line for each column"),
         when([&session] { return !session.json; }, "with --json", "that has every column anyway"));
    command.callback([&session, input, columns] {
        session.action = [&session, input, columns] { run_info(*input, *columns, session); };
    });
}

}  // namespace mercer::cli
