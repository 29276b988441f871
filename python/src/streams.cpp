// Tables that other libraries hand over by Arrow's C stream interface.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "mercer/data/arrow.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::python {
namespace {

/// What `__arrow_c_stream__` returns.
constexpr const char* capsule_name = "arrow_array_stream";

MissingValues missing_of(const std::string& word) {
    if (word == "mean") return MissingValues::mean;
    if (word == "median") return MissingValues::median;
    return word == "zero" ? MissingValues::zero : MissingValues::refuse;
}

/// A stream under way. Batches are asked for without the interpreter's lock, which whoever makes
/// them may need.
class ArrowStream {
   public:
    /// `known` are the names of the columns wanted, in their order; none: all.
    ArrowStream(const nb::object& capsule, const std::string& name, bool is_file,
                const std::string& label, const std::string& weights,
                const std::vector<std::string>& known, bool twice, const std::string& missing,
                std::size_t most_bytes, const std::string& spool, const Model* model) {
        void* const found = PyCapsule_GetPointer(capsule.ptr(), capsule_name);
        if (found == nullptr) throw nb::python_error();
        auto& stream = *static_cast<ArrowArrayStream*>(found);
        options_.label = label;
        options_.weight_column = weights;
        options_.missing = missing_of(missing);
        options_.double_precision = twice;
        options_.most_bytes = most_bytes;
        options_.spool = spool;
        options_.progress = [this](const Moment& moment) { return keep_going(now_, moment); };
        if (!known.empty()) {
            KnownColumns columns{.features = known.size(), .names = known};
            options_.known = std::make_shared<const KnownColumns>(std::move(columns));
        }
        if (model) options_.known = std::make_shared<const KnownColumns>(model->known_columns());
        // Files are read as other files are.
        const auto numbers = is_file ? ArrowNumbers::fitting : ArrowNumbers::typed;
        const nb::gil_scoped_release free;
        rows_.emplace(stream, name, options_, numbers);
    }
    ArrowStream(const ArrowStream&) = delete;
    ArrowStream& operator=(const ArrowStream&) = delete;

    std::vector<std::string> names() const { return rows_->names(); }
    std::size_t columns() const { return rows_->columns(); }
    std::string label_kind() const { return rows_->label_kind(); }

    /// (values,) of the next rows, or None.
    nb::object next(std::size_t rows) {
        std::optional<Dataset> found;
        beside([&] { found = rows_->next(rows); });
        if (!found) return nb::none();
        return rows_to_arrays(found->x, true);
    }

    /// ((values,), labels, names of labels, weights)
    nb::tuple rest() {
        Dataset found;
        beside([&] { found = rows_->rest(); });
        return nb::make_tuple(rows_to_arrays(found.x, true), give(std::move(found.y.values)),
                              std::move(found.y.names), give(std::move(found.weights)));
    }

   private:
    /// On a thread of its own, so that Ctrl-C is heard.
    void beside(const std::function<void()>& work) {
        const std::function<void(const Progress&)> told = [&](const Progress& progress) {
            now_ = progress;
            work();
        };
        run_beside(told);
        now_ = {};
    }

    ReadOptions options_{};
    Progress now_{};
    std::optional<ArrowRows> rows_{};
};

}  // namespace

void bind_streams(nb::module_& m) {
    nb::class_<ArrowStream>(m, "ArrowStream", "A table that comes batch after batch, and once.")
        .def(nb::init<nb::object, std::string, bool, std::string, std::string,
                      std::vector<std::string>, bool, std::string, std::size_t, std::string,
                      const Model*>(),
             nb::arg("capsule"), nb::arg("name"), nb::arg("is_file"), nb::arg("label"),
             nb::arg("weights"), nb::arg("known"), nb::arg("twice"), nb::arg("missing"),
             nb::arg("most_bytes"), nb::arg("spool"), nb::arg("model") = nb::none())
        .def_prop_ro("names", &ArrowStream::names)
        .def_prop_ro("columns", &ArrowStream::columns)
        .def_prop_ro("label_kind", &ArrowStream::label_kind)
        .def("next", &ArrowStream::next, nb::arg("rows"))
        .def("rest", &ArrowStream::rest);
}

}  // namespace mercer::python
