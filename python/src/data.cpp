// The library's readers, and its samples made by formula.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/settings.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/data/scaling.hpp"
#include "mercer/data/write.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::python {
namespace {

/// (arrays of the rows, columns, labels, their names, names of the columns)
nb::tuple parts_of(Dataset data) {
    return nb::make_tuple(rows_to_arrays(data.x), data.x.columns(), give(std::move(data.y.values)),
                          std::move(data.y.names), std::move(data.feature_names));
}

Dataset make_sample(const std::string& kind, nb::dict options) {
    const Settings given(std::move(options));
    SampleOptions o;
    o.n = given.count("n", o.n);
    if (const double noise = given.number("noise", -1); noise >= 0) o.noise = noise;
    o.seed = given.count("seed", o.seed);
    o.classes = given.count("classes", o.classes);
    o.columns = given.count("columns", o.columns);
    o.turns = given.number("turns", o.turns);
    o.cells = given.count("cells", o.cells);
    given.check("make");
    return make(kind, o);
}

/// `known`: the columns are those of this model, and stand where they stood for it.
nb::tuple read_file(const std::string& path, bool twice, const std::string& format,
                    const std::string& label, const Model* known, std::size_t most_bytes,
                    const std::string& spool) {
    ReadOptions options{.format = format, .label = label, .double_precision = twice};
    options.most_bytes = most_bytes;
    options.spool = spool;
    if (known) options.known = std::make_shared<const KnownColumns>(known->known_columns());
    return parts_of(read(path, options));
}

/// `values` are labels, or positions of the names of classes; empty: none.
void write_file(const std::string& path, const Rows& x, const Numbers& values,
                std::vector<std::string> classes, std::vector<std::string> columns,
                const Numbers& weights, const std::string& format) {
    Dataset data;
    data.x = x;
    data.y.values = copy_of(values);
    data.y.names = std::move(classes);
    data.weights = copy_of(weights);
    data.feature_names = std::move(columns);
    write(data, path, {.format = format});
}

}  // namespace

void bind_data(nb::module_& m) {
    m.def("read", &read_file, nb::arg("path"), nb::arg("twice"), nb::arg("format"),
          nb::arg("label"), nb::arg("known").none(), nb::arg("most_bytes") = 0,
          nb::arg("spool") = "");
    m.def("write", &write_file);
    nb::class_<Scaling>(m, "Scaling", "A map from rows to rows, column by column or row by row.")
        .def_static("fit", [](const std::string& rule,
                              const Rows& x) { return Scaling::fit(ScalingRule::parse(rule), x); })
        .def_static("from_json",
                    [](const std::string& text) { return Scaling::from_json(text, "scaling"); })
        .def("json", [](const Scaling& scaling) { return scaling.json(); })
        .def("apply", [](const Scaling& s, const Rows& x) { return rows_to_arrays(s.apply(x)); })
        .def("undo", [](const Scaling& s, const Rows& x) { return rows_to_arrays(s.undo(x)); });
    m.def("formats", [] {
        nb::dict found;
        for (const std::string& name : format_names(FormatUse::reading)) {
            found[name.c_str()] = find_format(name, FormatUse::reading).about;
        }
        return found;
    });
    m.def("make", [](const std::string& kind, nb::dict options) {
        return parts_of(make_sample(kind, std::move(options)));
    });
}

}  // namespace mercer::python
