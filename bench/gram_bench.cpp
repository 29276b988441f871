// Blocks of Gram matrices against the machine's own limits and against the plain way of computing
// them. Prints ratios, each the best of several runs; `--json FILE` writes them too.
//
//   gram_bench            all of it, about a minute
//   gram_bench --quick    smaller blocks

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "mercer/base/detail/simd.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/gram.hpp"
#include "products.hpp"

namespace {

using namespace mercer;
using bench::best_seconds;
using bench::random_values;

struct Line {
    std::string what;
    double ratio;
    double bar;  // the ratio wanted; 0: none
    bool at_most;
    std::string detail;
};
std::vector<Line> lines;

void report(const std::string& what, double ratio, double bar, bool at_most,
            const std::string& detail) {
    const bool met = bar == 0 || (at_most ? ratio <= bar : ratio >= bar);
    std::printf("%-58s %6.2f  (%s %.2f%s)  %s\n", what.c_str(), ratio,
                at_most ? "at most" : "at least", bar, met ? "" : ", MISSED", detail.c_str());
    std::fflush(stdout);
    lines.push_back({what, ratio, bar, at_most, detail});
}

std::string rate(double amount, double seconds, const char* unit) {
    char text[64];
    std::snprintf(text, sizeof text, "%.1f G%s/s", amount / seconds * 1e-9, unit);
    return text;
}

double block_seconds(const std::string& kernel, const Rows& x, const Rows& z) {
    const Gram<float> gram(Kernel::parse(kernel), z);
    const Points<float> left = gram.prepare(x);
    Matrix<float> out(x.size(), z.size());
    return best_seconds([&] { gram.block(left, gram.reference(), out.view()); });
}

void wide_blocks(bool quick) {
    const std::size_t m = quick ? 1024 : 4096;
    const std::size_t n = quick ? 4096 : 8192;
    constexpr std::size_t k = 784;
    const double flops = 2.0 * static_cast<double>(m * n * k);
    const Rows x = Rows::dense(random_values(m * k, 3), k);
    const Rows z = Rows::dense(random_values(n * k, 4), k);
    const double product = bench::product_seconds(m, n, k).best();
    const double gaussian = block_seconds("rbf(gamma=0.01)", x, z);
    report("Gaussian block against the best float32 product", product / gaussian, 0.75, false,
           rate(flops, gaussian, "flop") + " of " + rate(flops, product, "flop"));

    const auto bytes = [&](std::size_t rows, std::uint64_t seed) {
        Random random(seed);
        std::vector<float> values(rows * k);
        for (float& value : values) value = static_cast<float>(random.below(256)) / 255.0F;
        return Rows::dense(std::move(values), k);
    };
    const double byte_gaussian = block_seconds("rbf(gamma=0.01)", bytes(m, 5), bytes(n, 6));
    report("the same on byte-valued rows against float rows", gaussian / byte_gaussian,
           byte_products_pay(784) ? 1.2 : 0, false, rate(flops, byte_gaussian, "op"));

    const double three = block_seconds(
        "rbf(gamma=0.01) + 0.5*polynomial(degree=2, gamma=0.01) + matern(nu=1.5, length=5)", x, z);
    report("a sum of three kernels against one of them", three / gaussian, 1.4, true,
           rate(static_cast<double>(m * n), three, "value"));
}

void short_rows(bool quick) {
    constexpr std::size_t n = 65000;
    constexpr std::size_t d = 22;
    const std::size_t m = quick ? 16 : 64;
    const auto xv = random_values(m * d, 7);
    const auto zv = random_values(n * d, 8);
    std::vector<float> plain(m * n);
    std::vector<float> norm(n);
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < d; ++k) norm[j] += zv[j * d + k] * zv[j * d + k];
    }
    const double plain_seconds = best_seconds([&] {
        const auto dim = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
        dnnl_sgemm('N', 'T', dim(m), dim(n), dim(d), 1.0F, xv.data(), dim(d), zv.data(), dim(d),
                   0.0F, plain.data(), dim(n));
        parallel_for(m, [&](std::size_t i) {
            float own = 0;
            for (std::size_t k = 0; k < d; ++k) own += xv[i * d + k] * xv[i * d + k];
            for (std::size_t j = 0; j < n; ++j) {
                plain[i * n + j] = std::exp(-2.0F * (own + norm[j] - 2 * plain[i * n + j]));
            }
        });
    });
    const double ours = block_seconds("rbf(gamma=2)", Rows::dense(xv, d), Rows::dense(zv, d));
    report("Gaussian rows, 22 columns, against product + std::exp", plain_seconds / ours, 4, false,
           rate(static_cast<double>(m * n), ours, "value"));
}

/// Rows like a9a's: 14 ones among 123 columns.
Rows census_rows(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::size_t> starts = {0};
    std::vector<std::uint32_t> index;
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<std::uint32_t> row;
        for (std::uint32_t block = 0; block < 14; ++block) {
            row.push_back(static_cast<std::uint32_t>(block * 8 + random.below(8)));
        }
        index.insert(index.end(), row.begin(), row.end());
        starts.push_back(index.size());
    }
    return Rows::sparse(std::move(starts), index, std::vector<float>(index.size(), 1.0F), 123);
}

/// One row the way LIBSVM computes it while training: nodes of (index, value) merged in double
/// precision on one thread, squared norms known, one exp a value.
double merged_row_seconds(const Rows& rows) {
    struct Entry {
        int index;
        double value;
    };
    std::vector<std::vector<Entry>> nodes(rows.size());
    const SparseView<float> view = rows.sparse_view<float>();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const std::uint32_t k : view.row_index(i))
            nodes[i].push_back({static_cast<int>(k), 1.0});
        nodes[i].push_back({-1, 0});
    }
    std::vector<float> out(rows.size());
    return best_seconds([&] {
        for (std::size_t j = 0; j < rows.size(); ++j) {
            const Entry* a = nodes[0].data();
            const Entry* b = nodes[j].data();
            double sum = 0;
            while (a->index != -1 && b->index != -1) {
                if (a->index == b->index) {
                    sum += a->value * b->value;
                    ++a;
                    ++b;
                } else if (a->index > b->index) {
                    ++b;
                } else {
                    ++a;
                }
            }
            out[j] = static_cast<float>(std::exp(-0.05 * (28 - 2 * sum)));
        }
    });
}

void sparse_rows(bool quick) {
    const std::size_t n = quick ? 10000 : 32561;
    constexpr std::size_t m = 64;
    const Rows rows = census_rows(n, 9);
    const double merged = merged_row_seconds(rows);
    const double ours = block_seconds("rbf(gamma=0.05)", census_rows(m, 10), rows) / m;
    report("sparse rows like a9a's against merging them one by one", merged / ours, 10, false,
           rate(static_cast<double>(n), ours, "value"));
}

void write_json(const std::string& path) {
    std::ofstream file(path);
    file << "{\n  \"threads\": " << threads() << ",\n  \"libraries\": \"" << product_libraries()
         << "\",\n  \"vector_level\": \"" << simd_levels().front() << "\",\n  \"ratios\": [\n";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        file << "    {\"what\": \"" << lines[i].what << "\", \"ratio\": " << lines[i].ratio
             << ", \"bar\": " << lines[i].bar
             << ", \"at_most\": " << (lines[i].at_most ? "true" : "false") << ", \"detail\": \""
             << lines[i].detail << "\"}" << (i + 1 < lines.size() ? "," : "") << "\n";
    }
    file << "  ]\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
    bool quick = false;
    std::string json;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--quick") == 0) quick = true;
        if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) json = argv[++i];
    }
    std::printf("%zu threads, %s, %s\n", threads(), product_libraries().c_str(),
                simd_levels().front().c_str());
    wide_blocks(quick);
    short_rows(quick);
    sparse_rows(quick);
    if (!json.empty()) write_json(json);
    return 0;
}
