#include "mercer/learn/cells/detail/rank_cells.hpp"

#include <cstdint>
#include <memory>
#include <utility>

#include "mercer/dist/detail/share_out.hpp"
#include "mercer/learn/detail/message.hpp"

namespace mercer {
namespace {

std::vector<std::size_t> ranks_of_cells(const std::vector<std::vector<std::size_t>>& rows,
                                        std::size_t ranks) {
    std::vector<double> costs;
    for (const auto& own : rows) {
        const auto count = static_cast<double>(own.size());
        costs.push_back(count * count);
    }
    return share_out(costs, ranks);
}

template <class T>
void write_rows_as(MessageWriter& out, const Rows& rows) {
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    std::vector<T> values;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows.is_sparse()) {
            const SparseView<T> view = rows.sparse_view<T>();
            index.insert(index.end(), view.row_index(i).begin(), view.row_index(i).end());
            values.insert(values.end(), view.row_value(i).begin(), view.row_value(i).end());
            starts.push_back(values.size());
        } else {
            const auto row = rows.dense_view<T>().row(i);
            values.insert(values.end(), row.begin(), row.end());
        }
    }
    out(rows.columns(), starts, index, values);
}

void write_rows(MessageWriter& out, const Rows& rows) {
    out(rows.is_sparse(), rows.is_double());
    rows.is_double() ? write_rows_as<double>(out, rows) : write_rows_as<float>(out, rows);
}

template <class T>
Rows read_rows_as(MessageReader& in, bool sparse) {
    std::size_t columns = 0;
    std::vector<std::size_t> starts;
    std::vector<std::uint32_t> index;
    std::vector<T> values;
    in(columns, starts, index, values);
    return sparse ? Rows::sparse(std::move(starts), std::move(index), std::move(values), columns)
                  : Rows::dense(std::move(values), columns);
}

Rows read_rows(MessageReader& in) {
    bool sparse = false, twice = false;
    in(sparse, twice);
    return twice ? read_rows_as<double>(in, sparse) : read_rows_as<float>(in, sparse);
}

/// All numbers and words of a cell's machine but its kernel, points and reports.
template <class Archive>
void pass(Archive& archive, ModelParts& model, std::vector<double>& coefficients) {
    auto& [C, nu, epsilon, tolerance, bias, tube, tube_given, class_weights, numbers] =
        model.trained;
    archive(C, nu, epsilon, tolerance, bias, tube, tube_given, class_weights, numbers);
    archive(model.task, model.multi_class, model.origins, model.class_names, model.class_values,
            model.columns, model.double_precision, coefficients, model.expansion.bias);
}

void write_machine(MessageWriter& out, const Model& machine) {
    ModelParts model = machine.parts();
    pass(out, model, model.expansion.coefficients.values());
    out(model.expansion.kernel.text());
    write_rows(out, model.expansion.points);
    out(model.reports.size());
    for (Report& report : model.reports) pass(out, report);
}

Model read_machine(MessageReader& in) {
    ModelParts model;
    std::vector<double> coefficients;
    pass(in, model, coefficients);
    std::string kernel;
    in(kernel);
    Expansion& e = model.expansion;
    e.kernel = Kernel::parse(kernel);
    e.points = read_rows(in);
    e.coefficients = Matrix<double>(e.outputs(), e.size());
    e.coefficients.values() = std::move(coefficients);
    std::size_t reports = 0;
    in(reports);
    model.reports.resize(reports);
    for (Report& report : model.reports) pass(in, report);
    return Model(std::move(model));
}

void write_cell(MessageWriter& out, const Cell& cell) {
    out(cell.state, cell.rows, cell.classes, cell.model != nullptr);
    if (cell.model) write_machine(out, *cell.model);
}

Cell read_cell(MessageReader& in) {
    Cell cell;
    bool learnt = false;
    in(cell.state, cell.rows, cell.classes, learnt);
    if (learnt) cell.model = std::make_shared<const Model>(read_machine(in));
    return cell;
}

}  // namespace

RankCells::RankCells(Communicator& ranks, const std::vector<std::vector<std::size_t>>& rows)
    : ranks_(ranks), rank_of_(ranks_of_cells(rows, ranks.size())) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
        if (rank_of_[k] == ranks.rank()) own_.push_back(k);
    }
}

void RankCells::exchange(std::vector<Cell>& cells, CellNews& news) const {
    if (ranks_.size() == 1) return;
    MessageWriter said;
    said(news.log_odds, news.late, news.refused);
    for (const std::size_t k : own_) write_cell(said, cells[k]);
    exchange_messages(ranks_, said, [&](std::span<MessageReader> readers) {
        for (MessageReader& in : readers) {
            CellNews heard;
            in(heard.log_odds, heard.late, heard.refused);
            news.log_odds = news.log_odds || heard.log_odds;
            news.late = news.late || heard.late;
            if (news.refused.empty()) news.refused = heard.refused;
        }
        for (std::size_t k = 0; k < cells.size(); ++k) {
            if (rank_of_[k] != ranks_.rank()) cells[k] = read_cell(readers[rank_of_[k]]);
        }
    });
}

}  // namespace mercer
