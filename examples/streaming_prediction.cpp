// Rows that come in blocks, answered by several threads that share one Predictor.
#include <atomic>
#include <cstdio>
#include <memory>
#include <mercer/mercer.hpp>
#include <numeric>
#include <thread>
#include <vector>

using namespace mercer;

int main() {
    const Dataset train = make("spirals", {.n = 1000, .seed = 1});
    const Dataset stream = make("spirals", {.n = 5000, .seed = 2});
    const std::size_t n = stream.size();
    const std::size_t columns = stream.columns();

    // The model is packed for products once; what is in a Predictor never changes, so that any
    // number of threads may ask it at the same time.
    const Predictor predictor(svc({.kernel = rbf({.gamma = 20.0}), .C = 10}).fit(train));

    // The stream's numbers as they would lie in somebody's buffer.
    const auto buffer = std::make_shared<std::vector<double>>(n * columns);
    for (std::size_t i = 0; i < n; ++i) {
        stream.x.copy_row(i, {buffer->data() + i * columns, columns});
    }

    // Each thread takes the next block of 256 rows until there is none. Rows::borrow copies
    // nothing: the block is a view of the buffer, which it keeps alive.
    constexpr std::size_t block = 256;
    std::atomic<std::size_t> next{0};
    std::vector<double> answers(n);
    const auto work = [&] {
        const ThreadLimit alone(1);  // the threads here are enough
        for (std::size_t first; (first = next.fetch_add(block)) < n;) {
            const std::size_t rows = std::min(block, n - first);
            const MatrixView<const double> view(buffer->data() + first * columns, rows, columns);
            const std::vector<double> positions = predictor.predict(Rows::borrow(view, buffer));
            std::copy(positions.begin(), positions.end(),
                      answers.begin() + static_cast<std::ptrdiff_t>(first));
        }
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();

    // The answers are those of one call with all rows, whoever computed which.
    const bool same = answers == predictor.predict(stream.x);
    const std::vector<std::int32_t> truth = classes_of(stream.y).index;
    std::size_t right = 0;
    for (std::size_t i = 0; i < n; ++i) right += answers[i] == truth[i];
    const double accuracy = static_cast<double>(right) / static_cast<double>(n);
    std::printf("%zu rows in blocks of %zu by 4 threads: accuracy %.3f, %s one call\n", n, block,
                accuracy, same ? "the same as" : "different from");
    return same && accuracy > 0.95 ? 0 : 1;
}
