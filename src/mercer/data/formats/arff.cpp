// Weka's ARFF, as far as its columns are numbers; what has other columns is a table of several
// kinds, which data/recipe.hpp reads.
#include "mercer/data/table/detail/arff.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/input.hpp"
#include "mercer/data/recipe.hpp"

namespace mercer::formats {
namespace {

std::vector<std::string> cut_at_commas(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t first = 0; first < text.size();) {
        const std::size_t comma = std::min(text.find(',', first), text.size());
        parts.push_back(text.substr(first, comma - first));
        first = comma + 1;
    }
    return parts;
}

Dataset read_arff_rows(const Input& input) {
    Table table;
    try {
        table = tables::read_arff(input);
    } catch (const Mistake& mistake) {
        fail_mistake(input, mistake);
    }
    table.name = input.name;
    const ReadOptions& options = input.options;
    ColumnWishes wishes{.label = options.label,
                        .weight = options.weight_column,
                        .drop = cut_at_commas(options.leave_out),
                        .label_is_text = options.text_labels};
    if (options.known && wishes.label.empty()) {
        const std::string& name = options.known->roles.label_name;
        const bool here = std::ranges::find(table.names, name) != table.names.end();
        wishes.label = here ? name : "none";
    }
    Dataset data = plan_columns(table, wishes)->dataset(table);
    for (const TableColumn& column : data.table->columns()) {
        if (column.kind == ColumnKind::number && !column.gaps) continue;
        fail(input, "the column " + quoted(column.name) + " is of the kind " +
                        std::string(column_kinds.word(column.kind)) +
                        (column.gaps ? " with gaps" : "") +
                        ": train, tune, learn and predict make numbers of it, and nothing else "
                        "does; leave it out with `leave_out`");
    }
    data.table = nullptr;
    if (!options.double_precision && !column_hurt_by_single(data.x)) data.x = data.x.to_float();
    return data;
}

}  // namespace

Format arff() {
    return {.name = "arff",
            .title = "ARFF",
            .about = "Weka's tables, with a header that says what each column is",
            .recognise =
                [](const Input& input) {
                    return Match{tables::is_arff(input) ? Certainty::certain : Certainty::none};
                },
            .read = read_arff_rows,
            .uses = {.label = true, .text_labels = true, .weight_column = true, .leave_out = true}};
}

}  // namespace mercer::formats
