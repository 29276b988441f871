#include "hebbian.hpp"

#include <memory>
#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "interrupt.hpp"

namespace mercer::python {
namespace {

/// A stream that listens to whoever feeds it at the moment.
class Stream {
   public:
    Stream(const Kernel& kernel, nb::dict values)
        : stream_(listening(Settings(std::move(values)), kernel, listener_)) {}

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
    static HebbianSettings listening(const Settings& s, const Kernel& kernel,
                                     const std::shared_ptr<Progress>& listener) {
        HebbianSettings settings = hebbian_settings(s, common_of(s, kernel));
        s.check("a stream of components");
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

HebbianSettings hebbian_settings(const Settings& s, const FitSettings& common) {
    HebbianSettings h{.common = common};
    h.components = s.count("components", h.components);
    h.dictionary = s.count("dictionary", h.dictionary);
    h.window = s.count("window", h.window);
    h.center = s.flag("center", h.center);
    h.batch = s.count("batch", h.batch);
    h.rate = s.number("rate", h.rate);
    h.anneal = s.number("anneal", h.anneal);
    h.passes = s.count("passes", h.passes);
    h.tolerance = s.number("tolerance", h.tolerance);
    return h;
}

void bind_hebbian(nb::module_& m) {
    nb::class_<Stream>(m, "HebbianStream", "Components learnt from rows that are not kept.")
        .def(nb::init<const Kernel&, nb::dict>(), nb::arg("kernel"), nb::arg("settings"))
        .def("feed", &Stream::feed, nb::arg("rows"), nb::arg("callback").none())
        .def("model", &Stream::model)
        .def_prop_ro("seen", &Stream::seen);
}

}  // namespace mercer::python
