// Tables as people have them: columns of several kinds, found from their cells, and the recipe that
// makes numbers of them. A recipe is fitted on the rows a machine learns from and on no others,
// kept in its model, and applied to every row that is predicted.
//
//   const Table table = read_table("customers.csv");
//   for (const ColumnProfile& column : profile(table)) column.kind;
//   const auto columns = plan_columns(table, {.label = "churn"});
//   const Dataset mixed = columns->dataset(table);             // machines keep a recipe of it
//   const Recipe recipe = Recipe::fit(columns, mixed.x);       // which is made so
//   recipe.apply(columns->dataset(read_table("new.csv")).x);
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/base/words.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/objects.hpp"
#include "mercer/data/read.hpp"

namespace mercer MERCER_API {

enum class ColumnKind {
    number,      ///< with %, currency signs, separators of thousands and decimal commas read
    category,    ///< one of several names
    text,        ///< for kernels on texts
    date,        ///< a day, perhaps with a time
    yes_no,      ///< yes and no, true and false, …
    identifier,  ///< only tells rows apart: not learnt from
    constant,    ///< the same in every row: nothing can be learnt from it
};
constexpr Words column_kinds{
    std::pair{ColumnKind::number, "number"},    std::pair{ColumnKind::category, "category"},
    std::pair{ColumnKind::text, "text"},        std::pair{ColumnKind::date, "date"},
    std::pair{ColumnKind::yes_no, "yes-no"},    std::pair{ColumnKind::identifier, "identifier"},
    std::pair{ColumnKind::constant, "constant"}};

/// The cells of a table as texts in UTF-8, column by column, without quotes and outer blanks.
struct Table {
    std::string name{};                ///< the file, for messages
    std::vector<std::string> names{};  ///< one a column: of the header, else column1, column2, …
    bool has_names = false;            ///< there was a header
    std::vector<Texts> cells{};        ///< one a column
    std::vector<std::size_t> lines{};  ///< of each row in the file, from 1
    std::vector<std::optional<ColumnKind>> declared{};  ///< ARFF: as its header says
    std::string dialect{};        ///< "separated by ; with decimal commas", for people
    bool decimal_comma = false;   ///< 3,14 is a number a little above 3
    bool comma_is_known = false;  ///< some cell tells so, or that it is not
    std::string defect{};         ///< lines of another width, which only a look may pass over

    std::size_t rows() const { return lines.size(); }
    std::size_t columns() const { return cells.size(); }
    std::string_view cell(std::size_t row, std::size_t column) const {
        return cells[column].text(row);
    }
};

struct TableOptions {
    HeaderLine header = HeaderLine::automatic;
    char delimiter = 0;  ///< 0: found; ' ' is runs of blanks
    /// Names of columns that are looked for: a first line that has one of them is a header.
    std::vector<std::string> known_names{};
    std::size_t longest_line = std::size_t{1} << 23;
    Progress progress{};
};

/// Reads text with any usual separator, or with attributes as Weka writes them, compressed or not;
/// "-" is standard input. Throws InvalidInput with file and line for quotes that never close, and
/// for files that are no tables, with the way out where the format is known (xlsx, ods, parquet,
/// …).
Table read_table(const std::string& path, const TableOptions& options = {});
Table table_from_text(std::string_view content, const std::string& name = "text",
                      const TableOptions& options = {});
/// Columns given by a program; a missing cell is an empty text. Throws InvalidInput when lengths
/// differ.
Table table_of(std::vector<std::string> names, std::vector<Texts> cells,
               const std::string& name = "table");

/// A column, looked at.
struct ColumnProfile {
    std::string name{};
    ColumnKind kind = ColumnKind::number;
    std::size_t missing = 0;              ///< empty, ?, NA, …
    std::size_t distinct = 0;             ///< different cells, missing ones aside
    std::vector<std::string> examples{};  ///< the most frequent first, at most five
    std::vector<std::size_t> counts{};    ///< of the examples
    double low = 0;                       ///< numbers, and dates in days since 1970
    double high = 0;
    double mean = 0;
    std::size_t odd = 0;       ///< cells that do not fit the kind: counted as missing
    std::string odd_cell{};    ///< the first of them
    std::size_t odd_line = 0;  ///< and its line
};
std::vector<ColumnProfile> profile(const Table& table);

/// "", "?", "NA", "N/A", "nan", "null", "none", "#N/A" in any case.
bool is_missing_cell(std::string_view cell);

/// What a caller says about the columns. Columns are named as in the header, or by their number
/// from 1 (-1: the last), or first or last.
struct ColumnWishes {
    std::string label{};  ///< empty: the one named label, class, target or y, else the last; "none"
    std::string weight{};  ///< empty: none
    std::vector<std::pair<std::string, ColumnKind>> kinds{};
    std::vector<std::string> drop{};
    std::vector<std::string> identifiers{};
    bool label_is_text = false;  ///< labels that look like numbers are names
};

/// Where a date has its day: 2026-11-17, 17.11.2026, 11/17/2026.
enum class DateOrder { year_first, day_first, month_first };

/// One column that is learnt from.
struct TableColumn {
    std::string name{};
    ColumnKind kind = ColumnKind::number;
    std::size_t position = 0;           ///< in the table it was found in, from 0
    std::vector<std::string> levels{};  ///< category: the most frequent first; yes_no: no, yes
    bool more_levels = false;           ///< there were others, which are taken together
    bool gaps = false;                  ///< some row lacks it
    DateOrder order = DateOrder::year_first;
    bool has_time = false;  ///< some date has an hour

    friend bool operator==(const TableColumn&, const TableColumn&) = default;
};

/// What the columns of a table are, decided once: how its cells become rows of numbers, and those
/// of every later table like it. Immutable.
///
/// Of the rows each column that is no text is one number, not a number where the cell is missing:
/// categories are positions in their list of levels, dates are days since 1970. Texts are columns
/// of objects. What is made of that is the Recipe's.
class TableColumns {
   public:
    static constexpr std::size_t most_levels = 50;  ///< of a category, one column each

    /// As read from a model file: checked.
    TableColumns(std::vector<TableColumn> columns, ColumnRoles roles, bool label_is_text,
                 bool decimal_comma, std::vector<std::string> left_out);

    const std::vector<TableColumn>& columns() const { return columns_; }
    const ColumnRoles& roles() const { return roles_; }
    bool label_is_text() const { return label_is_text_; }
    bool decimal_comma() const { return decimal_comma_; }
    const std::vector<std::string>& left_out() const { return left_out_; }
    /// Of the table it was found in.
    std::size_t width() const;
    /// Those columns by name, the label's too.
    std::vector<std::string> names() const;

    /// The rows of a table with these columns, in any order (without a header: in the same order,
    /// with or without the label); columns beside them are left out. The
    /// label and the weight may be absent. Throws InvalidInput naming the columns that are missing,
    /// and those that may be the same under other names; for a label or weight that cannot be one;
    /// and for a table with a defect.
    Dataset dataset(const Table& table) const;
    /// The same with "none", or with the label elsewhere.
    Dataset dataset(const Table& table, const std::string& label) const;

    friend bool operator==(const TableColumns&, const TableColumns&) = default;

   private:
    std::vector<TableColumn> columns_;
    ColumnRoles roles_;
    bool label_is_text_ = false;
    bool decimal_comma_ = false;
    std::vector<std::string> left_out_;
};

/// Throws InvalidInput for wishes about columns that are not there, and when nothing is left to
/// learn from.
std::shared_ptr<const TableColumns> plan_columns(const Table& table,
                                                 const ColumnWishes& wishes = {});

/// What to know of the rows made of a table, in sentences: cells that could not be read and count
/// as missing, levels that were not known, columns that were left out.
std::vector<std::string> remarks(const Table& table, const Dataset& data);

/// From the rows of a table (TableColumns::dataset) to rows of features: gaps filled with the
/// median beside a column that marks them, numbers at mean 0 and deviation 1 (those with far
/// outliers bent by asinh first), one column for each level of a category, dates by their parts.
/// Everything is found on the rows it is fitted on. Immutable.
class Recipe {
   public:
    /// What is known of one number of the table's rows.
    struct Fitted {
        double fill = 0;    ///< the median
        bool bent = false;  ///< asinh((x − middle) / reach) in the place of x
        double middle = 0;
        double reach = 1;
        double center = 0;
        double spread = 1;         ///< 0: constant
        std::vector<bool> seen{};  ///< of each level, of "other" and of a gap

        friend bool operator==(const Fitted&, const Fitted&) = default;
    };

    /// Throws InvalidInput for no rows.
    static Recipe fit(std::shared_ptr<const TableColumns> columns, const Rows& rows);
    /// As read from a model file: checked.
    Recipe(std::shared_ptr<const TableColumns> columns, std::vector<Fitted> fitted);

    const TableColumns& columns() const { return *columns_; }
    const std::shared_ptr<const TableColumns>& shared_columns() const { return columns_; }
    const std::vector<Fitted>& fitted() const { return fitted_; }

    /// Names of the features: "age", "age is missing", "sex=M", "sold: day", …
    std::vector<std::string> names() const;
    /// Which column of the table each feature comes from.
    std::vector<std::size_t> sources() const;
    /// Throws InvalidInput for rows of another number of columns.
    Rows apply(const Rows& rows) const;

    /// JSON text that `from_json` reads back to an equal recipe.
    std::string json() const;
    /// `place` names the source in messages. Throws InvalidInput for anything but what `json`
    /// writes.
    static Recipe from_json(std::string_view text, const std::string& place = "recipe");

   private:
    std::shared_ptr<const TableColumns> columns_;
    std::vector<Fitted> fitted_;
};

/// What to say of rows whose numbers lie far outside those the recipe was fitted on, a sentence a
/// column. By Chebyshev's inequality no more than 1 / k² of these lay beyond k deviations of their
/// mean, so that more than chance explains is a change, however they were distributed. A single row
/// is told of beyond 100 deviations or so, many alike ones beyond 2.
std::vector<std::string> far_remarks(const Recipe& recipe, const Rows& rows);

/// Data as machines see it: of a table the recipe fitted on these rows and applied to them, other
/// data as it is.
Dataset prepared(const Dataset& data);

}  // namespace mercer
