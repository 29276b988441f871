// Training that ended early is gone on with, to the same bits, by any number of ranks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/dist/detail/thread_ranks.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/registry.hpp"

namespace mercer {
namespace {

Dataset waves(std::size_t rows, double classes) {
    Random random(5);
    Dataset data;
    std::vector<float> x;
    for (std::size_t i = 0; i < rows; ++i) {
        x.push_back(static_cast<float>(random.normal()));
        x.push_back(static_cast<float>(random.normal()));
        const double y = std::sin(2.0 * static_cast<double>(x[2 * i])) + 0.2 * random.normal();
        data.y.values.push_back(classes > 0 ? std::floor(classes / 2 + y) : y);
    }
    data.x = Rows::dense(std::move(x), 2);
    return data;
}

class CheckpointTest : public testing::Test {
   protected:
    void SetUp() override {
        folder = std::filesystem::temp_directory_path() /
                 ("mercer-checkpoint-" + std::to_string(getpid()) + "-" +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directory(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }
    std::string path() const { return (folder / "state").string(); }

    /// Trains, on `count` ranks, and ends in the pass after so many steps of all outputs.
    std::vector<double> train(const std::string& task, const Dataset& data, std::size_t count,
                              std::size_t steps, bool resume) const {
        std::vector<std::vector<double>> found(count);
        const auto body = [&](Communicator& ranks) {
            const RowRange range = own_rows(ranks, data.size());
            std::vector<std::size_t> rows;
            for (std::size_t i = range.first; i < range.last; ++i) rows.push_back(i);
            FitSettings common;
            std::size_t made = 0;
            common.progress = [&](const Moment& moment) {
                if (moment.task == "newton" && ++made > steps) throw std::runtime_error("killed");
                return true;
            };
            const Machine machine =
                approximate(common, {.centres = 30}, [&](const FitSettings& own) {
                    return machine_entry(task).make(own, {{"lambda", 1e-3}});
                });
            const KeepCheckpoint keep(path(), resume, 0);
            const Model model = machine.fit(data.select(rows));
            found[ranks.rank()] = model.expansion().coefficients.values();
            found[ranks.rank()].push_back(model.reports().front().primal);
            for (const double value : model.reports().front().history) {
                found[ranks.rank()].push_back(value);
            }
        };
        run_ranks(count, body);
        return found[0];
    }

    static constexpr std::size_t never = 1'000'000;
    std::filesystem::path folder;
};

TEST_F(CheckpointTest, IsGoneOnWithToTheSameBits) {
    const Dataset data = waves(20'000, 3);
    const std::vector<double> whole = train("logistic", data, 1, never, false);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    // Three outputs, ended again and again, each time with another number of ranks.
    std::size_t ends = 0;
    std::vector<double> found;
    for (const std::size_t count : {2UL, 3UL, 1UL, 2UL, 4UL, 1UL, 2UL}) {
        try {
            found = train("logistic", data, count, ends < 5 ? 3 + 2 * ends : never, ends > 0);
            break;
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(std::string(error.what()), "killed");
            EXPECT_TRUE(std::filesystem::exists(path()));
            ++ends;
        }
    }
    EXPECT_GE(ends, 2U) << "it was never ended early";
    EXPECT_EQ(found, whole);
}

TEST_F(CheckpointTest, OfRidgeSavesItsPass) {
    const Dataset data = waves(20'000, 0);
    const std::vector<double> whole = train("ridge", data, 2, never, false);
    EXPECT_TRUE(std::filesystem::exists(path()));
    EXPECT_EQ(train("ridge", data, 3, never, true), whole);
}

TEST_F(CheckpointTest, OfOtherDataIsRefused) {
    train("huber", waves(9'000, 0), 1, never, false);
    Dataset other = waves(9'000, 0);
    std::swap(other.y.values[10], other.y.values[11]);
    EXPECT_THROW(train("huber", other, 1, never, true), InvalidInput);
    EXPECT_THROW(train("ridge", waves(9'000, 0), 1, never, true), InvalidInput);
}

TEST_F(CheckpointTest, ThatIsDamagedIsRefused) {
    const Dataset data = waves(9'000, 0);
    train("huber", data, 1, never, false);
    const auto size = std::filesystem::file_size(path());
    for (const auto length :
         {size - 4, size - 8, size / 2, std::uintmax_t{30}, std::uintmax_t{3}}) {
        std::filesystem::resize_file(path(), length);
        EXPECT_THROW(train("huber", data, 2, never, true), InvalidInput) << length;
    }
}

TEST_F(CheckpointTest, IsRemovedFileByFile) {
    const KeepCheckpoint outer("elsewhere", false);
    {
        KeepCheckpoint keep(path(), false);
        EXPECT_EQ(KeepCheckpoint::current(), &keep);
        EXPECT_EQ(keep.next_path(10), path());
        EXPECT_EQ(keep.next_path(5), "") << "a machine of few rows";
        EXPECT_EQ(keep.next_path(10), path() + ".1");
        std::ofstream(path() + ".1") << "x";
        keep.remove();
        EXPECT_FALSE(std::filesystem::exists(path() + ".1"));
    }
    EXPECT_EQ(KeepCheckpoint::current(), &outer);
}

}  // namespace
}  // namespace mercer
