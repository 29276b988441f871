#include "persist/support.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>

#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
Rows random_rows_as(Random& random, std::size_t rows, std::size_t columns, bool sparse) {
    std::vector<T> values;
    std::vector<std::uint32_t> index;
    std::vector<std::size_t> starts{0};
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            if (sparse && random.uniform() > 0.35) continue;
            values.push_back(static_cast<T>(random.normal()));
            index.push_back(static_cast<std::uint32_t>(j));
        }
        starts.push_back(values.size());
    }
    if (!sparse) return Rows::dense(std::move(values), columns);
    return Rows::sparse(std::move(starts), std::move(index), std::move(values), columns);
}

/// Position of the pair (i, j).
std::size_t pair_at(std::size_t i, std::size_t j, std::size_t classes) {
    std::size_t pair = 0;
    for (std::size_t a = 0; a < i; ++a) pair += classes - 1 - a;
    return pair + j - i - 1;
}

Report random_report(Random& random) {
    Report r;
    r.name = "3 vs 8";
    r.status = FitStatus::time_limit;
    r.convexity = Convexity::refuted;
    r.least_curvature = -0.25;
    r.curvature_error = 1e-13;
    for (double* number :
         {&r.primal, &r.dual, &r.gap, &r.relative_gap, &r.kkt_violation, &r.infeasibility,
          &r.margin, &r.squared_norm, &r.bias, &r.rho, &r.epsilon, &r.radius, &r.nu,
          &r.fraction_errors, &r.fraction_support, &r.hull_distance}) {
        *number = random.normal() * std::pow(10.0, random.uniform(-300, 300));
    }
    for (std::size_t* count :
         {&r.rows, &r.free_support_vectors, &r.bounded_support_vectors, &r.margin_errors}) {
        *count = random.below(1'000'000);
    }
    r.iterations = random.bits();
    r.kernel_evaluations = std::numeric_limits<std::uint64_t>::max();
    return r;
}

Model full_binary(Random& random) {
    ModelParts m = random_model(random, {});
    m.origins = {4, 1, 7, 0, 2, 9, 11, 30, 5};
    m.feature_names = {"age", "height \"cm\"", "Größe", "x\n\t\\"};
    m.roles = {.label = 3, .weight = 0, .label_name = "y \"kind\"", .weight_name = "w"};
    m.trained = {.C = 0.1,
                 .nu = 1.0 / 3,
                 .epsilon = 5e-324,
                 .tolerance = 1.7976931348623157e308,
                 .bias = false,
                 .tube = "sin(\"age\")^2",
                 .class_weights = {1, 2.5}};
    m.reports = {random_report(random)};
    m.extras.set(Calibration({{-1.5, 0.25}}));
    m.scaling = Scaling::fit(ScalingRule::parse("minmax(-1,1)"), m.expansion.points);
    return Model(std::move(m));
}

Model not_separable(Random& random) {
    ModelParts m =
        random_model(random, {.task = Task::hard_margin, .kernel = linear(), .points = 0});
    m.expansion.points = Rows();
    m.reports.resize(1);
    m.reports[0].status = FitStatus::not_separable;
    m.reports[0].primal = infinity;
    m.reports[0].dual = -infinity;
    m.reports[0].margin = nan;
    m.reports[0].gap = -0.0;
    m.reports[0].hull_weights = {0.5, 0, 0.5, 1e-300, 1};
    return Model(std::move(m));
}

Model precomputed_model(Random& random) {
    ModelParts m = random_model(random, {.kernel = precomputed(), .points = 12, .columns = 12});
    const std::vector<std::size_t> chosen{7, 2, 11, 0};
    m.expansion.points = m.expansion.points.select(chosen);
    m.expansion.coefficients = Matrix<double>(1, 4);
    for (double& value : m.expansion.coefficients.values()) value = random.normal();
    m.origins = chosen;
    return Model(std::move(m));
}

bool same_number(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b && std::signbit(a) == std::signbit(b);
}

void expect_same_rows(const Rows& a, const Rows& b) {
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(a.columns(), b.columns());
    EXPECT_EQ(a.is_sparse(), b.is_sparse());
    EXPECT_EQ(a.is_double(), b.is_double());
    EXPECT_EQ(a.nonzeros(), b.nonzeros());
    EXPECT_EQ(full(a), full(b));
}

void expect_same_report(const Report& a, const Report& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.convexity, b.convexity);
    EXPECT_EQ(a.least_curvature, b.least_curvature);
    EXPECT_EQ(a.curvature_error, b.curvature_error);
    const auto numbers = [](const Report& r) {
        return std::vector<double>{r.primal,
                                   r.dual,
                                   r.gap,
                                   r.relative_gap,
                                   r.kkt_violation,
                                   r.infeasibility,
                                   r.margin,
                                   r.bias,
                                   r.rho,
                                   r.epsilon,
                                   r.radius,
                                   r.squared_norm,
                                   r.nu,
                                   r.hull_distance,
                                   r.margin_bound,
                                   r.fraction_errors,
                                   r.fraction_support};
    };
    const auto counts = [](const Report& r) {
        return std::vector<std::uint64_t>{r.rows,          r.free_support_vectors,
                                          r.margin_errors, r.bounded_support_vectors,
                                          r.iterations,    r.kernel_evaluations};
    };
    EXPECT_TRUE(std::ranges::equal(numbers(a), numbers(b), same_number));
    EXPECT_EQ(counts(a), counts(b));
    EXPECT_EQ(a.hull_weights, b.hull_weights);
    EXPECT_TRUE(std::ranges::equal(a.history, b.history, same_number));
    ASSERT_EQ(a.figures.size(), b.figures.size());
    for (const auto& [name, value] : a.figures) {
        ASSERT_TRUE(b.figures.contains(name)) << name;
        EXPECT_TRUE(same_number(value, b.figures.at(name))) << name;
    }
}

/// CRC-32 bit by bit, as the definition says.
std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t sum = 0xFFFFFFFF;
    for (const char c : bytes) {
        sum ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xEDB88320U : 0U);
    }
    return ~sum;
}

}  // namespace

Rows random_rows(Random& random, std::size_t rows, std::size_t columns, RowsForm form) {
    return form.twice ? random_rows_as<double>(random, rows, columns, form.sparse)
                      : random_rows_as<float>(random, rows, columns, form.sparse);
}

ModelParts random_model(Random& random, const ModelForm& form) {
    ModelParts m;
    m.task = form.task;
    m.columns = form.columns;
    m.expansion.kernel = form.kernel;
    m.expansion.points = random_rows(random, form.points, form.columns, form.rows);
    std::size_t outputs = form.outputs;
    if (is_classifier(form.task)) {
        const std::size_t k = form.classes;
        outputs = k * (k - 1) / 2;
        for (std::size_t c = 0; c < k; ++c) {
            m.class_values.push_back(3 * static_cast<double>(c) - 2);
            m.class_names.push_back(std::to_string(3 * static_cast<int>(c) - 2));
        }
    }
    m.expansion.coefficients = Matrix<double>(outputs, form.points);
    for (std::size_t p = 0; p < form.points; ++p) {
        if (!is_classifier(form.task)) {
            for (std::size_t o = 0; o < outputs; ++o) {
                m.expansion.coefficients(o, p) = random.normal();
            }
            continue;
        }
        const std::size_t c = p % form.classes;
        for (std::size_t other = 0; other < form.classes; ++other) {
            if (other == c) continue;
            const std::size_t pair = pair_at(std::min(c, other), std::max(c, other), form.classes);
            const double size = random.uniform() < 0.2 ? 0 : random.uniform();
            m.expansion.coefficients(pair, p) = c < other ? size : -size;
        }
    }
    for (std::size_t o = 0; o < outputs; ++o) m.expansion.bias.push_back(random.normal());
    return m;
}

Model cells_model(RowsForm form, Task task, std::size_t rows, std::size_t cell_rows) {
    Random random(31);
    Dataset data;
    std::vector<double> x;
    for (std::size_t i = 0; i < rows; ++i) {
        const double place = static_cast<double>(i) / static_cast<double>(rows);
        x.insert(x.end(), {10 * place, i % 3 == 0 ? 0 : random.normal()});
        data.y.values.push_back(is_regressor(task)          ? place
                                : place < 0.3 || i % 2 == 0 ? 0
                                                            : (place > 0.7 ? 2 : 1));
    }
    data.x = Rows::dense(std::move(x), 2);
    if (!form.twice) data.x = data.x.to_float();
    if (form.sparse) data.x = data.x.to_sparse();
    data.feature_names = {"far", "wide"};
    const FitSettings common{.kernel = rbf({.gamma = 0.5})};
    return approximate(common, CellRule{.rows = cell_rows},
                       [task](const FitSettings& own) { return machine_entry(task).make(own, {}); })
        .fit(data);
}

std::vector<std::pair<std::string, Model>> sample_models() {
    Random random(17);
    std::vector<std::pair<std::string, Model>> result;
    result.emplace_back("binary", full_binary(random));
    ModelParts three = random_model(
        random, {.task = Task::nu_svc,
                 .kernel = 0.5 * polynomial({.degree = 2, .gamma = 0.25, .coef0 = -1.5}) + linear(),
                 .points = 11,
                 .columns = 7,
                 .classes = 3,
                 .rows = {.sparse = true, .twice = true}});
    three.class_values.clear();
    three.class_names = {"", "caf\xE9", "日本"};  // the middle one is Latin-1, not UTF-8
    three.reports.assign(3, random_report(random));
    three.double_precision = true;
    result.emplace_back("three classes", Model(three));
    ModelParts rest = random_model(random, {.classes = 4, .rows = {.twice = true}});
    rest.multi_class = MultiClass::one_vs_rest;
    rest.expansion.bias.resize(4);
    rest.expansion.coefficients = Matrix<double>(4, 9, 0.5);
    result.emplace_back("one vs rest", Model(rest));
    ModelParts targets = random_model(
        random, {.task = Task::svr, .outputs = 2, .rows = {.sparse = true, .twice = false}});
    targets.target_names = {"width", "height"};
    targets.trained.tube = "column";  // a formula: the column of that name
    result.emplace_back("two targets", Model(targets));
    ModelParts sphere = random_model(random, {.task = Task::svdd});
    sphere.expansion.self = -1;
    result.emplace_back("sphere", Model(sphere));
    ModelParts centered =
        random_model(random, {.task = Task::one_class, .kernel = center(rbf({.sigma = 2.0}))});
    centered.expansion.reference = random_rows(random, 5, 4, {.sparse = true, .twice = true});
    result.emplace_back("centred", Model(centered));
    result.emplace_back("not separable", not_separable(random));
    ModelParts thin = not_separable(random).parts();
    thin.reports[0].status = FitStatus::no_margin;
    thin.reports[0].margin_bound = 3e-9;
    result.emplace_back("no margin", Model(thin));
    result.emplace_back("precomputed", precomputed_model(random));
    result.emplace_back("cells", cells_model());
    result.emplace_back("sparse cells", cells_model({.sparse = true, .twice = true}));
    result.emplace_back("cells of numbers", cells_model({.twice = true}, Task::ridge));
    result.emplace_back("one cell", cells_model({}, Task::logistic, 8, 10));
    const Model narrow(random_model(
        random, {.task = Task::nu_svr, .points = 3, .columns = 0, .rows = {.sparse = true}}));
    result.emplace_back("no columns", narrow);
    return result;
}

namespace {

void expect_same_cells(const Cells& a, const Cells& b) {
    EXPECT_EQ(a.tree.planes().values(), b.tree.planes().values());
    EXPECT_EQ(a.tree.forks(), b.tree.forks());
    ASSERT_EQ(a.all.size(), b.all.size());
    for (std::size_t k = 0; k < a.all.size(); ++k) {
        EXPECT_EQ(a.all[k].state, b.all[k].state);
        EXPECT_EQ(a.all[k].rows, b.all[k].rows);
        EXPECT_EQ(a.all[k].classes, b.all[k].classes);
        EXPECT_EQ(a.all[k].constant, b.all[k].constant);
        ASSERT_EQ(a.all[k].model == nullptr, b.all[k].model == nullptr);
        if (a.all[k].model) expect_same(*a.all[k].model, *b.all[k].model);
    }
}

}  // namespace

void expect_same(const Model& a, const Model& b) {
    ASSERT_EQ(companion_of(a) == nullptr, companion_of(b) == nullptr);
    if (companion_of(a)) expect_same(*companion_of(a), *companion_of(b));
    ASSERT_EQ(cells_of(a) == nullptr, cells_of(b) == nullptr);
    if (cells_of(a)) expect_same_cells(*cells_of(a), *cells_of(b));
    EXPECT_EQ(a.task(), b.task());
    EXPECT_EQ(a.multi_class(), b.multi_class());
    EXPECT_EQ(a.expansion().kernel.text(), b.expansion().kernel.text());
    if (a.expansion().kernel.node().kind == KernelKind::precomputed) {
        // Of rows of a given matrix only the column is needed, and only that is in the file.
        ASSERT_EQ(a.expansion().points.size(), b.expansion().points.size());
        for (std::size_t i = 0; i < a.expansion().points.size(); ++i) {
            EXPECT_EQ(a.expansion().points.origin(i), b.expansion().points.origin(i));
        }
    } else {
        expect_same_rows(a.expansion().points, b.expansion().points);
    }
    expect_same_rows(a.expansion().reference, b.expansion().reference);
    EXPECT_EQ(a.expansion().coefficients.rows(), b.expansion().coefficients.rows());
    EXPECT_EQ(a.expansion().coefficients.columns(), b.expansion().coefficients.columns());
    EXPECT_TRUE(std::ranges::equal(a.expansion().coefficients.values(),
                                   b.expansion().coefficients.values(), same_number));
    EXPECT_EQ(a.expansion().bias, b.expansion().bias);
    EXPECT_EQ(a.expansion().self, b.expansion().self);
    EXPECT_EQ(a.origins(), b.origins());
    EXPECT_EQ(a.class_names(), b.class_names());
    EXPECT_EQ(a.class_values(), b.class_values());
    EXPECT_EQ(a.feature_names(), b.feature_names());
    EXPECT_EQ(a.roles(), b.roles());
    EXPECT_EQ(a.target_names(), b.target_names());
    EXPECT_EQ(a.columns(), b.columns());
    EXPECT_EQ(a.scaling(), b.scaling());
    EXPECT_EQ(a.trained().C, b.trained().C);
    EXPECT_EQ(a.trained().nu, b.trained().nu);
    EXPECT_EQ(a.trained().epsilon, b.trained().epsilon);
    EXPECT_EQ(a.trained().tolerance, b.trained().tolerance);
    EXPECT_EQ(a.trained().bias, b.trained().bias);
    EXPECT_EQ(a.trained().tube, b.trained().tube);
    EXPECT_EQ(a.trained().tube_given, b.trained().tube_given);
    EXPECT_EQ(a.trained().class_weights, b.trained().class_weights);
    EXPECT_EQ(a.trained().numbers, b.trained().numbers);
    ASSERT_EQ(a.extras().arrays().size(), b.extras().arrays().size());
    for (const auto& [name, array] : a.extras().arrays()) {
        const Matrix<double>& other = b.extras().array(name);
        EXPECT_EQ(array->rows(), other.rows()) << name;
        EXPECT_EQ(array->columns(), other.columns()) << name;
        EXPECT_EQ(array->values(), other.values()) << name;
    }
    EXPECT_EQ(a.double_precision(), b.double_precision());
    ASSERT_EQ(a.reports().size(), b.reports().size());
    for (std::size_t i = 0; i < a.reports().size(); ++i) {
        expect_same_report(a.reports()[i], b.reports()[i]);
    }
    ASSERT_EQ(sigmoids_of(a.extras()).size(), sigmoids_of(b.extras()).size());
    for (std::size_t i = 0; i < sigmoids_of(a.extras()).size(); ++i) {
        EXPECT_EQ(sigmoids_of(a.extras())[i].a, sigmoids_of(b.extras())[i].a);
        EXPECT_EQ(sigmoids_of(a.extras())[i].b, sigmoids_of(b.extras())[i].b);
    }
}

std::vector<double> values_by_formula(const Model& model, std::span<const double> row) {
    const Expansion& e = model.expansion();
    std::vector<double> values = e.bias;
    std::vector<double> point(e.points.columns());
    for (std::size_t p = 0; p < e.size(); ++p) {
        e.points.copy_row(p, point);
        const double k = e.kernel.node().kind == KernelKind::precomputed ? row[e.points.origin(p)]
                                                                         : e.kernel(row, point);
        for (std::size_t o = 0; o < values.size(); ++o) values[o] += e.coefficients(o, p) * k;
    }
    return values;
}

double answer_by_formula(const Model& model, const std::vector<double>& values) {
    if (is_regressor(model.task())) return values[0];
    if (!is_classifier(model.task())) return values[0] > 0 ? 1 : -1;
    std::vector<int> votes(model.classes(), 0);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < model.classes(); ++i) {
        for (std::size_t j = i + 1; j < model.classes(); ++j) ++votes[values[pair++] > 0 ? i : j];
    }
    return model
        .class_values()[static_cast<std::size_t>(std::ranges::max_element(votes) - votes.begin())];
}

Parts Parts::of(std::string_view file) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof length);
    return {nlohmann::json::parse(file.substr(8, length)), std::string(file.substr(8 + length))};
}

std::string Parts::file_as_is() const {
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    std::string result(8, '\0');
    std::memcpy(result.data(), &length, sizeof length);
    return result + text + data;
}

std::size_t Parts::begin(const std::string& array) const {
    return header.at(array).at("data_offsets").at(0).get<std::size_t>();
}

std::string Parts::file() const {
    std::string content;
    for (const auto& [key, value] : header.at("__metadata__").items()) {
        if (key != "checksum") content += key + '\0' + value.get<std::string>() + '\0';
    }
    for (const auto& [key, value] : header.items()) {
        if (key == "__metadata__") continue;
        const std::size_t first = value["data_offsets"][0];
        const std::size_t last = value["data_offsets"][1];
        content +=
            key + '\0' + value["dtype"].get<std::string>() + '\0' + value["shape"].dump() + '\0';
        if (first <= last && last <= data.size()) content += data.substr(first, last - first);
    }
    char digits[16];
    std::snprintf(digits, sizeof digits, "crc32:%08x", crc32(content));
    Parts copy = *this;
    copy.header["__metadata__"]["checksum"] = digits;
    return copy.file_as_is();
}

std::string after(const Model& model, const std::function<void(Parts&)>& change) {
    Parts parts = Parts::of(save_to_memory(model));
    change(parts);
    return message_of([&] { load_from_memory(parts.file(), "hostile.mercer"); });
}

Outcome run(const std::string& command) {
    Outcome result;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return {-1, "popen failed"};
    char buffer[4096];
    for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
        result.output.append(buffer, count);
    }
    result.code = pclose(pipe);
    return result;
}

bool has_program(const std::string& name) {
    return run("command -v " + name).code == 0;
}

}  // namespace mercer::testing
