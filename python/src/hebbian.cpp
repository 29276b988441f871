#include <memory>
#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/settings.hpp"
#include "mercer/learn/components/hebbian.hpp"

namespace mercer::python {
namespace {

/// A stream that listens to whoever feeds it at the moment.
class Stream {
   public:
    Stream(const Kernel& kernel, nb::dict values) : stream_(listening(values, kernel, listener_)) {}

    void feed(const Rows& rows, nb::object callback) {
        const std::function<void(const Progress&)> job = [&](const Progress& progress) {
            *listener_ = progress;
            stream_.feed(rows);
        };
        run(job, std::move(callback));
    }
    Model model() {
        std::optional<Model> found;
        const std::function<void(const Progress&)> job = [&](const Progress& progress) {
            *listener_ = progress;
            found = stream_.model();
        };
        run(job, nb::none());
        return std::move(*found);
    }
    std::size_t seen() const { return stream_.seen(); }

   private:
    static HebbianSettings listening(const nb::dict& values, const Kernel& kernel,
                                     const std::shared_ptr<Progress>& listener) {
        const Settings s(values);
        const FitSettings common = common_of(s, kernel);
        HebbianSettings settings = hebbian_settings(common, values_of(values, s.asked()));
        settings.common.progress = [listener](const Moment& moment) {
            return keep_going(*listener, moment);
        };
        return settings;
    }
    /// The listener lives no longer than the job, however that ends.
    void run(const std::function<void(const Progress&)>& job, nb::object callback) {
        struct Silence {
            Progress& listener;
            ~Silence() { listener = {}; }
        } silence{*listener_};
        run_beside(job, std::move(callback));
    }

    std::shared_ptr<Progress> listener_ = std::make_shared<Progress>();
    HebbianStream stream_;
};

}  // namespace

void bind_hebbian(nb::module_& m) {
    nb::class_<Stream>(m, "HebbianStream", "Components learnt from rows that are not kept.")
        .def(nb::init<const Kernel&, nb::dict>(), nb::arg("kernel"), nb::arg("settings"))
        .def("feed", &Stream::feed, nb::arg("rows"), nb::arg("callback").none())
        .def("model", &Stream::model)
        .def_prop_ro("seen", &Stream::seen);
}

}  // namespace mercer::python
