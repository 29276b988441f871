#include "arrays.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/data/objects.hpp"

namespace mercer::python {
namespace {

template <class T>
using Dense = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Flat = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Rows dense_rows(Dense<T> values) {
    const MatrixView<const T> view(values.data(), values.shape(0), values.shape(1));
    return Rows::borrow(view, keep_alive(nb::cast(values)));
}

/// The starts are few; they are copied in any case, and a negative one becomes too large to pass.
template <class I>
std::vector<std::size_t> starts_of(const Flat<I>& starts) {
    std::vector<std::size_t> result(starts.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = static_cast<std::size_t>(starts.data()[i]);
    }
    return result;
}

/// The numbers are used where they are. Their columns are copied, and the copy is checked: another
/// thread may write to the array while we compute, and columns that change would lead anywhere.
template <class T, class I>
Rows sparse_rows(Flat<T> values, Flat<I> index, Flat<I> starts, std::size_t columns) {
    struct Held {
        std::vector<std::uint32_t> index;
        std::shared_ptr<const void> values;
    };
    auto held = std::make_shared<Held>();
    held->index.resize(index.size());
    for (std::size_t k = 0; k < index.size(); ++k) {
        const std::int64_t column = index.data()[k];
        if (column < 0 || column > std::numeric_limits<std::uint32_t>::max()) {
            throw InvalidInput("sparse rows: column " + std::to_string(column) +
                               " must be from 0 to 4294967295");
        }
        held->index[k] = static_cast<std::uint32_t>(column);
    }
    held->values = keep_alive(nb::cast(values));
    const std::span<const std::uint32_t> places(held->index);
    return Rows::borrow(starts_of(starts), places, {values.data(), values.size()}, columns, held);
}

template <class T>
nb::tuple arrays_of(const Rows& rows) {
    if (!rows.is_sparse()) {
        const MatrixView<const T> view = rows.dense_view<T>();
        return nb::make_tuple(give(std::vector<T>(view.data, view.data + view.rows * view.columns),
                                   {view.rows, view.columns}));
    }
    const SparseView<T> view = rows.sparse_view<T>();
    const std::size_t count = view.nonzeros();
    return nb::make_tuple(
        give(std::vector<T>(view.value, view.value + count)),
        give(std::vector<std::int64_t>(view.index, view.index + count)),
        give(std::vector<std::int64_t>(view.starts, view.starts + view.rows + 1)));
}

/// An array over numbers that the rows keep.
template <class T>
nb::ndarray<nb::numpy, const T> look_at(const T* first, std::vector<std::size_t> shape,
                                        const Rows& rows) {
    auto* held = new Rows(rows);
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Rows*>(p); });
    return {first, shape.size(), shape.data(), owner};
}

template <class T>
nb::tuple views_of(const Rows& rows) {
    if (!rows.is_sparse()) {
        const MatrixView<const T> view = rows.dense_view<T>();
        return nb::make_tuple(look_at(view.data, {view.rows, view.columns}, rows));
    }
    const SparseView<T> view = rows.sparse_view<T>();
    const std::size_t count = view.nonzeros();
    std::vector<std::int64_t> starts(view.starts, view.starts + view.rows + 1);
    return nb::make_tuple(
        look_at(view.value, {count}, rows),
        // As SciPy counts columns; whoever reads them as rows checks that none is negative.
        look_at(reinterpret_cast<const std::int32_t*>(view.index), {count}, rows),
        give(std::move(starts)));
}

/// Where the numbers lie, for the proof that nothing was copied.
std::size_t address_of(const Rows& rows) {
    if (rows.size() == 0) return 0;
    const void* first = nullptr;
    if (rows.is_sparse()) {
        first = rows.is_double() ? static_cast<const void*>(rows.sparse_view<double>().value)
                                 : rows.sparse_view<float>().value;
    } else {
        first = rows.is_double() ? static_cast<const void*>(rows.dense_view<double>().data)
                                 : rows.dense_view<float>().data;
    }
    return reinterpret_cast<std::size_t>(first);
}

/// (nodes, edges, node labels or None, edge labels or None, attributes or None)
Graphs graph_from(const nb::handle& parts) {
    using Pairs = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
    const auto list = nb::cast<nb::tuple>(parts);
    const auto nodes = nb::cast<std::size_t>(list[0]);
    const auto pairs = nb::cast<Pairs>(list[1]);
    std::vector<Edge> edges(pairs.shape(0));
    const bool labelled = !list[3].is_none();
    const auto names = labelled ? nb::cast<std::vector<std::int64_t>>(list[3])
                                : std::vector<std::int64_t>(edges.size(), 0);
    if (names.size() != edges.size()) {
        throw InvalidInput("a graph has " + std::to_string(edges.size()) + " edges and " +
                           std::to_string(names.size()) + " labels of them");
    }
    for (std::size_t k = 0; k < edges.size(); ++k) {
        edges[k] = {static_cast<std::uint32_t>(pairs.data()[2 * k]),
                    static_cast<std::uint32_t>(pairs.data()[2 * k + 1]), names[k]};
    }
    std::vector<std::int64_t> labels;
    if (!list[2].is_none()) labels = nb::cast<std::vector<std::int64_t>>(list[2]);
    std::vector<double> values;
    if (!list[4].is_none()) {
        const auto table = nb::cast<Table>(list[4]);
        values.assign(table.data(), table.data() + table.size());
    }
    return graph_of(nodes, edges, labelled, std::move(labels), std::move(values));
}

/// A plain number of Python; false for anything else.
bool read_whole(PyObject* object, std::int64_t& value) {
    if (object == nullptr || !PyLong_CheckExact(object)) return false;
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
}

/// Entry k of a tuple or list of Python, borrowed; null for anything else.
PyObject* entry(PyObject* pair, Py_ssize_t k) {
    if (PyTuple_CheckExact(pair)) return PyTuple_GetItem(pair, k);
    return PyList_CheckExact(pair) ? PyList_GetItem(pair, k) : nullptr;
}
bool is_pair(PyObject* object) {
    return (PyTuple_CheckExact(object) && PyTuple_Size(object) == 2) ||
           (PyList_CheckExact(object) && PyList_Size(object) == 2);
}

/// ([(node, node), …], [label, …]) in plain numbers, the common case, without a call of Python's.
/// False for whatever is not exactly that.
bool read_plain(PyObject* graph, std::vector<Edge>& edges, std::vector<std::int64_t>& labels) {
    if (!is_pair(graph)) return false;
    PyObject* const pairs = entry(graph, 0);
    PyObject* const names = entry(graph, 1);
    if (!PyList_CheckExact(pairs) || !PyList_CheckExact(names)) return false;
    const Py_ssize_t nodes = PyList_Size(names);
    const Py_ssize_t count = PyList_Size(pairs);
    labels.resize(static_cast<std::size_t>(nodes));
    for (Py_ssize_t v = 0; v < nodes; ++v) {
        if (!read_whole(PyList_GetItem(names, v), labels[static_cast<std::size_t>(v)]))
            return false;
    }
    edges.resize(static_cast<std::size_t>(count));
    for (Py_ssize_t e = 0; e < count; ++e) {
        PyObject* const pair = PyList_GetItem(pairs, e);
        std::int64_t from = 0;
        std::int64_t to = 0;
        if (!is_pair(pair) || !read_whole(entry(pair, 0), from) || !read_whole(entry(pair, 1), to))
            return false;
        if (from < 0 || to < 0 || from >= nodes || to >= nodes) return false;
        edges[static_cast<std::size_t>(e)] = {static_cast<std::uint32_t>(from),
                                              static_cast<std::uint32_t>(to)};
    }
    return nodes < std::int64_t{1} << 32;
}

/// Graphs in plain numbers as they are, all others as `parts_of`, a function of Python, says.
Graphs graphs_from(const nb::list& list, const nb::callable& parts_of) {
    Graphs graphs;
    std::vector<Edge> edges;
    std::vector<std::int64_t> labels;
    for (const nb::handle& graph : list) {
        if (read_plain(graph.ptr(), edges, labels)) {
            graphs.push_back(graph_of(labels.size(), edges, false, labels).view(0));
        } else {
            graphs.push_back(graph_from(parts_of(graph)).view(0));
        }
    }
    return graphs;
}

/// (nodes, edges, weights or None, rows): nodes of one graph
ObjectColumn nodes_from(const std::string& name, const nb::tuple& parts) {
    using Pairs = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
    const auto pairs = nb::cast<Pairs>(parts[1]);
    std::vector<WeightedEdge> edges(pairs.shape(0));
    for (std::size_t k = 0; k < edges.size(); ++k) {
        edges[k] = {static_cast<std::uint32_t>(pairs.data()[2 * k]),
                    static_cast<std::uint32_t>(pairs.data()[2 * k + 1])};
    }
    if (!parts[2].is_none()) {
        const auto weights = nb::cast<Numbers>(parts[2]);
        for (std::size_t k = 0; k < edges.size() && k < weights.size(); ++k) {
            edges[k].weight = weights.data()[k];
        }
    }
    return ObjectColumn::nodes(name, weighted_graph_of(nb::cast<std::size_t>(parts[0]), edges),
                               nb::cast<std::vector<std::size_t>>(parts[3]));
}

/// Numbers, which are copied, and columns of texts, graphs or nodes: (name, list) each.
Rows structured_rows(const Table& numbers, const nb::list& columns, const nb::callable& parts_of) {
    std::vector<ObjectColumn> objects;
    for (const nb::handle& entry : columns) {
        const auto pair = nb::cast<nb::tuple>(entry);
        const auto name = nb::cast<std::string>(pair[0]);
        if (nb::isinstance<nb::tuple>(pair[1])) {
            objects.push_back(nodes_from(name, nb::cast<nb::tuple>(pair[1])));
            continue;
        }
        const auto list = nb::cast<nb::list>(pair[1]);
        if (nb::len(list) > 0 && nb::isinstance<nb::str>(list[0])) {
            Texts texts;
            for (const nb::handle& text : list) texts.push_back(nb::cast<std::string>(text));
            objects.push_back(ObjectColumn::texts(name, std::move(texts)));
        } else {
            objects.push_back(ObjectColumn::graphs(name, graphs_from(list, parts_of)));
        }
    }
    Rows rows;
    if (numbers.shape(1) > 0) {
        rows = Rows::dense(std::vector<double>(numbers.data(), numbers.data() + numbers.size()),
                           numbers.shape(1));
    }
    return rows.with_objects(std::move(objects));
}

}  // namespace

std::shared_ptr<const void> keep_alive(nb::object object) {
    PyObject* held = object.release().ptr();
    return {held, [](const void* p) {
                const nb::gil_scoped_acquire lock;
                Py_DECREF(static_cast<PyObject*>(const_cast<void*>(p)));
            }};
}

nb::dict texts_of(const Rows& rows) {
    nb::dict result;
    for (const ObjectColumn& column : rows.objects()) {
        nb::list list;
        if (column.kind() == ObjectKind::text) {
            for (std::size_t i = 0; i < column.size(); ++i) {
                const std::string_view text = column.text(i);
                list.append(nb::steal(PyUnicode_DecodeUTF8(
                    text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
            }
        }
        result[nb::str(column.name().c_str())] = list;
    }
    return result;
}

nb::tuple rows_to_arrays(const Rows& rows, bool look) {
    if (look || place_of(rows) != RowPlace::memory) {
        return rows.is_double() ? views_of<double>(rows) : views_of<float>(rows);
    }
    return rows.is_double() ? arrays_of<double>(rows) : arrays_of<float>(rows);
}

void bind_rows(nb::module_& m) {
    nb::class_<Rows>(m, "Rows", "Rows of numbers over arrays of NumPy or SciPy, not copied.")
        .def_static("dense", &dense_rows<float>, nb::arg("values").noconvert())
        .def_static("dense", &dense_rows<double>, nb::arg("values").noconvert())
        .def_static("sparse", &sparse_rows<float, std::int32_t>, nb::arg("values").noconvert(),
                    nb::arg("index").noconvert(), nb::arg("starts").noconvert(), nb::arg("columns"))
        .def_static("sparse", &sparse_rows<double, std::int32_t>, nb::arg("values").noconvert(),
                    nb::arg("index").noconvert(), nb::arg("starts").noconvert(), nb::arg("columns"))
        .def_static("sparse", &sparse_rows<float, std::int64_t>, nb::arg("values").noconvert(),
                    nb::arg("index").noconvert(), nb::arg("starts").noconvert(), nb::arg("columns"))
        .def_static("sparse", &sparse_rows<double, std::int64_t>, nb::arg("values").noconvert(),
                    nb::arg("index").noconvert(), nb::arg("starts").noconvert(), nb::arg("columns"))
        .def_static("structured", &structured_rows, nb::arg("numbers"), nb::arg("columns"),
                    nb::arg("parts_of"))
        .def("texts", &texts_of)
        .def("__len__", &Rows::size)
        .def_prop_ro("columns", &Rows::columns)
        .def_prop_ro("address", &address_of)
        .def("arrays", [](const Rows& rows) { return rows_to_arrays(rows); });
}

}  // namespace mercer::python
