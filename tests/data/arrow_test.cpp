// Tables by Arrow's C data interface.
#include "mercer/data/arrow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "data/arrow_stream.hpp"
#include "data/support.hpp"

namespace mercer {
namespace {

using testing::FakeBatch;
using testing::FakeColumn;
using testing::FakeStream;
using testing::message_of;

template <class... Columns>
FakeBatch batch(Columns&&... columns) {
    FakeBatch all;
    (all.push_back(std::forward<Columns>(columns)), ...);
    return all;
}

template <class... Batches>
std::vector<FakeBatch> batches(Batches&&... some) {
    std::vector<FakeBatch> all;
    (all.push_back(std::forward<Batches>(some)), ...);
    return all;
}

/// All rows; everything that was handed over has been released.
Dataset read_all(FakeStream& fake, const ReadOptions& options = {.label = "none"},
                 ArrowNumbers numbers = ArrowNumbers::fitting) {
    ArrowArrayStream stream = fake.stream();
    struct Released {
        FakeStream& fake;
        ~Released() { EXPECT_EQ(fake.live, 0); }
    } released{fake};
    return read_arrow(stream, "table", options, numbers);
}

std::string refusal(std::vector<FakeBatch> all, const ReadOptions& options = {.label = "none"}) {
    FakeStream fake(std::move(all));
    return message_of([&] { read_all(fake, options); });
}

TEST(Arrow, EveryKindOfNumberIsRead) {
    FakeBatch all;
    all.push_back(FakeColumn::of<std::int8_t>("c", "i8", {-1, 2}));
    all.push_back(FakeColumn::of<std::uint8_t>("C", "u8", {200, 2}));
    all.push_back(FakeColumn::of<std::int16_t>("s", "i16", {-300, 2}));
    all.push_back(FakeColumn::of<std::uint16_t>("S", "u16", {60000, 2}));
    all.push_back(FakeColumn::of<std::int32_t>("i", "i32", {-70000, 2}));
    all.push_back(FakeColumn::of<std::uint32_t>("I", "u32", {4000000000, 2}));
    all.push_back(FakeColumn::of<std::int64_t>("l", "i64", {-5, 2}));
    all.push_back(FakeColumn::of<std::uint64_t>("L", "u64", {5, 2}));
    all.push_back(FakeColumn::of<std::uint16_t>("e", "f16", {0x3C00, 0xC100}));
    all.push_back(FakeColumn::of<float>("f", "f32", {0.5F, 2}));
    all.push_back(FakeColumn::of<double>("g", "f64", {0.25, 2}));
    all.push_back(FakeColumn::bits("bool", {true, false}));
    FakeStream fake(batches(std::move(all)));
    const Dataset data = read_all(fake);
    ASSERT_EQ(data.size(), 2U);
    std::vector<double> row(12);
    data.x.copy_row(0, row);
    EXPECT_EQ(row,
              (std::vector<double>{-1, 200, -300, 60000, -70000, 4e9, -5, 5, 1, 0.5, 0.25, 1}));
    data.x.copy_row(1, row);
    EXPECT_EQ(row[8], -2.5);
    EXPECT_EQ(row[11], 0);
    EXPECT_EQ(data.feature_names[3], "u16");
}

TEST(Arrow, BatchesBecomeRowsInOrder) {
    const auto column = [](const char* name, double from, std::size_t count) {
        std::vector<double> values;
        for (std::size_t i = 0; i < count; ++i) values.push_back(from + static_cast<double>(i));
        return FakeColumn::of<double>("g", name, values);
    };
    const auto make = [&] {
        return batches(batch(column("a", 0, 5000), column("b", 0.5, 5000)),
                       batch(column("a", 0, 0), column("b", 0, 0)),
                       batch(column("a", 5000, 3), column("b", 5000.5, 3)));
    };
    for (const std::size_t most : {std::size_t{0}, std::size_t{1000}}) {
        FakeStream fake(make());
        const Dataset data = read_all(fake, {.label = "none", .most_bytes = most});
        ASSERT_EQ(data.size(), 5003U);
        EXPECT_EQ(place_of(data.x), most == 0 ? RowPlace::memory : RowPlace::spool);
        EXPECT_FALSE(data.x.is_double()) << "halves are floats";
        for (std::size_t i = 0; i < data.size(); ++i) {
            ASSERT_EQ(data.x.dense_view<float>()(i, 1), static_cast<float>(i) + 0.5F);
        }
    }
    // Typed numbers stay what they are.
    FakeStream typed(make());
    EXPECT_TRUE(read_all(typed, {.label = "none"}, ArrowNumbers::typed).x.is_double());
    // Block by block, whatever the batches.
    FakeStream fake(make());
    ArrowArrayStream stream = fake.stream();
    {
        ArrowRows rows(stream, "table", {.label = "none"}, ArrowNumbers::typed);
        EXPECT_EQ(rows.names(), (std::vector<std::string>{"a", "b"}));
        std::vector<std::size_t> sizes;
        double next = 0;
        while (const auto some = rows.next(2001)) {
            sizes.push_back(some->size());
            EXPECT_EQ(some->x.dense_view<double>()(0, 0), next);
            next += static_cast<double>(some->size());
        }
        EXPECT_EQ(sizes, (std::vector<std::size_t>{2001, 2001, 1001}));
    }
    EXPECT_EQ(fake.live, 0);
}

TEST(Arrow, OffsetsAndMasksAreKept) {
    FakeColumn column = FakeColumn::of<float>("f", "x", {9, 9, 1, 2, 3, 4});
    column.offset = 2;
    column.length = 4;
    FakeColumn gaps = std::move(FakeColumn::of<std::int32_t>("i", "y", {7, 8, 9, 10}))
                          .without({true, false, true, true});
    FakeStream fake(batches(batch(std::move(column), std::move(gaps))));
    fake.spoil_batch = [](ArrowArray& array) {  // a slice of the batch itself
        array.offset = 1;
        array.length = 3;
    };
    const Dataset data = read_all(fake, {.label = "none", .missing = MissingValues::mean});
    ASSERT_EQ(data.size(), 3U);
    const auto x = data.x.dense_view<float>();
    EXPECT_EQ(x(0, 0), 2);
    EXPECT_EQ(x(2, 0), 4);
    EXPECT_EQ(x(0, 1), 9.5F) << "the mean of 9 and 10";
    EXPECT_EQ(x(1, 1), 9);
}

TEST(Arrow, LabelsAreNumbersOrTexts) {
    const auto numbers = [] { return FakeColumn::of<float>("f", "x", {1, 2, 3}); };
    const std::vector<std::string> names{"yes", "no", "perhaps, if asked again"};
    const auto expect = [&](FakeColumn labels, const std::string& kind) {
        FakeStream fake(batches(batch(numbers(), std::move(labels))));
        ArrowArrayStream stream = fake.stream();
        ArrowRows rows(stream, "table", {.label = "y"});
        EXPECT_EQ(rows.label_kind(), kind);
        const Dataset data = rows.rest();
        EXPECT_EQ(data.columns(), 1U);
        return testing::texts(data.y);
    };
    EXPECT_EQ(expect(FakeColumn::texts<std::int32_t>("u", "y", names), "text"), names);
    EXPECT_EQ(expect(FakeColumn::texts<std::int64_t>("U", "y", names), "text"), names);
    EXPECT_EQ(expect(FakeColumn::views("y", names), "text"), names);
    EXPECT_EQ(expect(std::move(FakeColumn::of<std::int8_t>("c", "y", {2, 0, 2}))
                         .of_dictionary(FakeColumn::texts<std::int32_t>("u", "", names)),
                     "text"),
              (std::vector<std::string>{names[2], names[0], names[2]}));
    EXPECT_EQ(expect(FakeColumn::of<std::int64_t>("l", "y", {5, -6, 5}), "whole"),
              (std::vector<std::string>{"5", "-6", "5"}));
    EXPECT_EQ(expect(FakeColumn::bits("y", {true, false, true}), "boolean"),
              (std::vector<std::string>{"1", "0", "1"}));
    // Under a usual name, or as a table has it: last.
    FakeStream fake(batches(batch(FakeColumn::of<float>("f", "target", {1, 2, 3}), numbers())));
    const Dataset data = read_all(fake, {});
    EXPECT_EQ(data.y.values, (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(data.feature_names, std::vector<std::string>{"x"});
}

TEST(Arrow, ColumnsAreFoundAsAModelKnowsThem) {
    KnownColumns known{.features = 2, .names = {"b", "a"}};
    FakeStream fake(batches(batch(FakeColumn::of<float>("f", "a", {1, 2}),
                                  FakeColumn::texts<std::int32_t>("u", "remark", {"x", "y"}),
                                  FakeColumn::of<float>("f", "b", {3, 4}))));
    const Dataset data =
        read_all(fake, {.label = "none", .known = std::make_shared<const KnownColumns>(known)});
    EXPECT_EQ(data.feature_names, known.names);
    EXPECT_EQ(data.x.dense_view<float>()(0, 0), 3);
    EXPECT_EQ(data.x.dense_view<float>()(1, 1), 2);
}

TEST(Arrow, MistakesAreNamedWithTheirPlaces) {
    const auto x = [] { return FakeColumn::of<float>("f", "x", {1, 2}); };
    const float nan = std::nanf(""), infinite = std::numeric_limits<float>::infinity();
    EXPECT_EQ(refusal(batches(batch(x()), batch(FakeColumn::of<float>("f", "x", {3, nan})))),
              "table: row 4, column 1 (x): found no value, expected a number; to fill in missing "
              "values set `missing=mean`, median or zero");
    EXPECT_EQ(refusal(batches(batch(x(), FakeColumn::of<float>("f", "z", {3, infinite})))),
              "table: row 2, column 2 (z): found inf, expected a finite number");
    EXPECT_EQ(refusal(batches(batch(
                  std::move(FakeColumn::of<float>("f", "x", {1, 2})).without({true, false})))),
              "table: row 2, column 1 (x): found no value, expected a number; to fill in missing "
              "values set `missing=mean`, median or zero");
    EXPECT_NE(refusal(batches(batch(x(), FakeColumn::texts<std::int32_t>("u", "s", {"a", "b"}))))
                  .find("column 2 (s) holds texts, expected numbers"),
              std::string::npos);
    EXPECT_NE(refusal(batches(batch(x(), FakeColumn::of<std::int32_t>("tdD", "day", {1, 2}))))
                  .find("column 2 (day) holds entries of another kind (tdD)"),
              std::string::npos);
    EXPECT_NE(refusal(batches(batch(x(), FakeColumn::of<std::int64_t>("l", "y", {1, 1L << 60}))),
                      {.label = "y"})
                  .find("which double precision cannot hold"),
              std::string::npos);
    EXPECT_NE(refusal(batches(batch(x())), {.label = "y"}).find("no label column 'y'"),
              std::string::npos);
    EXPECT_NE(refusal(batches(batch(FakeColumn::of<float>("f", "x", {})))).find("holds no rows"),
              std::string::npos);
    EXPECT_NE(refusal(batches(FakeBatch())).find("has no columns"), std::string::npos);
    FakeStream failing(batches(batch(x()), batch(x())));
    failing.error_at = 1;
    EXPECT_EQ(message_of([&] { read_all(failing); }),
              "table: has no more rows: the disk has gone away");
    ArrowArrayStream used{};
    EXPECT_NE(message_of([&] { read_arrow(used, "table"); }).find("was used before"),
              std::string::npos);
}

TEST(Arrow, StructuresThatLieAreRefused) {
    using Spoil = std::function<void(ArrowArray&)>;
    const Spoil lies[] = {
        [](ArrowArray& a) { a.length = -1; },
        [](ArrowArray& a) { a.offset = -1; },
        [](ArrowArray& a) { a.length = std::numeric_limits<std::int64_t>::max(); },
        [](ArrowArray& a) { a.length = 3; },
        [](ArrowArray& a) { a.offset = 1; },
        [](ArrowArray& a) { a.n_children = 1; },
        [](ArrowArray& a) { a.n_children = -1; },
        [](ArrowArray& a) { a.children = nullptr; },
        [](ArrowArray& a) { a.n_buffers = -1; },
        [](ArrowArray& a) { a.buffers = nullptr; },
        [](ArrowArray& a) { a.children[0] = nullptr; },
        [](ArrowArray& a) { a.children[0]->release = nullptr; },
        [](ArrowArray& a) { a.children[0]->length = 1; },
        [](ArrowArray& a) { a.children[0]->length = -2; },
        [](ArrowArray& a) { a.children[0]->offset = -2; },
        [](ArrowArray& a) { a.children[0]->offset = std::numeric_limits<std::int64_t>::max(); },
        [](ArrowArray& a) { a.children[0]->null_count = 1; },
        [](ArrowArray& a) { a.children[0]->null_count = -7; },
        [](ArrowArray& a) { a.children[0]->n_buffers = 1; },
        [](ArrowArray& a) { a.children[0]->n_buffers = 3; },
        [](ArrowArray& a) { a.children[0]->buffers = nullptr; },
        [](ArrowArray& a) { a.children[0]->buffers[1] = nullptr; },
        [](ArrowArray& a) { a.children[1]->dictionary = nullptr; },
        [](ArrowArray& a) { a.children[1]->dictionary->length = 1; },
        [](ArrowArray& a) { a.children[1]->dictionary->length = -1; },
        [](ArrowArray& a) { a.children[1]->dictionary->buffers = nullptr; },
        [](ArrowArray& a) { a.children[1]->dictionary->buffers[2] = nullptr; },
    };
    for (std::size_t k = 0; k < std::size(lies); ++k) {
        FakeStream fake(batches(
            batch(FakeColumn::of<float>("f", "x", {1, 2}),
                  std::move(FakeColumn::of<std::int8_t>("c", "y", {1, 0}))
                      .of_dictionary(FakeColumn::texts<std::int32_t>("u", "", {"a", "b"})))));
        fake.spoil_batch = lies[k];
        EXPECT_NE(message_of([&] { read_all(fake, {.label = "y"}); }), "") << k;
    }
    const std::function<void(ArrowSchema&)> others[] = {
        [](ArrowSchema& s) { s.format = nullptr; },
        [](ArrowSchema& s) { s.format = "g"; },
        [](ArrowSchema& s) { s.n_children = -1; },
        [](ArrowSchema& s) { s.n_children = 1 << 30; },
        [](ArrowSchema& s) { s.children = nullptr; },
        [](ArrowSchema& s) { s.children[0] = nullptr; },
        [](ArrowSchema& s) { s.children[0]->format = nullptr; },
        [](ArrowSchema& s) { s.children[0]->format = "+l"; }};
    for (std::size_t k = 0; k < std::size(others); ++k) {
        FakeStream fake(batches(batch(FakeColumn::of<float>("f", "x", {1, 2}))));
        fake.spoil_schema = others[k];
        EXPECT_NE(message_of([&] { read_all(fake); }), "") << k;
    }
    // Texts whose offsets go back, and views that point outside.
    FakeColumn back = FakeColumn::texts<std::int32_t>("u", "y", {"a", "b"});
    back.buffers[1] = FakeColumn::bytes_of(std::vector<std::int32_t>{0, 2, 1});
    EXPECT_NE(refusal(batches(batch(FakeColumn::of<float>("f", "x", {1, 2}), std::move(back))),
                      {.label = "y"}),
              "");
    FakeColumn outside = FakeColumn::views("y", {"a text of some length", "b"});
    outside.buffers[3] = FakeColumn::bytes_of(std::vector<std::int64_t>{7});
    EXPECT_NE(refusal(batches(batch(FakeColumn::of<float>("f", "x", {1, 2}), std::move(outside))),
                      {.label = "y"}),
              "");
}

}  // namespace
}  // namespace mercer
