// Made-up tables by Arrow's C stream interface: structures that contradict themselves, kinds that
// are none, texts and dictionaries that point anywhere. What the interface lets nobody check, how
// many bytes a buffer has, is kept: buffers are as long as the largest count that is made up needs.
#include <array>

#include "../tests/data/arrow_stream.hpp"
#include "mercer/data/arrow.hpp"
#include "reader.hpp"

namespace {

using namespace mercer;
using mercer::testing::FakeBatch;
using mercer::testing::FakeColumn;
using mercer::testing::FakeStream;

constexpr std::size_t buffer_bytes = 8192;  // 512 entries of 16 bytes
constexpr int most_entries = 200;

/// Numbers out of the bytes, 0 when they are used up.
class Choices {
   public:
    explicit Choices(std::string_view bytes) : bytes_(bytes) {}
    std::uint8_t byte() {
        return place_ < bytes_.size() ? static_cast<std::uint8_t>(bytes_[place_++]) : 0;
    }
    /// From `low` to `high`.
    int number(int low, int high) { return low + byte() % (high - low + 1); }
    /// Mostly the truth, now and then something else.
    std::int64_t count(std::int64_t truth) {
        const std::uint8_t choice = byte();
        if (choice < 240) return truth;
        constexpr std::array<std::int64_t, 6> lies{-1, -2, 0, 1, INT64_MAX, INT64_MIN};
        return choice < 246 ? lies[choice - 240] : choice % most_entries;
    }
    std::unique_ptr<std::string> buffer() {
        auto all = std::make_unique<std::string>(buffer_bytes, '\0');
        const int used = number(0, 63);
        for (int k = 0; k < used; ++k)
            (*all)[static_cast<std::size_t>(k)] = static_cast<char>(byte());
        return all;
    }
    bool often() { return byte() < 245; }

   private:
    std::string_view bytes_;
    std::size_t place_ = 0;
};

/// Offsets that may go back or lie before the first byte, but never behind the last.
template <class Offset>
std::unique_ptr<std::string> offsets(Choices& choose) {
    std::vector<Offset> all(most_entries * 2 + 2, 0);
    for (std::size_t k = 0; k < all.size(); ++k) {
        all[k] = static_cast<Offset>(k < 40 ? choose.number(-3, 200) : 200);
    }
    auto bytes = FakeColumn::bytes_of(all);
    bytes->resize(buffer_bytes, '\0');
    return bytes;
}

FakeColumn column(Choices& choose, int rows, bool nested) {
    constexpr std::array formats{"c", "C", "s", "S", "i", "I", "l",  "L",  "e",   "f",     "g",
                                 "b", "n", "u", "U", "z", "Z", "vu", "+l", "tdD", "d:5,2", ""};
    FakeColumn made{.format = formats[choose.byte() % formats.size()]};
    made.name = std::string(1, static_cast<char>('a' + choose.number(0, 5)));
    made.length = choose.count(rows);
    made.offset = choose.count(choose.number(0, 3));
    made.null_count = choose.count(choose.number(-1, 2));
    made.buffers.push_back(choose.often() ? choose.buffer() : nullptr);
    const bool small = made.format == "u" || made.format == "z";
    const bool large = made.format == "U" || made.format == "Z";
    made.buffers.push_back(!choose.often() ? nullptr
                           : small         ? offsets<std::int32_t>(choose)
                           : large         ? offsets<std::int64_t>(choose)
                                           : choose.buffer());
    if (small || large || made.format == "vu") made.buffers.push_back(choose.buffer());
    if (made.format == "vu") {
        made.buffers.push_back(
            FakeColumn::bytes_of(std::vector<std::int64_t>{choose.number(0, 200)}));
    }
    if (nested && choose.byte() % 4 == 0) {
        made.dictionary = std::make_shared<FakeColumn>(column(choose, choose.number(0, 9), false));
    }
    return made;
}

/// Counts beyond what buffers hold cannot be told from the truth, and are not made.
void tame(ArrowArray& array) {
    const auto much = [](std::int64_t value) { return value > most_entries && value < INT64_MAX; };
    if (much(array.length)) array.length = most_entries;
    if (much(array.offset)) array.offset = most_entries;
    if (array.dictionary != nullptr) tame(*array.dictionary);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Choices choose(mercer::fuzz::view_of(data, size));
    const int columns = choose.number(0, 4), rows = choose.number(0, 40);
    std::vector<FakeBatch> all(static_cast<std::size_t>(choose.number(1, 3)));
    for (FakeBatch& batch : all) {
        for (int k = 0; k < columns; ++k) batch.push_back(column(choose, rows, true));
    }
    // The schema is that of the first batch: later ones may be of other kinds, whose buffers are
    // as long.
    for (std::size_t b = 1; b < all.size(); ++b) {
        for (std::size_t k = 0; k < all[b].size(); ++k) {
            const bool texts = all[b][k].buffers.size() > 2 || all[0][k].buffers.size() > 2;
            if (texts || all[0][k].dictionary || all[b][k].dictionary) {
                all[b][k] = FakeColumn::of<std::int8_t>("c", "", {});
            }
        }
    }
    const std::uint8_t spoil = choose.byte(), which = choose.byte();
    ReadOptions options{.label = choose.byte() % 2 == 0 ? "none" : "last",
                        .missing = static_cast<MissingValues>(choose.byte() % 4)};
    options.most_bytes = choose.byte() % 2 == 0 ? 0 : 64;
    FakeStream fake(std::move(all));
    fake.error_at = choose.byte() == 7 ? 1 : -1;
    fake.spoil_batch = [&](ArrowArray& array) {
        for (int k = 0; k < columns; ++k) tame(*array.children[k]);
        if (spoil == 1) array.n_children = which;
        if (spoil == 2) array.children = nullptr;
        if (spoil == 3 && columns > 0) array.children[which % columns] = nullptr;
        if (spoil == 4 && columns > 0) array.children[which % columns]->release = nullptr;
        if (spoil == 5) array.length = choose.count(rows);
        if (spoil == 6) array.offset = choose.count(which % 4);
        if (spoil == 7) array.null_count = choose.count(-1);
        if (spoil == 8 && columns > 0) array.children[which % columns]->buffers = nullptr;
        tame(array);
    };
    fake.spoil_schema = [&](ArrowSchema& schema) {
        if (spoil == 9) schema.format = which % 2 == 0 ? nullptr : "g";
        if (spoil == 10) schema.n_children = -1;
        if (spoil == 11 && columns > 0) schema.children[which % columns] = nullptr;
        if (spoil == 12 && columns > 0) schema.children[which % columns]->name = nullptr;
    };
    ArrowArrayStream stream = fake.stream();
    try {
        const auto numbers = which % 2 == 0 ? ArrowNumbers::fitting : ArrowNumbers::typed;
        ArrowRows found(stream, "fuzz", options, numbers);
        if (which % 3 == 0) {
            while (const auto some = found.next(7)) mercer::fuzz::check(*some);
        } else {
            mercer::fuzz::check(found.rest());
        }
    } catch (const InvalidInput&) {
        // The expected answer to nearly everything.
    }
    if (fake.live != 0) std::abort();  // something was not released, or twice
    return 0;
}
