#include "mercer/data/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/source.hpp"

namespace mercer {

// Defined in files that CMake makes from data/*.csv.gz.
namespace embedded_bytes {
extern const std::span<const unsigned char> digits_csv_gz;
extern const std::span<const unsigned char> iris_csv_gz;
}  // namespace embedded_bytes

namespace {

constexpr double pi = std::numbers::pi;

[[noreturn]] void unknown_name(std::string_view name, const std::string& what,
                               const std::vector<SampleEntry>& table) {
    std::vector<std::string> names;
    std::string list;
    for (const SampleEntry& entry : table) {
        names.push_back(entry.name);
        list += (list.empty() ? "" : ", ") + entry.name;
    }
    const auto near = nearest_word(name, names);
    throw InvalidInput("there is no " + what + " " + quoted(name) + "; there are: " + list +
                       (near ? ". Did you mean '" + *near + "'?" : ""));
}

// ---- Embedded sets -----------------------------------------------------------------------------

Dataset read_embedded(std::span<const unsigned char> packed, const std::string& name,
                      const ReadOptions& options) {
    const std::string_view bytes(reinterpret_cast<const char*>(packed.data()), packed.size());
    const Content content = unpack(bytes, name);
    return read_text(content.view(), name, options);
}

Dataset digits() {
    constexpr std::size_t side = 8;
    Dataset result = read_embedded(embedded_bytes::digits_csv_gz, "@digits",
                                   {.format = "csv", .label = "last", .header = HeaderLine::no});
    result.feature_names.clear();
    for (std::size_t i = 0; i < side; ++i) {
        for (std::size_t j = 0; j < side; ++j) {
            result.feature_names.push_back("pixel_" + std::to_string(i) + "_" + std::to_string(j));
        }
    }
    result.roles.label_name = "digit";
    return result;
}

Dataset iris() {
    // The first line, "150,4,setosa,versicolor,virginica", is a header the reader knows.
    Dataset result = read_embedded(embedded_bytes::iris_csv_gz, "@iris",
                                   {.format = "csv", .label = "last", .double_precision = true});
    result.feature_names = {"sepal_length", "sepal_width", "petal_length", "petal_width"};
    result.roles.label_name = "species";
    return result;
}

// ---- Generators --------------------------------------------------------------------------------

struct Point {
    double x0 = 0;
    double x1 = 0;
    double y = 0;
};

/// Two classes −1 and 1 in turn.
double side_of(std::size_t i) {
    return i % 2 == 0 ? -1.0 : 1.0;
}

Point moons(Random& random, std::size_t i, const SampleOptions&) {
    const double t = random.uniform(0, pi);
    if (side_of(i) < 0) return {std::cos(t), std::sin(t), -1};
    return {1 - std::cos(t), 0.5 - std::sin(t), 1};
}

Point rings(Random& random, std::size_t i, const SampleOptions&) {
    const double t = random.uniform(0, 2 * pi);
    const double radius = side_of(i) < 0 ? 1 : 2;
    return {radius * std::cos(t), radius * std::sin(t), side_of(i)};
}

Point spirals(Random& random, std::size_t i, const SampleOptions& options) {
    const double r = side_of(i) * std::sqrt(random.uniform());
    const double t = 2 * pi * options.turns * std::abs(r);
    return {r * std::cos(t), r * std::sin(t), side_of(i)};
}

Point checkerboard(Random& random, std::size_t, const SampleOptions& options) {
    const double x0 = random.uniform(0, static_cast<double>(options.cells));
    const double x1 = random.uniform(0, static_cast<double>(options.cells));
    const bool odd = std::fmod(std::floor(x0) + std::floor(x1), 2.0) != 0;
    return {x0, x1, odd ? 1.0 : -1.0};
}

Point exclusive_or(Random&, std::size_t i, const SampleOptions&) {
    const double s = side_of(i);
    const double t = side_of(i / 2);
    return {s, t, s * t};
}

Dataset two_columns(Point (*draw)(Random&, std::size_t, const SampleOptions&), double noise,
                    const SampleOptions& options) {
    Random random(options.seed);
    std::vector<double> values;
    values.reserve(2 * options.n);
    Dataset result;
    result.y.values.reserve(options.n);
    for (std::size_t i = 0; i < options.n; ++i) {
        const Point point = draw(random, i, options);
        values.push_back(point.x0 + noise * random.normal());
        values.push_back(point.x1 + noise * random.normal());
        result.y.values.push_back(point.y);
    }
    result.x = Rows::dense(std::move(values), 2);
    return result;
}

Dataset sinc(double noise, const SampleOptions& options) {
    Random random(options.seed);
    std::vector<double> values;
    Dataset result;
    for (std::size_t i = 0; i < options.n; ++i) {
        const double x = random.uniform(-3, 3);
        values.push_back(x);
        const double clean = x == 0 ? 1 : std::sin(pi * x) / (pi * x);
        result.y.values.push_back(clean + noise * random.normal());
    }
    result.x = Rows::dense(std::move(values), 1);
    return result;
}

Dataset blobs(double noise, const SampleOptions& options) {
    // The centres have a stream of their own: asking for more points does not move them.
    Random places(options.seed, 1);
    std::vector<double> centres(options.classes * options.columns);
    for (double& coordinate : centres) coordinate = places.uniform(-5, 5);
    Random random(options.seed);
    std::vector<double> values;
    values.reserve(options.n * options.columns);
    Dataset result;
    for (std::size_t i = 0; i < options.n; ++i) {
        const std::size_t c = i % options.classes;
        for (std::size_t j = 0; j < options.columns; ++j) {
            values.push_back(centres[c * options.columns + j] + noise * random.normal());
        }
        result.y.values.push_back(static_cast<double>(c));
    }
    result.x = Rows::dense(std::move(values), options.columns);
    return result;
}

void require_count(const char* name, std::size_t value, std::size_t low, std::size_t high) {
    if (value >= low && value <= high) return;
    throw InvalidInput(std::string(name) + " is " + std::to_string(value) +
                       "; it must be a whole number from " + std::to_string(low) + " to " +
                       std::to_string(high));
}

void check(const SampleOptions& options) {
    require_count("n", options.n, 1, 100'000'000);
    require_count("classes", options.classes, 1, std::max<std::size_t>(options.n, 3));
    require_count("columns", options.columns, 1, 10'000);
    require_count("n times columns", options.n * options.columns, 1, 200'000'000);
    require_count("cells", options.cells, 2, 1000);
    if (options.noise && !(*options.noise >= 0 && *options.noise <= 1e100)) {
        throw InvalidInput("noise is " + format_number(*options.noise) +
                           "; it must be a number from 0 to 1e100");
    }
    if (!(options.turns > 0 && options.turns <= 1000)) {
        throw InvalidInput("turns is " + format_number(options.turns) +
                           "; it must be above 0 and at most 1000");
    }
}

}  // namespace

const std::vector<SampleEntry>& embedded_table() {
    static const std::vector<SampleEntry> table{
        {"digits", "1797 handwritten digits of 8 x 8 pixels, 10 classes"},
        {"iris", "150 flowers, 4 measurements, 3 species"},
    };
    return table;
}

Dataset embedded(std::string_view name) {
    if (name == "digits") return digits();
    if (name == "iris") return iris();
    unknown_name(name, "embedded data set", embedded_table());
}

const std::vector<SampleEntry>& sample_table() {
    static const std::vector<SampleEntry> table{
        {"sinc", "regression: y = sin(pi x)/(pi x) on [-3, 3]"},
        {"moons", "two half circles that interlock"},
        {"rings", "two circles with one centre"},
        {"spirals", "two arms wound round each other"},
        {"checkerboard", "a square board of two colours"},
        {"xor", "four clusters, opposite ones alike"},
        {"blobs", "normal clusters, any number of classes and columns"},
    };
    return table;
}

Dataset make(std::string_view kind, const SampleOptions& options) {
    check(options);
    const auto noise = [&](double fallback) { return options.noise.value_or(fallback); };
    Dataset result;
    if (kind == "sinc") {
        result = sinc(noise(0.2), options);
    } else if (kind == "moons") {
        result = two_columns(moons, noise(0.1), options);
    } else if (kind == "rings") {
        result = two_columns(rings, noise(0.1), options);
    } else if (kind == "spirals") {
        result = two_columns(spirals, noise(0.02), options);
    } else if (kind == "checkerboard") {
        result = two_columns(checkerboard, noise(0), options);
    } else if (kind == "xor") {
        result = two_columns(exclusive_or, noise(0.3), options);
    } else if (kind == "blobs") {
        result = blobs(noise(1), options);
    } else {
        unknown_name(kind, "generator", sample_table());
    }
    for (std::size_t j = 0; j < result.columns(); ++j) {
        result.feature_names.push_back("x" + std::to_string(j));
    }
    result.roles.label_name = "y";
    return result;
}

}  // namespace mercer
