#include "mercer/persist/detail/cell_arrays.hpp"

#include <algorithm>

#include "mercer/persist/detail/model_text.hpp"

namespace mercer::persist {
namespace {

std::string cell_text(const Cell& cell) {
    std::string text = "{\"state\":\"" + std::string(cell_state_words.word(cell.state)) +
                       "\",\"rows\":" + std::to_string(cell.rows);
    if (!cell.model) return text + ",\"constant\":" + json_list(cell.constant) + "}";
    const Expansion& e = cell.model->expansion();
    return text + ",\"kernel\":" + json_text(e.kernel.text()) +
           ",\"classes\":" + json_list(cell.classes) + ",\"points\":" + std::to_string(e.size()) +
           ",\"outputs\":" + std::to_string(e.outputs()) +
           ",\"double_precision\":" + json_value(cell.model->double_precision()) +
           ",\"trained\":" + trained_text(cell.model->trained()) +
           ",\"reports\":" + reports_text(cell.model->reports()) + "}";
}

/// All of them, one after another; in one form, which the widest of them needs.
template <class T>
Rows joined_as(const std::vector<Rows>& parts, std::size_t columns, bool sparse) {
    std::vector<T> values;
    std::vector<std::uint32_t> index;
    std::vector<std::size_t> starts{0};
    for (const Rows& part : parts) {
        if (part.size() == 0) continue;
        const Rows precise = sizeof(T) == sizeof(double) ? part.to_double() : part;
        if (!sparse) {
            const MatrixView<const T> view = precise.dense_view<T>();
            values.insert(values.end(), view.data, view.data + view.rows * view.columns);
            continue;
        }
        const Rows own = precise.is_sparse() ? precise : precise.to_sparse();
        const SparseView<T> view = own.sparse_view<T>();
        for (std::size_t i = 0; i < view.rows; ++i) {
            const auto columns_of_row = view.row_index(i);
            const auto values_of_row = view.row_value(i);
            index.insert(index.end(), columns_of_row.begin(), columns_of_row.end());
            values.insert(values.end(), values_of_row.begin(), values_of_row.end());
            starts.push_back(values.size());
        }
    }
    return sparse ? Rows::sparse(std::move(starts), std::move(index), std::move(values), columns)
                  : Rows::dense(std::move(values), columns);
}

Rows joined(const std::vector<Rows>& parts, std::size_t columns) {
    const bool sparse = std::ranges::any_of(parts, [](const Rows& r) { return r.is_sparse(); });
    const bool twice = std::ranges::any_of(parts, [](const Rows& r) { return r.is_double(); });
    return twice ? joined_as<double>(parts, columns, sparse)
                 : joined_as<float>(parts, columns, sparse);
}

/// The numbers of all cells, from which each takes its own.
struct Numbers {
    Rows points{};
    std::vector<double> coefficients{};
    std::vector<double> bias{};
    std::vector<std::size_t> origins{};
    std::size_t point = 0, coefficient = 0, output = 0;  ///< taken so far
};

/// The number of its points and outputs must be there before anything is made of them.
void take_numbers(Numbers& n, std::size_t points, std::size_t outputs, ModelParts& model,
                  const std::string& place) {
    const std::size_t points_left = n.points.size() - n.point;
    const std::size_t outputs_left = n.bias.size() - n.output;
    if (points > points_left || outputs > outputs_left ||
        (outputs > 0 && points > (n.coefficients.size() - n.coefficient) / outputs)) {
        throw InvalidInput(place + ": " + std::to_string(outputs) + " x " + std::to_string(points) +
                           " coefficients are not left in the arrays");
    }
    Expansion& e = model.expansion;
    e.points = n.points.slice(n.point, points);
    e.coefficients = Matrix<double>(outputs, points);
    const auto from = n.coefficients.begin() + static_cast<std::ptrdiff_t>(n.coefficient);
    std::copy_n(from, outputs * points, e.coefficients.values().begin());
    const auto bias = n.bias.begin() + static_cast<std::ptrdiff_t>(n.output);
    e.bias.assign(bias, bias + static_cast<std::ptrdiff_t>(outputs));
    if (!n.origins.empty()) {
        const auto origin = n.origins.begin() + static_cast<std::ptrdiff_t>(n.point);
        model.origins.assign(origin, origin + static_cast<std::ptrdiff_t>(points));
    }
    n.point += points;
    n.coefficient += outputs * points;
    n.output += outputs;
}

Cell read_cell(const Json& json, const ModelParts& whole, Numbers& numbers,
               const std::string& place) {
    Cell cell;
    std::string state;
    read_json(member(json, "state", place), state, place + ": \"state\"");
    const auto found = cell_state_words.find(state);
    if (!found) throw InvalidInput(place + ": \"state\" is " + quoted(state));
    cell.state = *found;
    cell.rows = read_count(member(json, "rows", place), place + ": \"rows\"");
    if (cell.state != CellState::learnt) {
        read_json(member(json, "constant", place), cell.constant, place + ": \"constant\"");
        return cell;
    }
    ModelParts model;
    model.task = whole.task;
    model.multi_class = whole.multi_class;
    model.columns = whole.columns;
    std::string kernel;
    read_json(member(json, "kernel", place), kernel, place + ": \"kernel\"");
    model.expansion.kernel = read_kernel(kernel, place);
    read_json(member(json, "classes", place), cell.classes, place + ": \"classes\"");
    for (const std::size_t c : cell.classes) {
        if (c >= whole.classes()) {
            throw InvalidInput(place + ": \"classes\" names class " + std::to_string(c) + " of " +
                               std::to_string(whole.classes()));
        }
        model.class_names.push_back(whole.class_names[c]);
        if (!whole.class_values.empty()) model.class_values.push_back(whole.class_values[c]);
    }
    read_json(member(json, "double_precision", place), model.double_precision,
              place + ": \"double_precision\"");
    read_trained(member(json, "trained", place), model.trained, place + ": \"trained\"");
    const Json& reports = member(json, "reports", place);
    for (const Json& item : array_at(reports, place + ": \"reports\"")) {
        model.reports.push_back(read_report(item, 0, place + ": \"reports\""));
    }
    take_numbers(numbers, read_count(member(json, "points", place), place + ": \"points\""),
                 read_count(member(json, "outputs", place), place + ": \"outputs\""), model, place);
    cell.model = std::make_shared<const Model>(std::move(model), place);
    return cell;
}

CellTree read_tree(ArrayTaker& in, const std::string& place) {
    const Tensor& shape = in.need("cells.forks", 2);
    const Tensor& planes_shape = in.need("cells.planes", 2);
    if (shape.type != Type::i64 || shape.shape[1] != 2 || planes_shape.type != Type::f64) {
        in.fail("arrays 'cells.forks' and 'cells.planes' must be I64 of two columns, and F64");
    }
    std::vector<CellTree::Fork> forks(shape.shape[0]);
    if (!forks.empty()) std::memcpy(forks.data(), shape.bytes.data(), shape.bytes.size());
    Matrix<double> planes(planes_shape.shape[0], planes_shape.shape[1]);
    if (!planes_shape.bytes.empty()) {
        std::memcpy(planes.values().data(), planes_shape.bytes.data(), planes_shape.bytes.size());
    }
    return CellTree(std::move(planes), std::move(forks), place);
}

}  // namespace

void pack_cells(const Cells& cells, Container& out, CellArrays& kept) {
    std::string text = "[";
    std::vector<Rows> points;
    bool origins = true;
    for (const Cell& cell : cells.all) {
        if (&cell != cells.all.data()) text += ",";
        text += cell_text(cell);
        if (!cell.model) continue;
        const Expansion& e = cell.model->expansion();
        points.push_back(e.points);
        const auto& values = e.coefficients.values();
        kept.coefficients.insert(kept.coefficients.end(), values.begin(), values.end());
        kept.bias.insert(kept.bias.end(), e.bias.begin(), e.bias.end());
        const auto& own = cell.model->origins();
        origins = origins && own.size() == e.size();
        kept.origins.insert(kept.origins.end(), own.begin(), own.end());
    }
    out.metadata["cells"] = text + "]";
    std::size_t columns = 0;
    for (const Rows& part : points) columns = std::max(columns, part.columns());
    kept.points = joined(points, columns);
    add_rows(kept.points, "cells.points", out);
    out.tensors.push_back(
        tensor_of("cells.coefficients", {kept.coefficients.size()}, kept.coefficients.data()));
    out.tensors.push_back(tensor_of("cells.bias", {kept.bias.size()}, kept.bias.data()));
    if (origins && !kept.origins.empty()) {
        out.tensors.push_back(
            tensor_of("cells.origins", {kept.origins.size()}, kept.origins.data()));
    }
    for (const CellTree::Fork& fork : cells.tree.forks()) {
        for (const std::int64_t way : fork) kept.forks.push_back(static_cast<std::size_t>(way));
    }
    const Matrix<double>& planes = cells.tree.planes();
    out.tensors.push_back(tensor_of("cells.forks", {kept.forks.size() / 2, 2}, kept.forks.data()));
    out.tensors.push_back(
        tensor_of("cells.planes", {planes.rows(), planes.columns()}, planes.values().data()));
}

void unpack_cells(const Container& container, ArrayTaker& in, ModelParts& model,
                  const std::string& name) {
    if (!container.metadata.contains("cells")) return;
    const std::string place = name + ": cells";
    CellTree tree = read_tree(in, place);
    Numbers numbers;
    numbers.points = in.rows("cells.points");
    numbers.coefficients = in.values<double>("cells.coefficients", 1);
    numbers.bias = in.values<double>("cells.bias", 1);
    if (in.has("cells.origins")) numbers.origins = in.positions("cells.origins");
    if (!numbers.origins.empty() && numbers.origins.size() != numbers.points.size()) {
        in.fail(std::to_string(numbers.origins.size()) + " entries of 'cells.origins' for " +
                std::to_string(numbers.points.size()) + " points");
    }
    constexpr std::size_t depth = 5;  // cells, a cell, its reports, one of them, its figures
    const Json list = parse_json(metadata_text(container.metadata, "cells", name), depth, place);
    std::vector<Cell> cells;
    for (const Json& item : array_at(list, place)) {
        cells.push_back(
            read_cell(item, model, numbers, place + "[" + std::to_string(cells.size()) + "]"));
    }
    if (numbers.point != numbers.points.size() || numbers.output != numbers.bias.size() ||
        numbers.coefficient != numbers.coefficients.size()) {
        in.fail("the cells leave points, coefficients or biases without an owner");
    }
    model.extras.set(Cells(std::move(tree), std::move(cells)));
}

}  // namespace mercer::persist
