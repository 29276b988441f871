// Model files that are damaged, foreign or hostile: each is refused with words, none is believed.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>

#include "mercer/base/random.hpp"
#include "mercer/persist/model_file.hpp"
#include "persist/support.hpp"

namespace mercer::testing {
namespace {

/// Small models: every byte of their files is tried.
std::vector<Model> small_models() {
    Random random(23);
    std::vector<Model> result;
    result.emplace_back(random_model(random, {.points = 2, .columns = 2}));
    ModelParts second = random_model(random, {.task = Task::svr,
                                              .kernel = precomputed(),
                                              .points = 2,
                                              .columns = 2,
                                              .rows = {.sparse = true, .twice = true}});
    second.reports.resize(1);
    second.reports[0].hull_weights = {0.25, 0.75};
    result.emplace_back(second);
    result.push_back(cells_model({}, Task::svc, 9, 4));
    return result;
}

/// True when the bytes were refused; otherwise they must have given the very model.
bool refused(const std::string& bytes, const std::string& original) {
    try {
        EXPECT_EQ(save_to_memory(load_from_memory(bytes, "damaged.mercer")), original)
            << "a damaged file gave another model";
        return false;
    } catch (const InvalidInput& error) {
        EXPECT_EQ(std::string(error.what()).find("damaged.mercer"), 0U) << error.what();
        return true;
    }
}

TEST(DamagedModelFile, EveryChangedByteIsFound) {
    for (const Model& model : small_models()) {
        const std::string original = save_to_memory(model);
        const std::size_t data = original.size() - Parts::of(original).data.size();
        for (std::size_t i = 0; i < original.size(); ++i) {
            for (const int mask : {0x01, 0x10, 0x20, 0x80, 0xFF}) {
                std::string bytes = original;
                bytes[i] = static_cast<char>(bytes[i] ^ mask);
                const bool found = refused(bytes, original);
                EXPECT_TRUE(found || i < data) << "byte " << i << " of the arrays";
            }
        }
    }
}

TEST(DamagedModelFile, EveryOtherLengthIsRefused) {
    for (const Model& model : small_models()) {
        const std::string original = save_to_memory(model);
        for (std::size_t length = 0; length < original.size(); ++length) {
            EXPECT_TRUE(refused(original.substr(0, length), original)) << length << " bytes";
        }
        for (const std::size_t more : std::initializer_list<std::size_t>{1, 7, 8, 4096}) {
            EXPECT_TRUE(refused(original + std::string(more, '\0'), original));
        }
    }
}

TEST(DamagedModelFile, RandomEditsGiveAnErrorOrTheSameModel) {
    Random random(99);
    for (const Model& model : small_models()) {
        const std::string original = save_to_memory(model);
        for (int round = 0; round < 3000; ++round) {
            std::string bytes = original;
            for (std::size_t edits = 1 + random.below(4); edits > 0; --edits) {
                const std::size_t at = random.below(bytes.size());
                const std::size_t count = std::min(1 + random.below(12), bytes.size() - at);
                switch (random.below(4)) {
                    case 0: bytes.erase(at, count); break;
                    case 1:
                        bytes.insert(at, bytes.substr(random.below(bytes.size()), count));
                        break;
                    case 2: bytes.replace(at, count, std::string(count, '\xFF')); break;
                    default: bytes[at] = static_cast<char>(random.below(256));
                }
                if (bytes.empty()) bytes = "x";
            }
            refused(bytes, original);
        }
    }
}

// Somebody who can compute a checksum can still not make the reader misbehave: what is accepted
// is a model that can be written and read again.
TEST(DamagedModelFile, ForgedNumbersGiveAnErrorOrAModelThatHoldsTogether) {
    Random random(7);
    const std::vector<double> numbers{-1, 0, 1, 2, 3, 7, 8, 64, 255, 1e9, 4e9, 1e18, 9e18, 1.8e19};
    std::size_t accepted = 0;
    for (const Model& model : small_models()) {
        const Parts original = Parts::of(save_to_memory(model));
        std::vector<std::string> arrays;
        for (const auto& [key, value] : original.header.items()) {
            if (key != "__metadata__") arrays.push_back(key);
        }
        for (int round = 0; round < 2000; ++round) {
            Parts parts = original;
            auto& array = parts.header[arrays[random.below(arrays.size())]];
            const double number = numbers[random.below(numbers.size())];
            const auto whole = number < 0 ? nlohmann::json(-1)
                                          : nlohmann::json(static_cast<std::uint64_t>(number));
            switch (random.below(4)) {
                case 0: array["shape"][0] = whole; break;
                case 1: array["data_offsets"][random.below(2)] = whole; break;
                case 2: array["dtype"] = random.below(2) == 0 ? "F32" : "I64"; break;
                default: break;
            }
            if (!parts.data.empty()) {
                parts.data[random.below(parts.data.size())] = static_cast<char>(random.below(256));
            }
            std::string bytes;
            try {
                bytes = parts.file();
            } catch (const nlohmann::json::exception&) {
                continue;  // an offset of -1 has no bytes to take a checksum of
            }
            try {
                const std::string again = save_to_memory(load_from_memory(bytes));
                EXPECT_EQ(save_to_memory(load_from_memory(again)), again);
                ++accepted;
            } catch (const InvalidInput&) {
            }
        }
    }
    EXPECT_GT(accepted, 100U) << "too few forgeries got past the checksum to mean anything";
}

constexpr std::uint64_t huge = std::uint64_t{1} << 62;

struct Forgery {
    const char* what;
    std::function<void(Parts&)> edit;
    const char* message;
};

void put(Parts& parts, const std::string& array, std::size_t item, auto value) {
    std::memcpy(parts.data.data() + parts.begin(array) + item * sizeof value, &value, sizeof value);
}

const std::vector<Forgery> forgeries{
    {"later version", [](Parts& p) { p.metadata("version") = "2"; }, "later Mercer"},
    {"no version", [](Parts& p) { p.metadata("version") = "one"; }, "not known"},
    {"other format", [](Parts& p) { p.metadata("format") = "pt"; }, "not a Mercer model"},
    {"no metadata", [](Parts& p) { p.header.erase("__metadata__"); }, "not a Mercer model"},
    {"number in metadata", [](Parts& p) { p.header["__metadata__"]["x"] = 3; }, "must be a text"},
    {"task", [](Parts& p) { p.metadata("task") = "cook"; }, "expected one of"},
    {"no task", [](Parts& p) { p.header["__metadata__"].erase("task"); }, "task"},
    {"multi_class", [](Parts& p) { p.metadata("multi_class") = "all"; }, "multi_class"},
    {"kernel", [](Parts& p) { p.metadata("kernel") = "rbf(gama=1)"; }, "kernel"},
    {"waiting kernel", [](Parts& p) { p.metadata("kernel") = "rbf(gamma=scale)"; }, "waits"},
    {"columns", [](Parts& p) { p.metadata("columns") = "3"; }, "columns"},
    {"absurd columns", [](Parts& p) { p.metadata("columns") = "9999999999999"; }, "at most"},
    {"columns text", [](Parts& p) { p.metadata("columns") = "many"; }, "whole number"},
    {"class names", [](Parts& p) { p.metadata("class_names") = R"(["a","b","c"])"; }, "classes"},
    {"class names kind", [](Parts& p) { p.metadata("class_names") = "[1,2]"; }, "a text"},
    {"class names hex", [](Parts& p) { p.metadata("class_names") = R"(["a",{"bytes":"0g"}])"; },
     "hexadecimal"},
    {"class names JSON", [](Parts& p) { p.metadata("class_names") = "[\"a\""; }, "JSON"},
    {"class values", [](Parts& p) { p.metadata("class_values") = R"(["nan",1])"; }, "finite"},
    {"roles out of place", [](Parts& p) { p.metadata("roles") = R"({"label":99})"; }, "roles"},
    {"roles of another kind", [](Parts& p) { p.metadata("roles") = R"({"label":"y"})"; }, "roles"},
    {"feature names", [](Parts& p) { p.metadata("feature_names") = R"(["a"])"; }, "feature"},
    {"scaling", [](Parts& p) { p.metadata("scaling") = "{}"; }, "scaling"},
    {"trained", [](Parts& p) { p.metadata("trained") = R"({"C":1})"; }, "nu"},
    {"reports", [](Parts& p) { p.metadata("reports") = "[{}]"; }, "status"},
    {"deep", [](Parts& p) { p.metadata("reports") = std::string(100000, '['); }, "deeper"},
    {"twice", [](Parts& p) { p.metadata("trained") = R"({"C":1,"C":2})"; }, "twice"},
    {"hull weights",
     [](Parts& p) {
         std::string& text = p.metadata("reports");
         const std::string from = R"("hull_weights":0)";
         text.replace(text.find(from), from.size(), R"("hull_weights":1000000000000)");
     },
     "hull_weights"},
    {"shape overflow",
     [](Parts& p) {
         p.header["coefficients"]["shape"] = {huge, huge};
     },
     "does not fill"},
    {"shape too small",
     [](Parts& p) {
         p.header["coefficients"]["shape"] = {1, 1};
     },
     "does not fill"},
    {"negative shape",
     [](Parts& p) {
         p.header["coefficients"]["shape"] = {-1, 2};
     },
     "whole number"},
    {"three dimensions",
     [](Parts& p) {
         p.header["coefficients"]["shape"] = {1, 1, 2};
     },
     "dimensions"},
    {"one dimension", [](Parts& p) { p.header["coefficients"]["shape"] = {2}; }, "dimensions"},
    {"offset past the end", [](Parts& p) { p.header["points"]["data_offsets"][1] = huge; },
     "cut short or is damaged"},
    {"offsets reversed",
     [](Parts& p) {
         p.header["points"]["data_offsets"] = {16, 0};
     },
     "damaged"},
    {"overlap",
     [](Parts& p) {
         p.header["bias"]["data_offsets"] = {0, 8};
     },
     "overlap"},
    {"hole", [](Parts& p) { p.data += std::string(8, '\0'); }, "belong to nothing"},
    {"type", [](Parts& p) { p.header["bias"]["dtype"] = "BF16"; }, "BF16"},
    {"integer bias", [](Parts& p) { p.header["bias"]["dtype"] = "I64"; }, "expected F64"},
    {"no bias",
     [](Parts& p) {
         p.header["other"] = p.header["bias"];
         p.header.erase("bias");
     },
     "'bias' is missing"},
    {"stranger",
     [](Parts& p) {
         p.header["extra"] = {
             {"dtype", "F32"}, {"shape", {0}}, {"data_offsets", {p.data.size(), p.data.size()}}};
     },
     "do not belong"},
    {"points transposed",
     [](Parts& p) {
         p.header["points"]["shape"] = {4, 1};
     },
     "coefficients for"},
    {"nan coefficient", [](Parts& p) { put(p, "coefficients", 1, nan); }, "finite"},
    {"inf bias", [](Parts& p) { put(p, "bias", 0, 1 / 0.0); }, "finite"},
    {"nan point", [](Parts& p) { put(p, "points", 2, static_cast<float>(nan)); }, "finite"},
};

TEST(HostileModelFile, EveryForgeryIsNamed) {
    Random random(1);
    ModelParts model = random_model(random, {.points = 2, .columns = 2});
    model.reports.resize(1);
    const std::string original = save_to_memory(Model(model));
    for (const Forgery& forgery : forgeries) {
        Parts parts = Parts::of(original);
        forgery.edit(parts);
        std::string bytes;
        try {
            bytes = parts.file();
        } catch (const nlohmann::json::exception&) {
            bytes = parts.file_as_is();  // so far from a model that it has no checksum
        }
        const std::string message = message_of([&] { load_from_memory(bytes, "forged.mercer"); });
        EXPECT_NE(message.find(forgery.message), std::string::npos)
            << forgery.what << ": " << message;
        EXPECT_EQ(message.find("forged.mercer"), 0U) << forgery.what << ": " << message;
    }
}

// 80 000 empty arrays took minutes before the checksum was looked at.
TEST(HostileModelFile, ManyEmptyArraysAreRefusedByTheirNumber) {
    Random random(1);
    const std::string original =
        save_to_memory(Model(random_model(random, {.points = 2, .columns = 2})));
    for (const auto& [count, word] :
         {std::pair{9'000, "do not belong"}, {80'000, "room for 10000"}}) {
        Parts parts = Parts::of(original);
        for (int i = 0; i < count; ++i) {
            parts.header["points.more" + std::to_string(i)] = {
                {"dtype", "F64"}, {"shape", {0}}, {"data_offsets", {0, 0}}};
        }
        const std::string message =
            message_of([&] { load_from_memory(parts.file(), "forged.mercer"); });
        EXPECT_NE(message.find(word), std::string::npos) << message;
        EXPECT_LT(message.size(), 2000U);
    }
}

TEST(HostileModelFile, SparsePointsAreChecked) {
    Random random(2);
    const Model model(
        random_model(random, {.points = 3, .columns = 5, .rows = {.sparse = true, .twice = true}}));
    const Parts original = Parts::of(save_to_memory(model));
    const std::vector<Forgery> list{
        {"unsorted",
         [](Parts& p) {
             for (std::size_t i = 0; i < 3; ++i) put(p, "points.index", i, std::uint32_t{4});
         },
         "strictly increasing"},
        {"column too high", [](Parts& p) { put(p, "points.index", 0, std::uint32_t{4000000000}); },
         "points"},
        {"starts fall", [](Parts& p) { put(p, "points.starts", 1, std::uint64_t{1} << 60); },
         "points"},
        {"negative start", [](Parts& p) { put(p, "points.starts", 1, std::int64_t{-1}); },
         "negative"},
        {"starts begin late", [](Parts& p) { put(p, "points.starts", 0, std::uint64_t{1}); },
         "starts must run"},
        {"absurd width", [](Parts& p) { p.metadata("points.columns") = "99999999999"; }, "columns"},
        {"inf value", [](Parts& p) { put(p, "points.values", 0, 1 / 0.0); }, "finite"},
    };
    for (const Forgery& forgery : list) {
        Parts parts = original;
        forgery.edit(parts);
        const std::string message = message_of([&] { load_from_memory(parts.file(), "forged"); });
        EXPECT_NE(message.find(forgery.message), std::string::npos)
            << forgery.what << ": " << message;
    }
}

TEST(HostileModelFile, RowNumbersOfPrecomputedPointsAreChecked) {
    const Model model = small_models()[1];
    for (const auto& [number, word] : std::vector<std::pair<std::int64_t, std::string>>{
             {-5, "negative"}, {std::int64_t{1} << 40, "below"}, {1, "different"}}) {
        Parts parts = Parts::of(save_to_memory(model));
        put(parts, "points.origins", 0, number);
        const std::string message = message_of([&] { load_from_memory(parts.file(), "forged"); });
        EXPECT_NE(message.find(word), std::string::npos) << message;
    }
}

TEST(HostileModelFile, ForeignFilesAreNamed) {
    const Folder folder;
    const std::string plain = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    std::string length(8, '\0');
    length[0] = static_cast<char>(plain.size());
    std::filesystem::create_directory(folder.file("folder"));
    const std::vector<std::pair<std::string, std::string>> files{
        {folder.file("empty", ""), "is empty"},
        {folder.file("folder"), "is a directory"},
        {folder.file("absent"), "no such file"},
        {folder.file("short", "abc"), "only 3 bytes"},
        {folder.file("text", "1 1:0.5 2:0.25\n-1 1:0.125\n"), "no Mercer model"},
        {folder.file("libsvm", "svm_type c_svc\nkernel_type linear\n"), "import_libsvm"},
        {folder.file("safetensors", length + plain + std::string(4, '\0')), "not a Mercer model"},
        {folder.file("absurd", std::string(8, '\xFF') + "{}"), "header length"},
        {folder.file("zeros", std::string(8, '\0') + "{}"), "header length"},
        {folder.file("long", std::string("\x00\x00\x10\x00\x00\x00\x00\x00{}", 10)), "cut short"},
    };
    for (const auto& file : files) {
        const std::string message = message_of([&] { load(file.first); });
        EXPECT_NE(message.find(file.second), std::string::npos) << message;
        EXPECT_EQ(message.find(file.first), 0U) << message;
    }
}

}  // namespace
}  // namespace mercer::testing
