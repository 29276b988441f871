// Text read window by window, its rows in memory or in a temporary file: the data set, or the
// mistake, of a text that was read at once.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "data/support.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/mapping.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/formats/detail/windows.hpp"
#include "mercer/data/read.hpp"

namespace mercer {
namespace {

using testing::Folder;
using testing::message_of;

/// The numbers as they are held.
template <class T>
void expect_same_numbers(const Rows& a, const Rows& b) {
    if (a.is_sparse()) {
        const SparseView<T> x = a.sparse_view<T>(), z = b.sparse_view<T>();
        for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_TRUE(std::ranges::equal(x.row_index(i), z.row_index(i))) << i;
            ASSERT_TRUE(std::ranges::equal(x.row_value(i), z.row_value(i))) << i;
        }
        return;
    }
    const MatrixView<const T> x = a.dense_view<T>(), z = b.dense_view<T>();
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_TRUE(std::ranges::equal(x.row(i), z.row(i)));
}

void expect_same(const Dataset& a, const Dataset& b) {
    ASSERT_EQ(a.size(), b.size());
    ASSERT_EQ(a.columns(), b.columns());
    ASSERT_EQ(a.x.is_sparse(), b.x.is_sparse());
    ASSERT_EQ(a.x.is_double(), b.x.is_double());
    a.x.is_double() ? expect_same_numbers<double>(a.x, b.x) : expect_same_numbers<float>(a.x, b.x);
    EXPECT_EQ(a.y.values, b.y.values);
    EXPECT_EQ(a.y.names, b.y.names);
    EXPECT_EQ(a.weights, b.weights);
    EXPECT_EQ(a.feature_names, b.feature_names);
    EXPECT_EQ(a.roles, b.roles);
    EXPECT_EQ(a.left_out, b.left_out);
}

struct Outcome {
    std::optional<Dataset> data{};
    std::string message{};
};

/// Read by windows of so many bytes, with `most` bytes of rows in memory; nothing where the reader
/// leaves it to the usual way.
std::optional<Outcome> windowed(const std::string& path, const std::string& format,
                                ReadOptions options, std::size_t window, std::size_t most) {
    options.most_bytes = most;
    Outcome outcome;
    bool left = false;
    outcome.message = message_of([&] {
        ByteSource source(path, spool_folder());
        formats::TextWindows windows(source, options, window);
        outcome.data = find_format(format, FormatUse::reading).read_windows(windows);
        left = !outcome.data;
        if (outcome.data) outcome.data->check();
    });
    if (left && outcome.message.empty()) return std::nullopt;
    return outcome;
}

/// Windows of every size, rows in memory and not, against all of the text at once.
void expect_agreement(const std::string& format, const std::string& text,
                      ReadOptions options = {}) {
    const Folder folder;
    const std::string path = folder.file("text", text);
    options.format = format;
    Outcome whole;
    whole.message = message_of([&] { whole.data = read(path, options); });
    for (const std::size_t window : {1UL, 7UL, 64UL, 1000UL, 1UL << 20}) {
        for (const std::size_t most : {1UL, 50UL, 1UL << 20}) {
            SCOPED_TRACE(::testing::Message()
                         << format << " window " << window << " most " << most << " of\n"
                         << text.substr(0, 200));
            const auto found = windowed(path, format, options, window, most);
            ASSERT_TRUE(found) << "left to the usual way";
            EXPECT_EQ(found->message, whole.message);
            ASSERT_EQ(found->data.has_value(), whole.data.has_value());
            if (!found->data) continue;
            expect_same(*found->data, *whole.data);
            const bool large = found->data->x.bytes() > (1UL << 20);
            if (most == 1 && found->data->x.nonzeros() > 1) {
                EXPECT_EQ(place_of(found->data->x), RowPlace::spool);
            }
            if (most > 50 && !large) {
                EXPECT_EQ(place_of(found->data->x), RowPlace::memory);
            }
        }
    }
}

std::string table(std::size_t rows, std::size_t columns, const std::string& separator = ",") {
    Random random(3);
    std::string text;
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            text += format_number(std::floor(random.normal() * 1000) / 100) + separator;
        }
        text += i % 3 == 0 ? "no\n" : i % 7 == 0 ? "perhaps\n" : "yes\n";
    }
    return text;
}

TEST(Windows, TablesAreThoseReadAtOnce) {
    expect_agreement("csv", table(300, 4));
    expect_agreement("csv", "a,b,c,d,class\n" + table(50, 4));
    expect_agreement("tsv", table(30, 3, "\t"));
    expect_agreement("spaces", table(30, 3, "  "));
    expect_agreement("csv", "# a remark\n\n 1 , 2 ,x\r\n\n# another\n3,4,y\r\n5,6,x");
    expect_agreement("csv", "\xEF\xBB\xBFp,q,y\n1,2,3\n4,5,6\n");
    expect_agreement("csv", "150;4;1\n2;3;4\n");
    expect_agreement("csv", "3,2,a,b\n1,2,0\n3,4,1\n5,6,1\n");  // scikit-learn's header
    expect_agreement("csv", "1,2,7,-1\n3,4,8,1\n", {.label = "first", .weight_column = "3"});
    expect_agreement("csv", "u,v,w\n1,2,0.5\n3,4,0.25\n", {.label = "none", .leave_out = "v"});
    expect_agreement("csv", table(20, 2), {.double_precision = true});
    expect_agreement("csv", "1,2,01\n3,4,1\n5,6,1\n", {.text_labels = true});
}

TEST(Windows, LibsvmRowsAreThoseReadAtOnce) {
    Random random(5);
    std::string sparse, dense, bare;
    for (int i = 0; i < 200; ++i) {
        sparse += i % 2 == 0 ? "+1" : "-1";
        dense += std::to_string(i % 3);
        for (std::size_t j = 1; j < 400; j += 1 + random.below(90)) {
            sparse += ' ' + std::to_string(j) + ':' + format_number(random.normal());
        }
        for (int j = 1; j < 6; ++j) {
            dense += ' ' + std::to_string(j) + ':' + std::to_string(random.below(100));
            bare += (j == 1 ? "" : " ") + std::to_string(j) + ":" + std::to_string(i + j);
        }
        sparse += i % 10 == 0 ? " # remark\n" : "\n";
        dense += '\n';
        bare += '\n';
    }
    for (const std::string& text : {sparse, dense, bare}) {
        expect_agreement("libsvm", text);
        expect_agreement("libsvm", text, {.form = RowForm::dense});
        expect_agreement("libsvm", text, {.form = RowForm::sparse});
        expect_agreement("libsvm", text, {.columns = 500});
    }
    expect_agreement("libsvm", "1 qid:3 1:2 5:0\n-1\n\n1 2:1");
    expect_agreement("libsvm", "1 0:2 5:1\n", {.first_index = 0});
}

TEST(Windows, NumbersTakeAsManyBytesAsTheyNeed) {
    // Times in seconds: floats would not tell rows apart.
    std::string hurt, harmless, constant;
    for (int i = 0; i < 100; ++i) {
        hurt += std::to_string(1700000000 + i) + ",0.5,a\n";
        harmless += format_number(0.1234567891 * i) + ",0.5,a\n";
        constant += "0.12345678901234," + std::to_string(i) + ",a\n";
    }
    for (const std::string& text : {hurt, harmless, constant}) {
        expect_agreement("csv", text);
        expect_agreement("csv", text, {.exact = true});
    }
    const Folder folder;
    EXPECT_TRUE(windowed(folder.file("t", hurt), "csv", {}, 100, 10)->data->x.is_double());
    EXPECT_FALSE(windowed(folder.file("t", harmless), "csv", {}, 100, 10)->data->x.is_double());
    EXPECT_FALSE(windowed(folder.file("t", constant), "csv", {}, 100, 10)->data->x.is_double());
    expect_agreement("libsvm", "1 1:1700000001\n-1 1:1700000002\n1 1:1700000003\n");
}

TEST(Windows, QuotesMayHoldNewlinesAndSeparators) {
    expect_agreement("csv", "1,2,\"a\nb\"\n3,4,\"c,\"\"d\"\"\"\n\"5\",6,plain\n7,8,\"a\nb\"\n");
    expect_agreement("csv", "\"x, or\n y\",z,class\n1,2,\"\n\n\"\n3,4,\"\n\n\"\n");
    expect_agreement("csv", "1,2,a\"b\n3,4,\"c\"\n");
    expect_agreement("tsv", "1\t2\t\"a\n3\t4\t\"b\"\n");
    expect_agreement("csv", "1,2,\"a\n3,4,b\n5,6,c\n");  // never closed
    expect_agreement("csv", "1,2,\"a\"x\n3,4,b\n");
    expect_agreement("csv", "1,2,3,4,a\n1,2,\"a\nb\",\"c\n\n\",\"d\n\",9\n");
}

TEST(Windows, MissingValuesAreFilledAlike) {
    const std::string text = "a,b,c,y\n1,?,3,0\n,5,6,1\n7,8,NA,1\n10,11,12,0\n0.1,nan,0.3,1\n";
    for (const MissingValues rule :
         {MissingValues::refuse, MissingValues::mean, MissingValues::median, MissingValues::zero}) {
        expect_agreement("csv", text, {.missing = rule});
    }
    expect_agreement("csv", "a,b,y\n1,?,0\n2,,1\n", {.missing = MissingValues::mean});
}

TEST(Windows, ColumnsAreFoundAsAModelKnowsThem) {
    KnownColumns known{.features = 2, .names = {"w", "v"}};
    known.roles.label_name = "kind";
    const auto shared = std::make_shared<const KnownColumns>(known);
    const Folder folder;
    const std::string path =
        folder.file("t.csv", "u,v,kind,w\n1,2,a,3\n4,,b,6\n7,8,a,?\n9,9,b,10\n");
    ReadOptions options{.missing = MissingValues::mean, .known = shared};
    const Dataset whole = read(path, options);
    options.most_bytes = 1;
    const Dataset found = read(path, options);
    EXPECT_EQ(place_of(found.x), RowPlace::spool);
    expect_same(found, whole);
    // The first column of the file that has no value is named, whatever the order wanted.
    const std::string empty = folder.file("e.csv", "v,kind,w\n,a,\n,b,\n");
    options.most_bytes = 0;
    const std::string message = message_of([&] { read(empty, options); });
    EXPECT_NE(message, "");
    options.most_bytes = 1;
    EXPECT_EQ(message_of([&] { read(empty, options); }), message);
}

TEST(Windows, MistakesHaveTheirPlaces) {
    std::string good = table(40, 3);
    for (const char* line :
         {"1,2\n", "1,2,3,4,5\n", "1,x,3,no\n", "1,,3,no\n", "1,inf,3,no\n", "1,2,3,\n",
          "1,2,3,7\n", "1,1e999,3,no\n", "1,2,3,99999999999999999999\n"}) {
        expect_agreement("csv", good + line + good);
    }
    std::string rows;
    for (int i = 0; i < 40; ++i) rows += "1 1:2 3:" + std::to_string(i) + "\n";
    for (const char* line : {"1 2:x\n", "1 3:1 2:1\n", "1 2:1 2:1\n", "a 1:1\n", "1 0:1\n",
                             "1:5 2:6\n", "1,2 1:1\n", "1 5\n", "1 1:nan\n", "1 99999999999:1\n"}) {
        expect_agreement("libsvm", rows + line + rows);
    }
    expect_agreement("libsvm", "# nothing\n\n");
    expect_agreement("csv", "# nothing\n\n");
    expect_agreement("csv", "a,b,y\n");
    expect_agreement("csv", "9,2,a,b\n1,2,0\n3,4,1\n");  // promised nine rows
    expect_agreement("csv", "1,2,3\n4,5,6\n", {.label = "7"});
    expect_agreement("csv", "a,b,y\n4,5,6\n", {.label = "z"});
}

TEST(Windows, LongLinesAreRefusedAlike) {
    const std::string line = "1,2," + std::string(300, '3') + "\n";
    expect_agreement("csv", "1,2,3\n" + line + "1,2,3\n", {.longest_line = 100});
    const std::string entry = "1 1:" + std::string(300, '3') + "\n";
    expect_agreement("libsvm", "1 1:2\n" + entry + "1 1:2\n", {.longest_line = 100});
    expect_agreement("libsvm", "1 1:2\n" + entry.substr(0, 250), {.longest_line = 100});
}

TEST(Windows, ColumnsOfTextsAreLeftToTheUsualWay) {
    const Folder folder;
    const std::string path = folder.file("t.csv", "text,class\nhello,1\nbye,2\n");
    EXPECT_FALSE(windowed(path, "csv", {}, 100, 1));
    ReadOptions options;
    options.most_bytes = 1;
    EXPECT_EQ(read(path, options).x.objects().size(), 1U);
}

TEST(Windows, CompressedFilesAndPipesAreReadToo) {
    const Folder folder;
    const std::string text = table(30'000, 5);
    const std::string plain = folder.file("t.csv", text);
    const Dataset whole = read(plain);
    ReadOptions options;
    options.most_bytes = 100'000;
    for (const char* suffix : {"", ".gz", ".bz2", ".xz", ".zst"}) {
        const std::string path = folder.file(std::string("t.csv") + suffix);
        write_whole(path, [&](Output& output) { output.write(text); });
        const Dataset found = read(path, options);
        EXPECT_EQ(place_of(found.x), RowPlace::spool) << suffix;
        expect_same(found, whole);
        const std::string pipe = folder.file("pipe");
        ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
        std::thread writer(
            [&] { std::ofstream(pipe, std::ios::binary) << testing::content_of(path); });
        const Dataset piped = read(pipe, options);
        writer.join();
        unlink(pipe.c_str());
        EXPECT_EQ(place_of(piped.x), RowPlace::spool) << suffix;
        expect_same(piped, whole);
        if (*suffix == '\0') continue;
        const std::string packed = testing::content_of(path);
        const std::string cut = folder.file("cut", packed.substr(0, packed.size() / 2));
        const std::string message = message_of([&] { read(cut, options); });
        EXPECT_NE(message.find("damaged or cut short"), std::string::npos) << message;
    }
    // What no window is opened onto: a pipe can be read only once all the same.
    const std::string pipe = folder.file("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe) << "text,class\nhello,1\nbye,2\n"; });
    const Dataset piped = read(pipe, options);
    writer.join();
    EXPECT_EQ(piped.size(), 2U);
    EXPECT_EQ(folder.count(), 7U);  // and nothing is left behind
}

TEST(Windows, PackedFilesMayNotGrowWithoutEnd) {
    const Folder folder;
    const std::string path = folder.file("t.csv.gz");
    write_whole(path, [&](Output& output) {
        const std::string zeros = "0,0,0,0\n" + std::string(8'000'000, '\n');
        for (int k = 0; k < 12; ++k) output.write(zeros);
    });
    ReadOptions options;
    options.most_bytes = 1000;
    const std::string message = message_of([&] { read(path, options); });
    EXPECT_NE(message.find("what is packed in it takes more than"), std::string::npos) << message;
}

TEST(Windows, AFullDiskIsSaid) {
    const Folder folder;
    const std::string path = folder.file("t.csv", table(3000, 5));
    ReadOptions options;
    options.most_bytes = 1000;
    options.spool = folder.file("nowhere");
    std::string message = message_of([&] { read(path, options); });
    EXPECT_NE(message.find("no temporary file can be made in " + options.spool), std::string::npos)
        << message;
    EXPECT_NE(message.find("`spool`"), std::string::npos) << message;
    options.spool = "/proc";
    EXPECT_NE(message_of([&] { read(path, options); }).find("no temporary file"),
              std::string::npos);
    EXPECT_EQ(folder.count(), 1U);
}

TEST(Windows, ListenersMayEndTheReading) {
    const Folder folder;
    const std::string path = folder.file("t.csv", table(3000, 5));
    ReadOptions options;
    options.most_bytes = 1000;
    options.spool = folder.file("");
    options.progress = [](const Moment& moment) { return moment.fraction < 0.5; };
    EXPECT_THROW(read(path, options), Cancelled);
    EXPECT_EQ(folder.count(), 1U);
}

TEST(Windows, PartsStayInTheFile) {
    const Folder folder;
    std::string text;
    for (int i = 0; i < 5000; ++i) text += std::to_string(i) + ",2,3\n";
    ReadOptions options;
    options.most_bytes = 1000;
    options.part = [](std::size_t total) { return RowRange{total / 2, total}; };
    const Dataset half = read(folder.file("t.csv", text), options);
    ASSERT_EQ(half.size(), 2500U);
    EXPECT_EQ(place_of(half.x), RowPlace::spool);
    EXPECT_EQ(half.x.dense_view<float>()(0, 0), 2500.0F);
    EXPECT_EQ(half.y.size(), 2500U);
    std::string sparse;
    for (int i = 0; i < 5000; ++i) sparse += "1 " + std::to_string(i + 1) + ":2\n";
    const Dataset rows = read(folder.file("t", sparse), options);
    ASSERT_EQ(rows.size(), 2500U);
    EXPECT_EQ(place_of(rows.x), RowPlace::spool);
    EXPECT_EQ(rows.x.sparse_view<float>().row_index(0)[0], 2500U);
    release_rows(rows.x, 10, 2000);
    EXPECT_EQ(rows.x.sparse_view<float>().row_value(100)[0], 2.0F);
}

}  // namespace
}  // namespace mercer
