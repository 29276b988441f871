#include "mercer/persist/model_file.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/source.hpp"
#include "mercer/learn/detail/model_check.hpp"
#include "mercer/persist/detail/cell_arrays.hpp"
#include "mercer/persist/detail/container.hpp"
#include "mercer/persist/detail/model_arrays.hpp"
#include "mercer/persist/detail/model_text.hpp"
#include "mercer/persist/detail/object_arrays.hpp"

namespace mercer {
namespace {

using namespace persist;

/// What stands before the names of the arrays of extras in the file, so that no name can be taken
/// for an array of the expansion.
constexpr std::string_view extra = "extra.";
/// The same for everything of a companion.
constexpr std::string_view companion = "companion.";

// ---- Out.

/// Points that are rows of a given matrix keep only the entries between them, where that is
/// shorter: the columns of other rows are never read.
Rows points_to_keep(const Expansion& e) {
    const auto columns = columns_read(e);
    const std::size_t number = e.points.is_double() ? sizeof(double) : sizeof(float);
    if (!columns || e.points.is_sparse() ||
        columns->size() * (number + sizeof(std::uint32_t)) >= e.points.columns() * number) {
        return e.points;
    }
    const auto keep = [&]<class T>(MatrixView<const T> rows) {
        std::vector<std::size_t> starts{0};
        std::vector<std::uint32_t> index;
        std::vector<T> values;
        for (std::size_t i = 0; i < rows.rows; ++i) {
            for (const std::size_t k : *columns) {
                if (rows(i, k) == T{0}) continue;
                index.push_back(static_cast<std::uint32_t>(k));
                values.push_back(rows(i, k));
            }
            starts.push_back(index.size());
        }
        return Rows::sparse(std::move(starts), std::move(index), std::move(values), rows.columns);
    };
    return e.points.is_double() ? keep(e.points.dense_view<double>())
                                : keep(e.points.dense_view<float>());
}

/// A model as a container, with the numbers that do not lie in the model as the file needs them.
struct Packed {
    Container container;
    std::vector<double> hull_weights;
    std::vector<std::size_t> point_origins;
    Rows points;
    ObjectArrays objects;
    CellArrays cells;
    std::unique_ptr<Packed> companion;
};

void pack(const Model& model, const std::string& place, Packed& out);

/// The companion's texts and arrays among those of the model, under names of their own.
void pack_companion(const Model& second, const std::string& place, Packed& out) {
    out.companion = std::make_unique<Packed>();
    pack(second, place + ": companion", *out.companion);
    for (const auto& [key, text] : out.companion->container.metadata) {
        if (key == "format" || key == "version" || key == "checksum") continue;
        out.container.metadata[std::string(companion) + key] = text;
    }
    for (Tensor tensor : out.companion->container.tensors) {
        tensor.name.insert(0, companion);
        out.container.tensors.push_back(std::move(tensor));
    }
}

void pack(const Model& model, const std::string& place, Packed& out) {
    Container& c = out.container;
    c.metadata = metadata_of(model);
    Kernel::parse(c.metadata["kernel"]);  // what cannot be read back must not be written
    const Expansion& e = model.expansion();
    c.tensors.push_back(
        tensor_of("coefficients", {e.outputs(), e.size()}, e.coefficients.values().data()));
    c.tensors.push_back(tensor_of("bias", {e.outputs()}, e.bias.data()));
    if (!model.origins().empty()) {
        c.tensors.push_back(tensor_of("origins", {e.size()}, model.origins().data()));
    }
    if (contains(e.kernel, KernelKind::precomputed)) {
        for (std::size_t i = 0; i < e.size(); ++i) out.point_origins.push_back(e.points.origin(i));
        c.tensors.push_back(tensor_of("points.origins", {e.size()}, out.point_origins.data()));
    }
    for (const Report& report : model.reports()) {
        out.hull_weights.insert(out.hull_weights.end(), report.hull_weights.begin(),
                                report.hull_weights.end());
    }
    if (!out.hull_weights.empty()) {
        c.tensors.push_back(
            tensor_of("hull_weights", {out.hull_weights.size()}, out.hull_weights.data()));
    }
    for (const auto& [name, array] : model.extras().arrays()) {
        c.tensors.push_back(tensor_of(std::string(extra) + name, {array->rows(), array->columns()},
                                      array->values().data()));
    }
    out.points = points_to_keep(e);
    add_rows(out.points, "points", c);
    add_objects(out.points, "points", c, out.objects);
    if (e.reference.size() > 0) {
        add_rows(e.reference, "reference", c);
        add_objects(e.reference, "reference", c, out.objects);
    }
    if (const Model* second = companion_of(model)) pack_companion(*second, place, out);
    if (const Cells* cells = model.extras().find<Cells>()) pack_cells(*cells, c, out.cells);
    // Wider types first: then every array begins at a multiple of its own width.
    std::stable_sort(c.tensors.begin(), c.tensors.end(), [](const Tensor& a, const Tensor& b) {
        return type_bytes(a.type) > type_bytes(b.type);
    });
    c.metadata["checksum"] = checksum_of(c);
}

// ---- In.

/// In the text of a kernel the name of a column of texts or graphs looks like one that waits for
/// data; rules such as gamma=scale that do wait are refused as ever.
void bind_objects(Expansion& e) {
    const std::vector<ObjectName> objects = e.points.object_names();
    if (objects.empty() || !e.kernel.needs_data()) return;
    const std::vector<double> nothing(e.points.columns(), 0.0);
    e.kernel =
        e.kernel.resolve({.rows = 0, .sum = nothing, .sum_of_squares = nothing}, {}, objects);
}

void unpack_expansion(ArrayTaker& in, Expansion& e) {
    const Tensor& coefficients = in.need("coefficients", 2);
    const std::size_t outputs = coefficients.shape[0];
    const std::size_t points = coefficients.shape[1];
    if (coefficients.type != Type::f64) in.fail("array 'coefficients' must have type F64");
    e.bias = in.values<double>("bias", 1);
    e.points = in.rows("points");
    if (outputs != e.bias.size() || points != e.points.size()) {
        in.fail(std::to_string(outputs) + " x " + std::to_string(points) + " coefficients for " +
                std::to_string(e.bias.size()) + " biases and " + std::to_string(e.points.size()) +
                " points");
    }
    e.coefficients = Matrix<double>(outputs, points);
    if (!coefficients.bytes.empty()) {
        std::memcpy(e.coefficients.values().data(), coefficients.bytes.data(),
                    coefficients.bytes.size());
    }
    if (in.has("reference") || in.has("reference.starts")) e.reference = in.rows("reference");
    bind_objects(e);
}

void unpack_point_origins(ArrayTaker& in, Expansion& e) {
    if (!contains(e.kernel, KernelKind::precomputed)) return;
    const std::vector<std::size_t> origins = in.positions("points.origins");
    if (origins.size() != e.size()) {
        in.fail(std::to_string(origins.size()) + " entries of 'points.origins' for " +
                std::to_string(e.size()) + " points");
    }
    std::vector<std::size_t> sorted = origins;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() ||
        (!sorted.empty() && sorted.back() >= most_precomputed_rows)) {
        in.fail("'points.origins' must be different numbers below " +
                std::to_string(most_precomputed_rows));
    }
    e.points = e.points.with_origins(origins);
}

void unpack_hull_weights(ArrayTaker& in, std::vector<Report>& reports) {
    if (!in.has("hull_weights")) return;
    const std::vector<double> weights = in.values<double>("hull_weights", 1);
    auto next = weights.begin();
    for (Report& report : reports) {
        const auto count = static_cast<std::ptrdiff_t>(report.hull_weights.size());
        std::copy_n(next, count, report.hull_weights.begin());
        next += count;
    }
}

Arrays unpack_arrays(const Container& container, ArrayTaker& in) {
    Arrays arrays;
    for (const Tensor& tensor : container.tensors) {
        if (!tensor.name.starts_with(extra)) continue;
        std::vector<double> numbers = in.values<double>(tensor.name, 2);
        Matrix<double> array(tensor.shape[0], tensor.shape[1]);
        array.values() = std::move(numbers);
        arrays.emplace(tensor.name.substr(extra.size()), std::move(array));
    }
    return arrays;
}

/// Takes what belongs to a companion out of a container, under its own names again. Empty where
/// there is none.
Container take_companion(Container& container) {
    Container taken;
    for (auto entry = container.metadata.begin(); entry != container.metadata.end();) {
        if (!entry->first.starts_with(companion)) {
            ++entry;
            continue;
        }
        taken.metadata.emplace(entry->first.substr(companion.size()), entry->second);
        entry = container.metadata.erase(entry);
    }
    std::vector<Tensor> rest;
    for (Tensor& tensor : container.tensors) {
        const bool own = !tensor.name.starts_with(companion);
        if (!own) tensor.name.erase(0, companion.size());
        (own ? rest : taken.tensors).push_back(std::move(tensor));
    }
    container.tensors = std::move(rest);
    return taken;
}

ModelParts unpack(const Container& container, const std::string& name) {
    ModelParts model;
    const Tensor* hull = container.find("hull_weights");
    read_metadata(container.metadata, hull == nullptr ? 0 : hull->elements(), model, name);
    ArrayTaker in(container, name);
    unpack_expansion(in, model.expansion);
    unpack_point_origins(in, model.expansion);
    if (in.has("origins")) model.origins = in.positions("origins");
    unpack_hull_weights(in, model.reports);
    read_extras(model, unpack_arrays(container, in));
    unpack_cells(container, in, model, name);
    in.check_all_taken();
    return model;
}

}  // namespace

std::string save_to_memory(const Model& model) {
    Packed packed;
    pack(model, "model", packed);
    std::string result = header_bytes(packed.container, "model");
    for (const Tensor& tensor : packed.container.tensors) result += tensor.bytes;
    return result;
}

void save(const Model& model, const std::string& path) {
    Packed packed;
    pack(model, path, packed);
    const std::string header = header_bytes(packed.container, path);
    write_whole(path, [&](Output& out) {
        out.write(header);
        for (const Tensor& tensor : packed.container.tensors) out.write(tensor.bytes);
    });
}

Model load_from_memory(std::string_view bytes, const std::string& name) {
    Container container = read_container(bytes, name);
    const std::string checksum = checksum_of(container);
    if (const auto found = metadata_text(container.metadata, "checksum", name); found != checksum) {
        throw InvalidInput(Location{.file = name},
                           "is damaged: its checksum is " + checksum + ", and " + quoted(found) +
                               " was noted when it was written; fetch the file again");
    }
    const Container second = take_companion(container);
    ModelParts parts = unpack(container, name);
    if (!second.metadata.empty() || !second.tensors.empty()) {
        // A companion of its own would be arrays that nothing takes.
        const std::string place = name + ": companion";
        parts.extras.set(Companion(std::make_shared<const Model>(unpack(second, place), place)));
    }
    return Model(std::move(parts), name);
}

bool is_model_file(std::string_view bytes) {
    // Eight bytes of length, of which the upper ones are zero, and a JSON object.
    return bytes.size() > 9 && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4) &&
           bytes[8] == '{' && bytes[9] == '"';
}

Model load(const std::string& path) {
    const Content content = read_bytes(path);
    return load_from_memory(content.view(), path == "-" ? "standard input" : path);
}

}  // namespace mercer
