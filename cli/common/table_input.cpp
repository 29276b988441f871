#include "cli/common/table_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "cli/common/model_output.hpp"
#include "cli/common/tell.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/source.hpp"
#include "mercer/gram/operators.hpp"

namespace mercer::cli {
namespace {

std::vector<std::string> at_commas(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t first = 0; first < text.size();) {
        const std::size_t comma = std::min(text.find(',', first), text.size());
        parts.push_back(text.substr(first, comma - first));
        first = comma + 1;
    }
    return parts;
}

bool given(const InputOptions& input, const std::string& name) {
    return std::ranges::any_of(input.options, [&](const CLI::Option* option) {
        return option->count() > 0 && spelled(*option) == name;
    });
}

void note(const Session& session, const std::string& text) {
    if (session.quiet) return;
    clear_progress_line();
    tell("mercer: note: {}\n", text);
}

void refuse_files(const InputOptions& input) {
    for (const auto& [file, name] : {std::pair(input.read.labels_file, "--labels"),
                                     std::pair(input.read.weights_file, "--weights")}) {
        if (file.empty()) continue;
        throw InvalidInput(fmt::format(
            "{}: {} has no meaning for a table with columns of several kinds: labels and weights "
            "are columns of it",
            input.path, name));
    }
}

/// What kinds the columns are taken for, in a line.
std::string kinds_text(const TableColumns& columns) {
    std::vector<std::string> parts;
    for (const auto& [kind, word] : column_kinds.list) {
        const auto of_kind = [k = kind](const TableColumn& c) { return c.kind == k; };
        const auto count = std::ranges::count_if(columns.columns(), of_kind);
        if (count > 0) parts.push_back(fmt::format("{} {}", count, word));
    }
    std::string text = fmt::format("{}", fmt::join(parts, ", "));
    if (!columns.left_out().empty()) {
        const auto shown = std::min<std::size_t>(columns.left_out().size(), 6);
        text += fmt::format(
            "; left out: {}{}",
            fmt::join(columns.left_out().begin(),
                      columns.left_out().begin() + static_cast<std::ptrdiff_t>(shown), ", "),
            shown < columns.left_out().size() ? ", …" : "");
    }
    return text;
}

/// Whether rows like these can be had by the kernel: it reads every column of texts.
bool reads_objects(const std::string& kernel, const Dataset& data) {
    if (data.x.objects().empty() || kernel.find('$') != std::string::npos) return true;
    try {
        const Kernel parsed = Kernel::parse(kernel);
        if (waits_for_classes(parsed)) return true;
        const Rows few = data.x.slice(0, std::min<std::size_t>(data.size(), 2));
        make_gram<float>(parsed, few, data.feature_names, {});
        return true;
    } catch (const InvalidInput&) {
        return false;
    }
}

/// Formats from which columns can be left out are tables in text.
bool is_text_table(const InputOptions& input) {
    if (input.path == "-" || input.path.starts_with('@')) return false;
    return input.format == "auto" || find_format(input.format, FormatUse::reading).uses.leave_out;
}

}  // namespace

void add_column_options(CLI::App& command, Session& session, InputOptions& input) {
    const auto check = [](const std::string& text) -> std::string {
        const std::size_t at = text.rfind('=');
        if (at == std::string::npos || at == 0) {
            return fmt::format("{} is not of the form NAME=KIND", mercer::quoted(text));
        }
        const std::vector<std::string> words = column_kinds.words();
        const std::string word = text.substr(at + 1);
        if (std::ranges::find(words, word) != words.end()) return {};
        return fmt::format("{} is none of {}{}", mercer::quoted(word), fmt::join(words, ", "),
                           suggestion(word, words));
    };
    static_cast<void>(session);
    input.options.push_back(
        command
            .add_option("--column", input.kinds,
                        fmt::format("NAME=KIND: what a column of a table is: {}; repeatable",
                                    fmt::join(column_kinds.words(), ", ")))
            ->type_name("TEXT")
            ->allow_extra_args(false)
            ->check(check, "")
            ->group("Reading"));
    input.options.push_back(
        command
            .add_option("--id", input.id, "columns that only tell rows apart, with commas between")
            ->type_name("TEXT")
            ->group("Reading"));
}

Table read_cells(const InputOptions& input, const Session& session,
                 std::vector<std::string> known_names) {
    TableOptions options{.known_names = std::move(known_names),
                         .longest_line = input.read.longest_line,
                         .progress = progress_line(session)};
    if (input.header != "auto") {
        options.header = input.header == "yes" ? HeaderLine::yes : HeaderLine::no;
    }
    Table table = read_table(input.path, options);
    clear_progress_line();
    return table;
}

ColumnWishes wishes_of(const InputOptions& input) {
    ColumnWishes wishes{.label = input.read.label,
                        .weight = input.read.weight_column,
                        .drop = at_commas(input.read.leave_out),
                        .identifiers = at_commas(input.id),
                        .label_is_text = input.read.text_labels};
    for (const std::string& text : input.kinds) {
        const std::size_t at = text.rfind('=');
        wishes.kinds.emplace_back(text.substr(0, at),
                                  column_kinds.value(text.substr(at + 1), "column"));
    }
    if (input.read.text_columns != "none") {
        for (const std::string& name : at_commas(input.read.text_columns)) {
            wishes.kinds.emplace_back(name, ColumnKind::text);
        }
    }
    return wishes;
}

Dataset read_mixed(const InputOptions& input, const Session& session) {
    refuse_files(input);
    const Table table = read_cells(input, session);
    Dataset data = plan_columns(table, wishes_of(input))->dataset(table);
    note(session,
         fmt::format("{} is a table {}: {}", input.path, table.dialect, kinds_text(*data.table)));
    for (const std::string& sentence : remarks(table, data)) note(session, sentence);
    return data;
}

Dataset read_for_learning(const InputOptions& input, const Session& session,
                          const std::string& kernel) {
    // Labels from a file of their own belong to rows of numbers.
    const bool beside = !input.read.labels_file.empty() || !input.read.weights_file.empty();
    if (kernel.empty() && beside) return read_input(input, session);
    if (!input.kinds.empty() || !input.id.empty() || (kernel.empty() && is_text_table(input))) {
        if (kernel.empty() && input.kinds.empty() && input.id.empty()) {
            try {
                return read_mixed(input, session);
            } catch (const InvalidInput&) {
                // Not a table, or one that is refused: the readers of data say it better.
                const std::exception_ptr mistake = std::current_exception();
                std::optional<Dataset> data;
                try {
                    data = read_input(input, session);
                } catch (const InvalidInput&) {
                    std::rethrow_exception(mistake);
                }
                return std::move(*data);
            }
        }
        return read_mixed(input, session);
    }
    std::exception_ptr mistake;
    Dataset data;
    try {
        data = read_input(input, session);
        if (reads_objects(kernel, data)) return data;
    } catch (const NoRoom&) {
        throw;  // there is no more of it for a table
    } catch (const InvalidInput&) {
        mistake = std::current_exception();
    }
    const bool may = is_text_table(input) && !given(input, "--missing") &&
                     !given(input, "--text-columns") && input.read.labels_file.empty() &&
                     input.read.weights_file.empty();
    try {
        if (may) return read_mixed(input, session);
    } catch (const InvalidInput&) {
        // No table either: what the reader of data made of it, or said of it, holds.
    }
    if (mistake) std::rethrow_exception(mistake);
    return data;
}

Dataset read_by_recipe(const Recipe& recipe, const InputOptions& input, const Session& session) {
    refuse_files(input);
    if (input.path.starts_with('@')) {
        throw InvalidInput(input.path +
                           ": the model was trained on a table with columns of several kinds; "
                           "name a table with these columns");
    }
    const Table table = read_cells(input, session, recipe.columns().names());
    Dataset data = recipe.columns().dataset(table, input.read.label);
    for (const std::string& sentence : remarks(table, data)) note(session, sentence);
    for (const std::string& sentence : far_remarks(recipe, data.x)) warn(sentence);
    return data;
}

}  // namespace mercer::cli
