// mercer map: features by an explicit map, so that linear tools can use a kernel.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/source.hpp"
#include "mercer/feature/maps.hpp"

namespace mercer::cli {
namespace {

struct MapCommand {
    std::string kind = "eigen";
    std::string kernel = "rbf(gamma=scale)";
    std::string sample;
    std::size_t landmarks = 0;
    std::size_t components = 0;
    std::size_t degree = 2;
    double gamma = 1;
    double coef0 = 1;
    std::uint64_t seed = 1;
};

/// The features with their names, and what is to be said of the map.
struct Mapped {
    Matrix<double> values;
    std::vector<std::string> names{};
    nlohmann::ordered_json report = nlohmann::ordered_json::object();
};

bool is_monomial(const MapCommand& c) {
    return c.kind == "monomial" || c.kind == "plain" || c.kind == "exponential";
}

void check_memory(std::size_t rows, std::size_t features) {
    const double bytes = 8.0 * static_cast<double>(rows) * static_cast<double>(features);
    if (bytes < 0.4 * static_cast<double>(physical_memory())) return;
    throw InvalidInput(
        fmt::format("{} features of {} rows take {:.3g} GB, too much for this "
                    "machine; use fewer landmarks or components",
                    features, rows, bytes / 1e9));
}

Mapped monomials(const MapCommand& c, const Dataset& data) {
    const int degree = static_cast<int>(c.degree);
    const MonomialMap map =
        c.kind == "plain" ? MonomialMap::plain(data.columns(), degree, c.coef0 == 0 ? 1 : 0)
        : c.kind == "exponential"
            ? MonomialMap::exponential(data.columns(), degree, c.gamma)
            : MonomialMap(data.columns(), {.degree = degree, .gamma = c.gamma, .coef0 = c.coef0});
    check_memory(data.size(), map.features());
    Mapped mapped{.values = map(data.x)};
    for (std::size_t f = 0; f < map.features(); ++f) mapped.names.push_back(map.name(f));
    return mapped;
}

Mapped through_sample(const MapCommand& c, const Dataset& data, const Dataset& sample,
                      const Session& session) {
    const Kernel kernel = Kernel::parse(c.kernel);
    const Progress progress = progress_line(session);
    const Rows points = draw_landmarks(sample.x, c.landmarks, c.seed);
    check_memory(data.size() + points.size(), points.size());
    const auto& names = sample.feature_names;
    const FeatureMap map = c.kind == "empirical" ? empirical_map(kernel, points, names)
                           : c.kind == "whitened"
                               ? whitened_map(kernel, points, names, progress)
                               : eigen_map(kernel, points, c.components, names, progress);
    Mapped mapped{.values = map(data.x, progress)};
    clear_progress_line();
    mapped.report = {{"kernel", map.kernel().text()}, {"sample", points.size()}};
    if (!map.eigenvalues().empty()) mapped.report["eigenvalues"] = map.eigenvalues();
    return mapped;
}

void run(const MapCommand& c, const InputOptions& input, const OutputOptions& output,
         const Session& session) {
    check_output(output, session);
    Dataset data = read_input(input, session);
    Dataset sample;
    if (!c.sample.empty()) sample = read_another(c.sample, data, input, session);
    Mapped mapped = is_monomial(c)
                        ? monomials(c, data)
                        : through_sample(c, data, c.sample.empty() ? data : sample, session);
    const std::size_t features = mapped.values.columns();
    if (data.x.is_double() || input.read.double_precision) {
        data.x = Rows::dense(std::move(mapped.values.values()), features);
    } else {
        std::vector<float> single(mapped.values.values().begin(), mapped.values.values().end());
        data.x = Rows::dense(std::move(single), features);
    }
    data.feature_names = std::move(mapped.names);
    mapped.report["kind"] = c.kind;
    mapped.report["features"] = features;
    write_data(data, output, session, mapped.report);
}

}  // namespace

void add_map(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "map", "map rows to features whose dot product is a kernel",
        "  mercer map @iris --kind monomial --degree 2 -o squares.csv\n"
        "  mercer map train.csv --kernel 'rbf(gamma=0.1)' --landmarks 200 -o train.f.csv\n"
        "  mercer map test.csv --sample train.csv --kernel 'rbf(gamma=0.1)' --landmarks 200 "
        "-o test.f.csv\n"
        "monomial: every monomial of (coef0 + gamma x.z)^degree; plain: without their factors;\n"
        "exponential: the series of exp(gamma x.z). empirical: the kernel values with a sample;\n"
        "whitened, eigen: those times K^(-1/2), so that products on the sample are the kernel;\n"
        "eigen is in the order of the eigenvalues, and Nystroem's formula for other rows.");
    const auto o = std::make_shared<MapCommand>();
    const auto input = add_input(command, session);
    const CLI::Option* const kind = add_choice(
        command, session, "--kind", o->kind,
        {"monomial", "plain", "exponential", "empirical", "whitened", "eigen"}, "the map");
    const auto of = [&](std::vector<std::string> kinds, CLI::Option* option) {
        return only(session, option, for_words(kind, o->kind, std::move(kinds)));
    };
    const std::vector<std::string> of_sample{"empirical", "whitened", "eigen"};
    of(of_sample, command.add_option("--kernel", o->kernel, "the expression [rbf(gamma=scale)]")
                      ->type_name("EXPR"));
    of(of_sample, add_file(command, session, "--sample", o->sample, FileUse::input,
                           "rows the map goes through [INPUT itself]"));
    const CLI::Option* const landmarks =
        of(of_sample, add_count(command, "--landmarks", o->landmarks, 1, 40'000,
                                "use so many rows of the sample, drawn by --seed [all]"));
    of({"eigen"}, add_count(command, "--components", o->components, 1, 40'000,
                            "keep the largest eigenvalues only [all]"));
    only(session, of(of_sample, add_seed(command, o->seed, "how landmarks are drawn [1]")),
         with({landmarks}));
    of({"monomial", "plain", "exponential"},
       add_count(command, "--degree", o->degree, 1, 100, "of the monomials [2]"));
    of({"monomial", "exponential"},
       command.add_option("--gamma", o->gamma, "factor of x.z [1]")->type_name("X"));
    of({"monomial", "plain"},
       command
           .add_option("--coef0", o->coef0,
                       "constant; 0: monomials of the full degree only (plain: none of degree 0) "
                       "[1]")
           ->type_name("X"));
    const auto output = add_output(command, session);
    command.callback([&session, o, input, output] {
        session.action = [&session, o, input, output] { run(*o, *input, *output, session); };
    });
}

}  // namespace mercer::cli
