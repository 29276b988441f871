#include "mercer/persist/detail/model_arrays.hpp"

#include <algorithm>

#include "mercer/persist/detail/model_text.hpp"
#include "mercer/persist/detail/object_arrays.hpp"

namespace mercer::persist {
namespace {

template <class T>
void add_rows_as(const Rows& rows, const std::string& name, Container& out) {
    if (!rows.is_sparse() && (rows.columns() > 0 || rows.size() == 0)) {
        out.tensors.push_back(
            tensor_of(name, {rows.size(), rows.columns()}, rows.dense_view<T>().data));
        return;
    }
    // Dense rows without columns leave no bytes that would bound their number: they go as sparse.
    static constexpr std::size_t zero = 0;
    const Rows sparse = rows.is_sparse() ? rows : rows.to_sparse();
    const SparseView<T> view = sparse.sparse_view<T>();
    const std::size_t entries = view.nonzeros();
    out.tensors.push_back(
        tensor_of(name + ".starts", {view.rows + 1}, view.starts == nullptr ? &zero : view.starts));
    out.tensors.push_back(tensor_of(name + ".index", {entries}, view.index));
    out.tensors.push_back(tensor_of(name + ".values", {entries}, view.value));
    out.metadata[name + ".columns"] = std::to_string(view.columns);
}

}  // namespace

void add_rows(const Rows& rows, const std::string& name, Container& out) {
    if (rows.is_double()) {
        add_rows_as<double>(rows, name, out);
    } else {
        add_rows_as<float>(rows, name, out);
    }
}

const Tensor& ArrayTaker::need(const std::string& array, std::size_t dimensions) {
    const Tensor* tensor = container_.find(array);
    if (tensor == nullptr) fail("array " + quoted(array) + " is missing");
    if (tensor->shape.size() != dimensions) {
        fail("array " + quoted(array) + " has " + std::to_string(tensor->shape.size()) +
             " dimensions, expected " + std::to_string(dimensions));
    }
    ++taken_;
    return *tensor;
}

std::vector<std::size_t> ArrayTaker::positions(const std::string& array) {
    std::vector<std::size_t> result = values<std::size_t>(array, 1);
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
    for (const std::size_t value : result) {
        if (value <= most) continue;
        fail("array " + quoted(array) + " holds the negative number " +
             std::to_string(static_cast<std::int64_t>(value)));
    }
    return result;
}

template <class T>
Rows ArrayTaker::rows_as(const std::string& array) {
    if (has(array)) {
        std::vector<T> numbers = values<T>(array, 2);
        const std::vector<std::size_t>& shape = container_.find(array)->shape;
        if (shape[1] == 0 && shape[0] > 0) {
            fail("array " + quoted(array) + " has rows without columns");
        }
        return Rows::dense(std::move(numbers), shape[1]);
    }
    const std::size_t columns = metadata_count(container_.metadata, array + ".columns", name_);
    if (columns > std::size_t{1} << 32) {
        fail("array " + quoted(array) + " has " + std::to_string(columns) +
             " columns; sparse rows count them in 32 bits");
    }
    std::vector<std::size_t> starts = positions(array + ".starts");
    std::vector<std::uint32_t> index = values<std::uint32_t>(array + ".index", 1);
    std::vector<T> numbers = values<T>(array + ".values", 1);
    try {
        return Rows::sparse(std::move(starts), std::move(index), std::move(numbers), columns);
    } catch (const InvalidInput& error) {
        fail(array + ": " + error.what());
    }
}

Rows ArrayTaker::rows(const std::string& array) {
    const std::string numbers = has(array) ? array : array + ".values";
    const bool in_double = has(numbers) && container_.find(numbers)->type == Type::f64;
    return with_objects(in_double ? rows_as<double>(array) : rows_as<float>(array), array,
                        container_, name_, taken_);
}

void ArrayTaker::check_all_taken() const {
    if (taken_ == container_.tensors.size()) return;
    constexpr std::size_t most = 40;
    std::string names;
    for (std::size_t i = 0; i < std::min(most, container_.tensors.size()); ++i) {
        names += " " + quoted(container_.tensors[i].name);
    }
    fail("holds arrays that do not belong to this model; there are" + names +
         (container_.tensors.size() > most ? " …" : ""));
}

}  // namespace mercer::persist
