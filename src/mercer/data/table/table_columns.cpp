// What is decided about the columns of a table once, and its cells made into rows by that.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/input.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/table/detail/cells.hpp"

namespace mercer {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t nowhere = ColumnRoles::none;

[[noreturn]] void refuse(const Table& table, const std::string& message) {
    throw InvalidInput(Location{.file = table.name}, message);
}

/// The levels of a category, the most frequent first, and whether some were left out.
void find_levels(const Texts& cells, TableColumn& column) {
    std::unordered_map<std::string_view, std::size_t> counts;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!is_missing_cell(cells.text(i))) ++counts[cells.text(i)];
    }
    std::vector<std::pair<std::string_view, std::size_t>> all(counts.begin(), counts.end());
    std::ranges::sort(all, [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : natural_less(a.first, b.first);
    });
    column.more_levels = all.size() > TableColumns::most_levels;
    if (column.more_levels) all.resize(TableColumns::most_levels);
    for (const auto& [level, count] : all) column.levels.emplace_back(level);
}

TableColumn planned_column(const Table& table, std::size_t j, ColumnKind kind,
                           const ColumnProfile& p) {
    TableColumn column{.name = table.names[j], .kind = kind, .position = j};
    const Texts& cells = table.cells[j];
    column.gaps = p.missing + p.odd > 0;
    if (kind == ColumnKind::number && p.kind != kind) {
        for (std::size_t i = 0; i < cells.size() && !column.gaps; ++i) {
            column.gaps = !tables::number_in(cells.text(i), table.decimal_comma);
        }
    }
    if (kind == ColumnKind::category) find_levels(cells, column);
    if (kind == ColumnKind::yes_no) column.levels = {"no", "yes"};
    if (kind != ColumnKind::date) return column;
    const auto order = tables::order_of_dates(cells);
    if (!order) {
        refuse(table, "the column " + quoted(column.name) +
                          " holds no dates that are known, such as 2026-11-17 or 17.11.2026");
    }
    column.order = *order;
    for (std::size_t i = 0; i < cells.size() && !column.has_time; ++i) {
        const auto day = tables::day_in(cells.text(i), *order);
        column.has_time = day && day->has_time;
    }
    return column;
}

/// Classes, or numbers: what labels are when nobody says.
bool names_classes(const ColumnProfile& p) {
    return p.kind != ColumnKind::number && p.kind != ColumnKind::constant;
}

/// Of every column its kind and whether it is learnt from.
struct Plan {
    std::vector<ColumnKind> kinds{};
    std::vector<bool> used{};
    std::size_t label = nowhere;
    std::size_t weight = nowhere;
};

Plan plan_by_wishes(const Table& table, const std::vector<ColumnProfile>& profiles,
                    const ColumnWishes& wishes) {
    Plan plan;
    for (const ColumnProfile& p : profiles) plan.kinds.push_back(p.kind);
    for (const auto& [name, kind] : wishes.kinds) {
        plan.kinds[tables::column_named(table, name, "such")] = kind;
    }
    for (const std::string& name : wishes.identifiers) {
        plan.kinds[tables::column_named(table, name, "identifier")] = ColumnKind::identifier;
    }
    plan.used.assign(table.columns(), true);
    for (std::size_t j = 0; j < table.columns(); ++j) {
        plan.used[j] =
            plan.kinds[j] != ColumnKind::identifier && plan.kinds[j] != ColumnKind::constant;
    }
    if (!wishes.weight.empty()) plan.weight = tables::column_named(table, wishes.weight, "weight");
    if (wishes.label.empty() && table.columns() > 1) {
        plan.label = tables::usual_label(table, profiles);
    } else if (!wishes.label.empty() && wishes.label != "none") {
        plan.label = tables::column_named(table, wishes.label, "label");
    }
    if (plan.label != nowhere && plan.label == plan.weight) {
        refuse(table, "the column " + quoted(table.names[plan.label]) +
                          " cannot be both label and weight; name another");
    }
    for (const std::string& name : wishes.drop) {
        const std::size_t j = tables::column_named(table, name, "left out");
        plan.used[j] = false;
        if (j == plan.label) plan.label = nowhere;
        if (j == plan.weight) plan.weight = nowhere;
    }
    if (plan.label != nowhere) plan.used[plan.label] = false;
    if (plan.weight != nowhere) plan.used[plan.weight] = false;
    return plan;
}

std::string listed_names(const std::vector<std::string>& names) {
    constexpr std::size_t most = 6;
    std::string text;
    for (std::size_t k = 0; k < std::min(most, names.size()); ++k) {
        text += (k == 0 ? "" : ", ") + quoted(names[k]);
    }
    return names.size() <= most ? text
                                : text + " and " + std::to_string(names.size() - most) + " more";
}

/// Where each of the columns stands in a table: by name where both have names, else by position.
class Places {
   public:
    Places(const Table& table, const TableColumns& known, const std::string& wish)
        : table_(table), known_(known) {
        if (table.has_names) {
            find_by_name();
        } else {
            find_by_position();
        }
        if (!wish.empty()) {
            label = wish == "none" ? nowhere : tables::column_named(table_, wish, "label");
        }
    }

    std::size_t column_at(const TableColumn& column) const {
        return of_column[static_cast<std::size_t>(&column - known_.columns().data())];
    }

    std::vector<std::size_t> of_column{};
    std::size_t label = nowhere;
    std::size_t weight = nowhere;

   private:
    std::size_t find(const std::string& name) const {
        const auto found = std::ranges::find(table_.names, name);
        return found == table_.names.end() ? nowhere
                                           : static_cast<std::size_t>(found - table_.names.begin());
    }

    void find_by_name() {
        std::vector<std::string> missing;
        for (const TableColumn& column : known_.columns()) {
            of_column.push_back(find(column.name));
            if (of_column.back() == nowhere) missing.push_back(column.name);
        }
        label = find(known_.roles().label_name);
        weight = find(known_.roles().weight_name);
        if (missing.empty()) return;
        std::vector<std::string> others;
        for (std::size_t j = 0; j < table_.columns(); ++j) {
            const std::string& name = table_.names[j];
            const auto is_known = [&](const TableColumn& c) { return c.name == name; };
            const bool told = std::ranges::find(known_.left_out(), name) != known_.left_out().end();
            if (!told && name != known_.roles().label_name &&
                std::ranges::none_of(known_.columns(), is_known)) {
                others.push_back(name);
            }
        }
        refuse(table_, std::string("lacks the column") + (missing.size() == 1 ? " " : "s ") +
                           listed_names(missing) + " of the " +
                           std::to_string(known_.columns().size()) + " that were trained on" +
                           (others.empty() ? ""
                                           : "; " + listed_names(others) +
                                                 " were not among them: if they are the same "
                                                 "under other names, rename them"));
    }

    /// In the same order; the label may be absent.
    void find_by_position() {
        const std::size_t width = known_.width();
        const std::size_t at = known_.roles().label;
        const bool whole = table_.columns() == width;
        if (!whole && !(at != nowhere && table_.columns() + 1 == width)) {
            refuse(table_, "has " + std::to_string(table_.columns()) +
                               " columns and no header line; trained on were " +
                               std::to_string(width) +
                               ": all must be here in the same order, or with a header line that "
                               "names them");
        }
        const auto place = [&](std::size_t position) {
            return position - (!whole && position > at ? 1 : 0);
        };
        for (const TableColumn& column : known_.columns()) {
            of_column.push_back(place(column.position));
        }
        if (whole) label = at;
        if (known_.roles().weight != nowhere) weight = place(known_.roles().weight);
    }

    const Table& table_;
    const TableColumns& known_;
};

double value_of(const TableColumn& column, std::string_view cell, bool decimal_comma,
                const std::unordered_map<std::string_view, std::size_t>& levels) {
    if (is_missing_cell(cell)) return no_number;
    switch (column.kind) {
        case ColumnKind::number: return tables::number_in(cell, decimal_comma).value_or(no_number);
        case ColumnKind::date: {
            const auto day = tables::day_in(cell, column.order);
            return day ? day->days : no_number;
        }
        case ColumnKind::yes_no: {
            const auto answer = tables::answer_in(cell);
            if (answer) return *answer ? 1 : 0;
            const auto number = tables::number_in(cell, decimal_comma);
            return number && (*number == 0 || *number == 1) ? *number : no_number;
        }
        default: {
            const auto found = levels.find(cell);
            return static_cast<double>(found == levels.end() ? column.levels.size()
                                                             : found->second);
        }
    }
}

Labels labels_in(const Table& table, std::size_t column, bool as_names, bool decimal_comma) {
    const Texts& cells = table.cells[column];
    std::vector<std::string> names;
    Labels labels;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string_view cell = cells.text(i);
        const double number =
            as_names ? 0 : tables::number_in(cell, decimal_comma).value_or(no_number);
        if (is_missing_cell(cell) || std::isnan(number)) {
            throw InvalidInput(Location{table.name, table.lines[i]},
                               "found " + (cell.empty() ? "an empty field" : quoted(cell)) +
                                   " in the label column " + quoted(table.names[column]) +
                                   ", expected a " + (as_names ? "name" : "number") +
                                   "; fill it in, drop the row, or leave the labels out with "
                                   "`label=none`");
        }
        if (as_names) {
            names.emplace_back(cell);
        } else {
            if (formats::loses_digits(cell, number)) {
                throw InvalidInput(Location{table.name, table.lines[i]},
                                   formats::lost_digits(cell, number));
            }
            labels.values.push_back(number);
        }
    }
    return as_names ? formats::labels_from_names(names) : labels;
}

}  // namespace

TableColumns::TableColumns(std::vector<TableColumn> columns, ColumnRoles roles, bool label_is_text,
                           bool decimal_comma, std::vector<std::string> left_out)
    : columns_(std::move(columns)),
      roles_(std::move(roles)),
      label_is_text_(label_is_text),
      decimal_comma_(decimal_comma),
      left_out_(std::move(left_out)) {
    if (columns_.empty()) throw InvalidInput("a table needs a column to learn from");
    for (const std::size_t position : {roles_.label, roles_.weight}) {
        if (position == nowhere || position < width()) continue;
        throw InvalidInput("a label or weight in column " + std::to_string(position + 1) + " of " +
                           std::to_string(width()));
    }
    std::set<std::string> names;
    for (const TableColumn& column : columns_) {
        if (!names.insert(column.name).second) {
            throw InvalidInput("two columns are named " + quoted(column.name));
        }
        if (column.position >= width()) {
            throw InvalidInput("the column " + quoted(column.name) + " is number " +
                               std::to_string(column.position + 1) + " of " +
                               std::to_string(width()));
        }
        if (column.levels.size() > most_levels) {
            throw InvalidInput("the column " + quoted(column.name) + " has " +
                               std::to_string(column.levels.size()) + " levels; at most " +
                               std::to_string(most_levels) + " are possible");
        }
        if (column.kind == ColumnKind::identifier || column.kind == ColumnKind::constant) {
            throw InvalidInput("the column " + quoted(column.name) + " is not to be learnt from");
        }
    }
}

std::size_t TableColumns::width() const {
    return columns_.size() + left_out_.size() + (roles_.label == nowhere ? 0 : 1) +
           (roles_.weight == nowhere ? 0 : 1);
}

std::vector<std::string> TableColumns::names() const {
    std::vector<std::string> names;
    for (const TableColumn& column : columns_) names.push_back(column.name);
    if (!roles_.label_name.empty()) names.push_back(roles_.label_name);
    return names;
}

Dataset TableColumns::dataset(const Table& table) const {
    return dataset(table, "");
}

Dataset TableColumns::dataset(const Table& table, const std::string& label) const {
    if (!table.defect.empty()) throw InvalidInput(table.defect);
    const Places places(table, *this, label);
    const bool comma = table.comma_is_known ? table.decimal_comma : decimal_comma_;
    const std::size_t rows = table.rows();
    Dataset data;
    std::vector<std::size_t> numbers;
    std::vector<ObjectColumn> texts;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
        if (columns_[k].kind != ColumnKind::text) {
            numbers.push_back(k);
            data.feature_names.push_back(columns_[k].name);
            continue;
        }
        const Texts& cells = table.cells[places.of_column[k]];
        texts.push_back(ObjectColumn::texts(columns_[k].name, cells));
    }
    std::vector<double> values(rows * numbers.size());
    for (std::size_t c = 0; c < numbers.size(); ++c) {
        const TableColumn& column = columns_[numbers[c]];
        std::unordered_map<std::string_view, std::size_t> levels;
        for (std::size_t l = 0; l < column.levels.size(); ++l) levels[column.levels[l]] = l;
        const Texts& cells = table.cells[places.of_column[numbers[c]]];
        for (std::size_t i = 0; i < rows; ++i) {
            values[i * numbers.size() + c] = value_of(column, cells.text(i), comma, levels);
        }
    }
    if (!numbers.empty()) data.x = Rows::dense(std::move(values), numbers.size());
    if (!texts.empty()) data.x = data.x.with_objects(std::move(texts));
    data.roles.label_name = roles_.label_name;
    data.roles.weight_name = roles_.weight_name;
    if (places.label != nowhere) {
        data.y = labels_in(table, places.label, label_is_text_, comma);
        data.roles.label_name = table.names[places.label];
    }
    if (places.weight != nowhere) {
        data.weights = labels_in(table, places.weight, false, comma).values;
    }
    data.table = std::make_shared<const TableColumns>(*this);
    data.check();
    return data;
}

std::vector<std::string> remarks(const Table& table, const Dataset& data) {
    std::vector<std::string> sentences;
    const TableColumns& columns = *data.table;
    const Places places(table, columns, "none");
    std::size_t c = 0;
    std::vector<double> row(data.columns());
    for (const TableColumn& column : columns.columns()) {
        if (column.kind == ColumnKind::text) continue;
        const std::size_t number = c++;
        const std::size_t place = places.column_at(column);
        std::size_t odd = 0, unknown = 0, first = 0;
        for (std::size_t i = 0; i < data.size(); ++i) {
            data.x.copy_row(i, row);
            const bool gap = std::isnan(row[number]) && !is_missing_cell(table.cell(i, place));
            const bool other = column.kind == ColumnKind::category && !column.more_levels &&
                               row[number] >= static_cast<double>(column.levels.size());
            if ((gap || other) && odd + unknown == 0) first = i;
            odd += gap ? 1 : 0;
            unknown += other ? 1 : 0;
        }
        if (odd + unknown == 0) continue;
        const std::string cell =
            quoted(table.cell(first, place)) + " in line " + std::to_string(table.lines[first]);
        const std::string kind(column_kinds.word(column.kind));
        const std::string count = std::to_string(odd + unknown);
        sentences.push_back("the column " + quoted(column.name) + " has " + count +
                            (odd > 0 ? " cells that are no " + kind + " and count as missing"
                                     : " cells that are none of the levels trained on") +
                            ", such as " + cell);
    }
    return sentences;
}

std::shared_ptr<const TableColumns> plan_columns(const Table& table, const ColumnWishes& wishes) {
    const std::vector<ColumnProfile> profiles = profile(table);
    const Plan plan = plan_by_wishes(table, profiles, wishes);
    std::vector<TableColumn> columns;
    std::vector<std::string> left_out;
    ColumnRoles roles;
    for (std::size_t j = 0; j < table.columns(); ++j) {
        if (plan.used[j]) {
            columns.push_back(planned_column(table, j, plan.kinds[j], profiles[j]));
        } else if (j != plan.label && j != plan.weight) {
            left_out.push_back(table.names[j]);
        }
    }
    if (columns.empty()) {
        refuse(table,
               "has no column left to learn from beside label and weight: the others are "
               "identifiers, constant or left out; say what they are with `column`");
    }
    bool names = false;
    if (plan.label != nowhere) {
        roles.label = plan.label;
        roles.label_name = table.names[plan.label];
        const bool told = plan.kinds[plan.label] != profiles[plan.label].kind;
        names = wishes.label_is_text || (told ? plan.kinds[plan.label] != ColumnKind::number
                                              : names_classes(profiles[plan.label]));
        if (!names && profiles[plan.label].kind == ColumnKind::constant) {
            names = !tables::number_in(table.cell(0, plan.label), table.decimal_comma);
        }
    }
    if (plan.weight != nowhere) {
        roles.weight = plan.weight;
        roles.weight_name = table.names[plan.weight];
    }
    return std::make_shared<const TableColumns>(std::move(columns), std::move(roles), names,
                                                table.decimal_comma, std::move(left_out));
}

}  // namespace mercer
