// What the tests of this folder share.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/data/dataset.hpp"

namespace mercer::testing {

/// A folder of its own, gone when the test ends.
class Folder {
   public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "mercer-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::string file(const std::string& name) const { return (path_ / name).string(); }
    std::string file(const std::string& name, std::string_view content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return file(name);
    }
    std::size_t count() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(path_), {}));
    }

   private:
    std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A file of the large data sets; empty when it is not there.
inline std::string shared_data(const std::string& name) {
    const char* folder = std::getenv("MERCER_DATA");
    const std::filesystem::path path =
        std::filesystem::path(folder != nullptr ? folder : "../shared/data") / name;
    return std::filesystem::exists(path) ? path.string() : "";
}

/// What was thrown, "" when nothing was.
template <class Body>
std::string message_of(Body&& body) {
    try {
        body();
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return "";
}

inline std::vector<std::vector<double>> full(const Rows& rows) {
    std::vector<std::vector<double>> result(rows.size(), std::vector<double>(rows.columns()));
    for (std::size_t i = 0; i < rows.size(); ++i) rows.copy_row(i, result[i]);
    return result;
}

/// The labels as people wrote them.
inline std::vector<std::string> texts(const Labels& labels) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < labels.size(); ++i) result.push_back(labels.text(i));
    return result;
}

inline void expect_equal(const Dataset& a, const Dataset& b) {
    ASSERT_EQ(a.size(), b.size());
    ASSERT_EQ(a.columns(), b.columns());
    EXPECT_EQ(full(a.x), full(b.x));
    EXPECT_EQ(texts(a.y), texts(b.y));
    EXPECT_EQ(a.weights, b.weights);
}

}  // namespace mercer::testing

#define MERCER_NEEDS_DATA(variable, name)                              \
    const std::string variable = mercer::testing::shared_data(name);   \
    if (variable.empty())                                              \
    GTEST_SKIP() << (name) << " is not there; set MERCER_DATA to the " \
                 << "folder of the data sets"
