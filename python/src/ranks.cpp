// Several processes under mpirun, as Python sees them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/bindings.hpp"
#include "mercer/dist/communicator.hpp"

namespace nb = nanobind;

namespace mercer::python {
namespace {

/// From a `with` statement's beginning to its end. MPI is begun once a process.
struct Ranks {
    std::optional<SpreadOver> spread{};

    static Communicator& all() {
        static const std::unique_ptr<Communicator> ranks = ranks_of_this_run();
        return *ranks;
    }
};

}  // namespace

void bind_ranks(nb::module_& m) {
    nb::class_<Ranks>(m, "Ranks", "The processes that mpirun has started, this one among them.")
        .def(nb::init<>())
        .def_prop_ro("rank", [](const Ranks&) { return Ranks::all().rank(); })
        .def_prop_ro("size", [](const Ranks&) { return Ranks::all().size(); })
        .def("own_rows",
             [](const Ranks&, std::size_t total) {
                 const RowRange range = own_rows(Ranks::all(), total);
                 return nb::make_tuple(range.first, range.last);
             })
        .def("all_gather",
             [](const Ranks&, const nb::bytes& own) {
                 const std::string text(own.c_str(), own.size());
                 std::vector<std::size_t> counts;
                 std::vector<char> all;
                 {
                     const nb::gil_scoped_release free;
                     all = Ranks::all().all_gather(std::span<const char>(text), &counts);
                 }
                 nb::list parts;
                 std::size_t from = 0;
                 for (const std::size_t count : counts) {
                     parts.append(nb::bytes(all.data() + from, count));
                     from += count;
                 }
                 return parts;
             })
        .def("fail",
             [](const Ranks&, const std::string& message) {
                 const nb::gil_scoped_release free;
                 Ranks::all().fail(1, message);
             })
        .def("begin", [](Ranks& r) { r.spread.emplace(Ranks::all()); })
        .def("end", [](Ranks& r) { r.spread.reset(); });
}

}  // namespace mercer::python
