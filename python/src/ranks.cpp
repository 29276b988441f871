// Several processes that learn one machine, as Python sees them: those of mpirun, and parts of the
// rows whose messages Python itself carries (python/mercer/distributed).
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/bindings.hpp"
#include "mercer/dist/communicator.hpp"

namespace nb = nanobind;

namespace mercer::python {
namespace {

/// From a `with` statement's beginning to its end.
struct Ranks {
    virtual ~Ranks() = default;
    virtual Communicator& all() {  // MPI is begun once a process
        static const std::unique_ptr<Communicator> ranks = ranks_of_this_run();
        return *ranks;
    }
    std::optional<SpreadOver> spread{};
};

/// What a part says, and waits for an answer to.
struct Message {
    enum class Kind { gather, exchange, end } kind = Kind::end;
    std::string bytes{};
    std::vector<std::size_t> counts{};  ///< of an exchange: bytes for each part
};

/// One of several parts whose messages somebody else carries: each call lays one down and waits
/// for the answer to it.
class CarriedRanks final : public Communicator {
   public:
    CarriedRanks(std::size_t rank, std::size_t size) : rank_(rank), size_(size) {
        if (rank >= size) throw std::invalid_argument("there are fewer parts than that");
    }
    std::size_t rank() const override { return rank_; }
    std::size_t size() const override { return size_; }
    bool is_quick() const override { return false; }

    /// The message that waits for an answer; nothing after so many seconds without any.
    std::optional<Message> message(double seconds) {
        std::unique_lock lock(mutex_);
        const auto time = std::chrono::duration<double>(seconds);
        if (!news_.wait_for(lock, time, [&] { return said_.has_value(); })) return {};
        return said_;
    }
    void answer(std::string bytes) {
        const std::lock_guard lock(mutex_);
        said_.reset();
        heard_ = std::move(bytes);
        news_.notify_all();
    }
    /// Nothing more will be said.
    void end() {
        const std::lock_guard lock(mutex_);
        said_ = Message{};
        news_.notify_all();
    }
    /// Nobody will answer.
    void abandon() {
        const std::lock_guard lock(mutex_);
        abandoned_ = true;
        news_.notify_all();
    }

   protected:
    void gather(const void* own, void* all, std::span<const std::size_t> bytes) override {
        ask({Message::Kind::gather, {static_cast<const char*>(own), bytes[rank_]}, {}}, all, bytes);
    }
    void exchange(const void* sent, std::span<const std::size_t> sent_bytes, void* received,
                  std::span<const std::size_t> received_bytes) override {
        std::size_t size = 0;
        for (const std::size_t count : sent_bytes) size += count;
        ask({Message::Kind::exchange,
             {static_cast<const char*>(sent), size},
             {sent_bytes.begin(), sent_bytes.end()}},
            received, received_bytes);
    }

   private:
    void ask(Message message, void* to, std::span<const std::size_t> expected) {
        std::unique_lock lock(mutex_);
        said_ = std::move(message);
        heard_.reset();
        news_.notify_all();
        news_.wait(lock, [&] { return heard_.has_value() || abandoned_; });
        if (!heard_) throw std::runtime_error("the fit that this part belongs to is over");
        std::size_t size = 0;
        for (const std::size_t count : expected) size += count;
        if (heard_->size() != size) {
            throw std::runtime_error("an answer of " + std::to_string(heard_->size()) +
                                     " bytes came where " + std::to_string(size) +
                                     " were expected");
        }
        if (size > 0) std::memcpy(to, heard_->data(), size);
    }

    std::size_t rank_;
    std::size_t size_;
    std::mutex mutex_{};
    std::condition_variable news_{};
    std::optional<Message> said_{};
    std::optional<std::string> heard_{};
    bool abandoned_ = false;
};

struct CarriedPart final : Ranks {
    CarriedPart(std::size_t rank, std::size_t size) : own(rank, size) {}
    Communicator& all() override { return own; }
    CarriedRanks own;
};

/// From a `with` statement's beginning to its end.
struct KeptState {
    std::optional<KeepCheckpoint> keep{};
};

nb::list gathered(Ranks& ranks, const nb::bytes& own) {
    const std::string text(own.c_str(), own.size());
    std::vector<std::size_t> counts;
    std::vector<char> all;
    {
        const nb::gil_scoped_release free;
        all = ranks.all().all_gather(std::span<const char>(text), &counts);
    }
    nb::list parts;
    std::size_t from = 0;
    for (const std::size_t count : counts) {
        parts.append(nb::bytes(all.data() + from, count));
        from += count;
    }
    return parts;
}

nb::object message_of(CarriedPart& part, double seconds) {
    std::optional<Message> found;
    {
        const nb::gil_scoped_release free;
        found = part.own.message(seconds);
    }
    if (!found) return nb::none();
    constexpr const char* kinds[]{"gather", "exchange", "end"};
    return nb::make_tuple(kinds[static_cast<std::size_t>(found->kind)],
                          nb::bytes(found->bytes.data(), found->bytes.size()), found->counts);
}

}  // namespace

void bind_ranks(nb::module_& m) {
    nb::class_<Ranks>(m, "Ranks", "The processes that mpirun has started, this one among them.")
        .def(nb::init<>())
        .def_prop_ro("rank", [](Ranks& r) { return r.all().rank(); })
        .def_prop_ro("size", [](Ranks& r) { return r.all().size(); })
        .def("own_rows",
             [](Ranks& r, std::size_t total) {
                 const RowRange range = own_rows(r.all(), total);
                 return nb::make_tuple(range.first, range.last);
             })
        .def("all_gather", &gathered)
        .def("fail",
             [](Ranks& r, const std::string& message) {
                 const nb::gil_scoped_release free;
                 r.all().fail(1, message);
             })
        .def(
            "begin",
            [](Ranks& r, bool all) {
                r.spread.emplace(r.all(), all ? HeldRows::all : HeldRows::own);
            },
            nb::arg("all") = false)
        .def("end", [](Ranks& r) { r.spread.reset(); });
    nb::class_<CarriedPart, Ranks>(m, "CarriedPart", "A part whose messages Python carries.")
        .def(nb::init<std::size_t, std::size_t>(), nb::arg("rank"), nb::arg("size"))
        .def("message", &message_of, nb::arg("seconds"))
        .def("answer",
             [](CarriedPart& p, const nb::bytes& bytes) {
                 p.own.answer(std::string(bytes.c_str(), bytes.size()));
             })
        .def("say_end", [](CarriedPart& p) { p.own.end(); })
        .def("abandon", [](CarriedPart& p) { p.own.abandon(); });
    nb::class_<KeptState>(m, "KeptState", "While it lives, machines write down how far they are.")
        .def(nb::init<>())
        .def(
            "begin",
            [](KeptState& s, const std::string& path, bool resume, double interval) {
                s.keep.emplace(path, resume, interval);
            },
            nb::arg("path"), nb::arg("resume"), nb::arg("interval"))
        .def(
            "end",
            [](KeptState& s, bool remove) {
                if (remove && s.keep) s.keep->remove();
                s.keep.reset();
            },
            nb::arg("remove"));
    m.def("leaf_rows", &leaf_rows, nb::arg("total"));
}

}  // namespace mercer::python
