// One small file a mistake in the folder invalid, and the exact message each must give. What cannot
// be kept as a small file (a line of 10 MB, a folder, a file without permission) is made here.
#include <sys/stat.h>

#include <filesystem>
#include <set>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/source.hpp"

namespace mercer {
namespace {

namespace fs = std::filesystem;
using testing::Folder;
using testing::message_of;

fs::path invalid_folder() {
    const fs::path here = fs::path(__FILE__).parent_path() / "invalid";
    return fs::exists(here) ? here : fs::path("tests/data/invalid");
}

struct Mistaken {
    const char* file;
    const char* message;  ///< behind the path
};

void PrintTo(const Mistaken& mistaken, std::ostream* out) {
    *out << mistaken.file;
}

const Mistaken mistakes[] = {
    {"arff.txt", ": holds no @attribute"},
    {"comments_only.txt", ": holds no rows, only blank lines or comments"},
    {"csv_header_only.csv", ": holds a header line but no rows"},
    {"csv_inf.csv", ":2:1: found '-inf', expected a finite number"},
    {"csv_label_missing.csv", ":2:3: found an empty field in the label column, expected a label"},
    {"csv_label_mixed.csv",
     ":2:3: found the label 'b', expected a number as in the rows before; to take all labels for "
     "names set `text_labels=true`"},
    {"csv_letter.csv",
     ":2:3: found '5x' in column 2, expected a number; columns that hold text do so from the "
     "first row on, or by `text_columns`"},
    {"csv_missing.csv",
     ":2:3: found an empty field in column 2, expected a number; to fill in missing values set "
     "`missing=mean`, median or zero"},
    {"csv_nan.csv",
     ":1:3: found 'nan' in column 2, expected a number; to fill in missing values set "
     "`missing=mean`, median or zero"},
    {"csv_quote_open.csv", ":2:3: found a quote that is never closed, expected another \""},
    {"csv_quote_tail.csv", ":1:6: found 'x' behind a closing quote, expected the next field"},
    {"csv_ragged_long.csv", ":2:1: found 4 fields, expected 3 as in the rows before"},
    {"csv_ragged_short.csv", ":3:1: found 2 fields, expected 3 as in the rows before"},
    {"csv_rows_promised.csv", ": found 2 rows, expected the 3 that its first line names"},
    {"csv_too_large.csv", ":1:3: found '1e999', which is too large for double precision (1.8e308)"},
    {"damaged.gz",
     ": compressed data is damaged or cut short (unknown compression method); fetch the file "
     "again"},
    {"damaged_inside.gz",
     ": compressed data is damaged or cut short (invalid block type); fetch the file again"},
    {"empty.txt", ": is empty, expected at least one row"},
    {"idx_absurd",
     ": array: found 3 bytes of numbers, expected 4294967295 x 4294967295 elements of 1 bytes; the "
     "file is cut short or its header is wrong"},
    {"idx_truncated",
     ": array: found 3 bytes of numbers, expected 2 x 2 x 2 elements of 1 bytes; the file is cut "
     "short or its header is wrong"},
    {"idx_type", ": found idx type 10 in byte 3, expected 8, 9, 11, 12, 13 or 14"},
    {"libsvm_index_fraction.txt",
     ":1:7: found '1.5:2', expected index:value with a whole index from 1"},
    {"libsvm_index_large.txt", ":1:7: found index 4294967296, expected at most 4294967295"},
    {"libsvm_index_negative.txt",
     ":1:3: found '-3:1', expected index:value with a whole index from 1"},
    {"libsvm_index_zero.txt",
     ":2:4: found index 0, expected indices from 1; for a file that counts from 0 set "
     "`first_index=0`"},
    {"libsvm_inf.txt", ":2:5: found '-inf', expected a finite number"},
    {"libsvm_label.txt", ":2:1: found 'spam', expected a label: a number"},
    {"libsvm_label_absent.txt", ":2:1: found '2:1', expected a label as in the rows before"},
    {"libsvm_label_extra.txt", ":2:1: found the label '1', expected none as in the rows before"},
    {"libsvm_letter.txt", ":2:9: found 'x3', expected a number"},
    {"libsvm_nan.txt", ":1:9: found 'nan', expected a finite number"},
    {"libsvm_no_colon.txt", ":1:7: found '2', expected index:value with a whole index from 1"},
    {"libsvm_no_value.txt", ":1:9: found nothing, expected a number"},
    {"libsvm_repeated.txt", ":2:8: found index 2 a second time, expected each index once a row"},
    {"libsvm_too_large.txt",
     ":1:5: found '1e600', which is too large for double precision (1.8e308)"},
    {"libsvm_two_labels.txt",
     ":2:1: found several labels in one row, expected one; make one file a label"},
    {"libsvm_unsorted.txt",
     ":2:12: found index 3 after 5, expected increasing indices; sort the entries of the row"},
    {"no_features.npz",
     ": found no array of features in the archive (it holds: notes.txt), expected one named X or "
     "data"},
    {"npy_absurd.npy",
     ": array: found 8 bytes of numbers, expected 99999999999 x 99999999999 elements of 8 bytes; "
     "the file is cut short or its header is wrong"},
    {"npy_header.npy",
     ": array: found no descr, fortran_order or shape in the array's header, expected {'descr': "
     "..., 'fortran_order': ..., 'shape': ...}"},
    {"npy_objects.npy",
     ": array: found elements of type '|O', expected whole numbers of 1 to 8 bytes, floats of 2, 4 "
     "or 8, or text; Python objects are never opened: save plain numbers"},
    {"npy_truncated.npy",
     ": array: found 8 bytes of numbers, expected 9 elements of 8 bytes; the file is cut short or "
     "its header is wrong"},
    {"picture.png",
     ": found binary data that begins with '\\x89PNG\\x0d\\n\\x1a\\n', expected LIBSVM text, CSV, "
     "TSV, text in columns, ARFF, NPY, NPZ, idx, Parquet, FASTA, tar, time series (.ts) or a list "
     "of "
     "edges"},
    {"truncated.gz",
     ": compressed data is damaged or cut short (it ends too early); fetch the file again"},
    {"truncated.npz",
     ": found a damaged zip archive (it has no directory: cut short?), expected NumPy arrays; "
     "fetch or save the file again"},
    {"utf16.txt", ": found UTF-16 text, expected UTF-8; convert it with iconv"},
};

class Invalid : public ::testing::TestWithParam<Mistaken> {};

TEST_P(Invalid, SaysExactlyWhatIsWrong) {
    const std::string path = (invalid_folder() / GetParam().file).string();
    EXPECT_EQ(message_of([&] { read(path); }), path + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Files, Invalid, ::testing::ValuesIn(mistakes));

TEST(InvalidFolder, EveryFileIsTried) {
    std::set<std::string> tried;
    for (const Mistaken& mistaken : mistakes) tried.insert(mistaken.file);
    for (const auto& entry : fs::directory_iterator(invalid_folder())) {
        EXPECT_TRUE(tried.contains(entry.path().filename().string())) << entry.path();
    }
}

TEST(InvalidInput, ALineOfTenMegabytes) {
    const std::size_t length = 10'000'000;
    const std::string digits(length, '7');
    const std::string expected =
        ":1: found a line of 10000000 bytes, expected at most 8388608; "
        "if rows really are that long, raise longest_line";
    EXPECT_EQ(message_of([&] { read_text(digits + "\n1 2\n", "t"); }), "t:1" + expected);
    EXPECT_EQ(message_of([&] { read_text("1 1:1\n" + digits + "\n", "t"); }), "t:2" + expected);
    EXPECT_EQ(message_of([&] { read_text("1,2\n" + std::string(length, 'x'), "t"); }),
              "t:2" + expected);
    std::string row = "1";
    for (std::size_t index = 1; row.size() < length; ++index) {
        row += " " + std::to_string(index) + ":0.5";
    }
    EXPECT_NE(message_of([&] { read_text(row, "t"); }).find("raise longest_line"),
              std::string::npos);
    EXPECT_EQ(read_text(row, "t", {.longest_line = 2 * length}).size(), 1U);
}

/// Text damaged at random: an error or some data, never worse. The copies have no byte to spare
/// behind their end, so that a sanitizer sees a step too far.
TEST(InvalidInput, DamagedTextDoesNoHarm) {
    const std::vector<std::string> originals{
        "+1 1:0.5 3:2e3 # c\n-1 qid:4 2:-1 12345678:1\n0\n",
        "age,\"height, cm\",w,class\n1,\"2\",0.5,a\n?,4e1,1,\"b\"\"c\"\n",
        "3,2,no,yes\n1,2,1\n3,4,0\n5,6,1\n", " 1  2.5 7\n  -3 4e2\t8 \n"};
    const std::string characters = "\n\n \t\r\"\"',;:#+-.eE0123456789ainfqx?\\%@\xEF\xFF\x01";
    const std::vector<std::string> names = format_names(FormatUse::reading);
    Random random(23);
    std::size_t read_well = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        std::string text = originals[random.below(originals.size())];
        for (std::size_t k = random.below(4) + 1; k > 0; --k) {
            const std::size_t place = random.below(text.size());
            switch (random.below(3)) {
                case 0: text[place] = characters[random.below(characters.size())]; break;
                case 1: text.insert(place, 1, characters[random.below(characters.size())]); break;
                default: text.erase(place, 1 + random.below(5)); break;
            }
            if (text.empty()) text = "1";
        }
        const std::vector<char> exact(text.begin(), text.end());
        ReadOptions options;
        options.missing = static_cast<MissingValues>(random.below(4));
        options.shared = random.below(4) != 0;
        if (random.below(4) == 0) options.format = names[random.below(names.size())];
        if (random.below(4) == 0) options.label = "first";
        const std::string message = message_of([&] {
            read_text({exact.data(), exact.size()}, "t", options).check();
            ++read_well;
        });
        ASSERT_TRUE(message.empty() || message.starts_with("t:")) << message;
    }
    EXPECT_GT(read_well, 1000U);
}

TEST(InvalidInput, WhatIsNoFile) {
    const Folder folder;
    const std::string absent = folder.file("absent.csv");
    EXPECT_EQ(message_of([&] { read(absent); }),
              absent + ": no such file; check the name and the folder");
    const std::string inside = folder.file("plain", "1 2\n") + "/inner.csv";
    EXPECT_EQ(message_of([&] { read(inside); }),
              inside + ": no such file: a part of this path is not a folder");
    const std::string directory = folder.file("directory");
    fs::create_directory(directory);
    EXPECT_EQ(message_of([&] { read(directory); }),
              directory + ": is a directory; name a file inside it");
}

TEST(InvalidInput, NoPermission) {
    if (geteuid() == 0) GTEST_SKIP() << "the superuser may read everything";
    const Folder folder;
    const std::string path = folder.file("secret.csv", "1,2\n");
    chmod(path.c_str(), 0);
    EXPECT_EQ(message_of([&] { read(path); }),
              path + ": no permission to read it; see its owner and mode with ls -l");
}

TEST(InvalidInput, UnknownSample) {
    EXPECT_NE(message_of([] { read("@digitz"); }), "");
}

TEST(InvalidInput, OptionsOutOfRange) {
    EXPECT_EQ(message_of([] { read_text("1 1:1\n", "t", {.first_index = 2}); }),
              "first_index is 2, expected 0 or 1");
    EXPECT_NE(message_of([] { read_text("1,2\n", "t", {.columns = SIZE_MAX}); }).find("would take"),
              std::string::npos);
    EXPECT_NE(message_of([] {
                  read_text("1,2\n", "t", {.label = "age"});
              }).find("the file has no header line"),
              std::string::npos);
    EXPECT_NE(message_of([] {
                  read_text("height,y\n1,2\n", "t", {.label = "heigth"});
              }).find("did you mean 'height'?"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
