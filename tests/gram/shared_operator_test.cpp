// A matrix that several ranks hold together is that of one of them, to the last bit, whatever is
// asked of it and however little room there is.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "expressions.hpp"
#include "mercer/base/random.hpp"
#include "mercer/dist/detail/rank_partners.hpp"
#include "mercer/dist/detail/thread_ranks.hpp"
#include "mercer/gram/detail/operators.hpp"
#include "mercer/gram/operators.hpp"

namespace mercer {
namespace {

constexpr std::size_t shared_rows = 700;

/// All that came of many requests, one after another: sums, tiles, rows, and what it cost.
template <class T>
struct Answers {
    std::vector<double> sums{};
    std::vector<T> values{};
    std::uint64_t evaluations = 0;
    std::size_t slots = 0;
};

/// Some rows, and columns that get fewer and fewer and then all again, as a solver asks for them.
template <class T>
Answers<T> ask_all(const SymmetricOperator<T>& op, int requests) {
    Answers<T> found;
    Random random(7);
    std::vector<std::size_t> columns;
    for (int request = 0; request < requests; ++request) {
        if (request % 12 == 0) {
            columns.clear();
            for (std::size_t j = 0; j < shared_rows; ++j) columns.push_back(j);
        } else if (request % 4 == 0) {
            std::erase_if(columns, [&](std::size_t) { return random.below(3) == 0; });
        }
        const Columns asked = columns.size() == shared_rows ? Columns::all() : Columns(columns);
        std::vector<std::size_t> which;
        std::vector<double> weights;
        std::vector<char> again;
        for (std::size_t i = random.below(30); i < shared_rows; i += 1 + random.below(60)) {
            which.push_back(i);
            weights.push_back(random.normal());
            again.push_back(random.below(2) == 0 ? 1 : 0);
        }
        std::vector<double> sums(columns.size(), 0.25);
        op.add_rows(which, weights, asked, request % 5 == 0 ? Announcement() : again, sums);
        found.sums.insert(found.sums.end(), sums.begin(), sums.end());
        Matrix<T> tile(which.size(), which.size());
        op.tile(which, which, tile.view());
        found.values.insert(found.values.end(), tile.values().begin(), tile.values().end());
        if (request % 9 == 0) {
            Matrix<T> rows(2, shared_rows);
            op.rows(std::vector<std::size_t>{which.front(), which.back()}, rows.view());
            found.values.insert(found.values.end(), rows.values().begin(), rows.values().end());
        }
    }
    found.evaluations = op.evaluations();
    return found;
}

template <class T>
void expect_same_answers(const Answers<T>& found, const Answers<T>& alone) {
    EXPECT_EQ(found.sums, alone.sums);
    EXPECT_EQ(found.values, alone.values);
    EXPECT_EQ(found.evaluations, alone.evaluations) << "what is kept does not depend on the ranks";
}

template <class T>
void compare_shared(const Gram<T>& gram, const OperatorRequest& request, int requests,
                    const std::vector<std::size_t>& counts) {
    const Answers<T> alone = ask_all(*make_operator(gram, request), requests);
    for (const std::size_t count : counts) {
        SCOPED_TRACE(std::to_string(count) + " ranks");
        run_ranks(count, [&](Communicator& ranks) {
            const RankPartners partners(ranks);
            OperatorRequest own = request;
            own.partners = &partners;
            const auto op = make_operator(gram, own);
            expect_same_answers(ask_all(*op, requests), alone);
            const auto* cached = dynamic_cast<const CachedOperator<T>*>(op.get());
            if (ranks.size() == 1 || cached == nullptr) return;  // sums that cost next to nothing
            EXPECT_LE(cached->cache().bytes(), own.memory_bytes * 3 / 4) << "a part of the store";
        });
    }
}

/// Partners that count how often they speak.
class Counted final : public Partners {
   public:
    explicit Counted(Communicator& ranks) : inner_(ranks) {}
    std::size_t number() const override { return inner_.number(); }
    std::size_t count() const override { return inner_.count(); }
    void gather(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                std::span<std::byte> all) const override {
        ++calls_;
        inner_.gather(own, sizes, all);
    }
    std::size_t calls() const { return calls_; }

   private:
    RankPartners inner_;
    mutable std::size_t calls_ = 0;
};

/// Room for one row, for some, for all; rows that are wanted again, and any.
TEST(SharedOperator, KeepsWhatOneWouldKeep) {
    const Gram<float> gram(Kernel::parse("rbf(gamma=0.3)"),
                           testing::random_rows(shared_rows, 9, 1, 1));
    for (const std::size_t rows : {1UL, 40UL, 200UL, shared_rows}) {
        for (const Reuse reuse : {Reuse::marked, Reuse::rows}) {
            SCOPED_TRACE(std::to_string(rows) + (reuse == Reuse::rows ? " any" : " marked"));
            compare_shared<float>(
                gram, {.reuse = reuse, .memory_bytes = rows * shared_rows * sizeof(float)}, 60,
                {1, 2, 3, 5, 12});
        }
    }
}

/// Every kernel there is; of 700 columns in blocks of 64 five ranks have some each.
TEST(SharedOperator, HasTheBitsOfOneForEveryKernel) {
    const Rows dense = testing::random_rows(shared_rows, 9, 1, 2);
    const Rows sparse = testing::random_rows(shared_rows, 60, 0.04, 3).to_sparse();
    const std::vector<Rows> samples{dense, dense.to_float(), sparse};
    for (const std::string& text : testing::expressions()) {
        for (std::size_t s = 0; s < samples.size(); ++s) {
            const Kernel kernel = Kernel::parse(text);
            SCOPED_TRACE(text + " on sample " + std::to_string(s));
            const Gram<float> single(kernel, samples[s]);
            const std::size_t room = 50 * shared_rows;
            compare_shared<float>(
                single, {.reuse = Reuse::marked, .memory_bytes = room * sizeof(float)}, 8, {5});
            if (s > 0) continue;
            const Gram<double> twice(kernel, samples[s]);
            compare_shared<double>(
                twice, {.reuse = Reuse::marked, .memory_bytes = room * sizeof(double)}, 8, {3});
        }
    }
}

/// Strips of the matrix are those of the matrix, whichever triangle they are computed in.
TEST(GramStrips, AreThoseOfTheMatrix) {
    const Rows dense = testing::random_rows(shared_rows, 9, 1, 2).to_float();
    const Rows sparse = testing::random_rows(shared_rows, 60, 0.04, 3).to_sparse();
    for (const std::string& text : testing::expressions()) {
        for (const Rows& rows : {dense, sparse}) {
            SCOPED_TRACE(text);
            const Gram<float> gram(Kernel::parse(text), rows);
            Matrix<float> whole(shared_rows, shared_rows), strips(shared_rows, shared_rows);
            gram.matrix(whole.view());
            for (std::size_t first = 0; first < shared_rows; first += gram.strip()) {
                const std::size_t count = std::min(gram.strip(), shared_rows - first);
                gram.matrix_rows(first, strips.view().block(first, 0, count, shared_rows));
            }
            EXPECT_EQ(strips.values(), whole.values());
        }
    }
}

/// Rows in twelve places far apart, in which they stand together: nothing is kept, products are
/// shared, and as many values are computed as by one.
TEST(SharedOperator, HasTheBitsOfOneForNarrowKernels) {
    const std::size_t rows = 6000, places = 12, columns = 5;
    Random random(5);
    std::vector<float> values;
    for (std::size_t i = 0; i < rows; ++i) {
        const auto place = static_cast<float>(i * places / rows);
        for (std::size_t k = 0; k < columns; ++k) {
            values.push_back(9 * place + static_cast<float>(random.normal()));
        }
    }
    const Gram<float> gram(Kernel::parse("rbf(gamma=2)"), Rows::dense(std::move(values), columns));
    ASSERT_TRUE(gram.is_local(gram.reference()));
    const auto ask = [&](const Partners* partners) {
        const auto op = make_operator(gram, {.reuse = Reuse::marked, .partners = partners});
        Answers<float> found;
        std::vector<std::size_t> which, some;
        std::vector<double> weights;
        for (std::size_t i = 3; i < rows; i += 7) {
            which.push_back(i);
            weights.push_back(std::sin(static_cast<double>(i)));
        }
        for (std::size_t j = 1; j < rows; j += 4) some.push_back(j);
        for (const Columns& asked : {Columns::all(), Columns(some), Columns(which)}) {
            std::vector<double> sums(asked.size(rows), 0.5);
            op->add_rows(which, weights, asked, std::nullopt, sums);
            found.sums.insert(found.sums.end(), sums.begin(), sums.end());
        }
        Matrix<float> tile(which.size(), some.size());
        op->tile(which, some, tile.view());
        found.values = tile.values();
        found.evaluations = op->evaluations();
        return found;
    };
    const Answers<float> alone = ask(nullptr);
    for (const std::size_t count : {1UL, 2UL, 3UL, 20UL}) {
        SCOPED_TRACE(std::to_string(count) + " ranks");
        run_ranks(count, [&](Communicator& ranks) {
            const Counted partners(ranks);
            expect_same_answers(ask(&partners), alone);
            EXPECT_EQ(partners.calls(), count == 1 ? 0U : 3U) << "each product is shared";
        });
    }
}

/// Pixels, which are multiplied as bytes.
TEST(SharedOperator, HasTheBitsOfOneForBytes) {
    Random random(4);
    std::vector<float> pixels(shared_rows * 100);
    for (float& value : pixels) value = static_cast<float>(random.below(256));
    const Gram<float> gram(Kernel::parse("rbf(gamma=1e-6)"), Rows::dense(std::move(pixels), 100));
    compare_shared<float>(
        gram, {.reuse = Reuse::marked, .memory_bytes = 60 * shared_rows * sizeof(float)}, 40,
        {2, 5});
}

}  // namespace
}  // namespace mercer
