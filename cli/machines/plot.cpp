// mercer plot: pictures of models, kernels, training and judgements, as SVG or PNG.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/chart/model_figures.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/persist/code_file.hpp"

namespace mercer::cli {
namespace {

struct PlotCommand {
    std::string kind{};
    std::string source{};  ///< a model, a kernel or a table of steps
    std::string output{};
    std::string columns{};
    std::string log = "none";
    std::size_t resolution = 140;
    std::size_t rows = 400;
    std::size_t bins = 10;
    std::size_t problem = 1;
    std::size_t width = 0;
    std::size_t across = 16;
    bool bright = false;
};

/// A column by its name or its number from 1.
std::size_t plot_column(const std::string& word, const std::vector<std::string>& names,
                        std::size_t columns) {
    const auto found = std::ranges::find(names, word);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const auto number = parse_number(word);
    if (number && *number >= 1 && *number <= static_cast<double>(columns) &&
        *number == std::floor(*number)) {
        return static_cast<std::size_t>(*number) - 1;
    }
    throw InvalidInput(fmt::format("--plane: there is no column {}{}; there are {}, counted from 1",
                                   mercer::quoted(word), suggestion(word, names), columns));
}

/// The two columns of --plane; the first two where it is not given.
std::pair<std::size_t, std::size_t> plane_columns(const PlotCommand& c,
                                                  const std::vector<std::string>& names,
                                                  std::size_t columns) {
    if (c.columns.empty()) return {0, 1};
    const std::size_t comma = c.columns.find(',');
    if (comma == std::string::npos) {
        throw InvalidInput("--plane takes two, such as 1,3 or 'petal length,petal width'; found " +
                           mercer::quoted(c.columns));
    }
    return {plot_column(c.columns.substr(0, comma), names, columns),
            plot_column(c.columns.substr(comma + 1), names, columns)};
}

chart::PlaneSettings plane_of(const PlotCommand& c, const Model& model, const Session& session) {
    const auto [first, second] = plane_columns(c, model.feature_names(), model.columns());
    return {.first = first,
            .second = second,
            .resolution = c.resolution,
            .progress = progress_line(session)};
}

chart::Drawing plot_rows(const PlotCommand& c, const InputOptions& input, const Session& session) {
    InputOptions table = input;
    table.path = c.source;
    table.read.double_precision = true;
    const Dataset data = read_input(table, session);
    const auto [first, second] = plane_columns(c, data.feature_names, data.columns());
    return chart::rows_figure(data, {.first = first,
                                     .second = second,
                                     .joined = c.kind == "curves",
                                     .log_x = c.log == "x" || c.log == "both",
                                     .log_y = c.log == "y" || c.log == "both"});
}

/// The first rows of a file as pictures.
chart::Drawing plot_sheet(const PlotCommand& c, const InputOptions& input, const Session& session) {
    InputOptions file = input;
    file.path = c.source;
    const Dataset data = read_input(file, session);
    return chart::sheet_figure(data.x.slice(0, std::min(c.rows, data.size())),
                               {.width = c.width, .across = c.across, .bright = c.bright});
}

/// Rows, and the codes that `vq encode` has found for them.
chart::Drawing plot_codes(const PlotCommand& c, const InputOptions& input, const Session& session) {
    const CodeFile file = load_codes(c.source);
    const Dataset data = read_input(input, session);
    const auto [first, second] = plane_columns(c, data.feature_names, data.columns());
    return chart::codes_figure(data, file.codes, file.radius, {.first = first, .second = second});
}

/// The table that train --trace writes, one problem of it.
chart::Drawing plot_steps(const PlotCommand& c, const InputOptions& input, const Session& session) {
    InputOptions table = input;
    table.read.label = "none";
    table.header = "yes";
    table.read.double_precision = true;
    const Dataset steps = read_input(table, session);
    std::map<std::string, std::size_t> place;
    for (std::size_t j = 0; j < steps.feature_names.size(); ++j) place[steps.feature_names[j]] = j;
    std::vector<double> row(steps.columns());
    const auto value = [&](const std::string& name) {
        const auto found = place.find(name);
        if (found == place.end()) {
            throw InvalidInput(Location{.file = table.path},
                               fmt::format("has no column {}; 'mercer train --method smo --trace "
                                           "FILE' writes such tables",
                                           mercer::quoted(name)));
        }
        return row[found->second];
    };
    const auto place_of = [&](const std::string& name) {
        const double number = value(name);
        if (!(number >= 1 && number < 1e15)) {
            throw InvalidInput(Location{.file = table.path},
                               fmt::format("column {} counts rows from 1, found {}", name, number));
        }
        return static_cast<std::size_t>(number) - 1;
    };
    std::vector<chart::StepPoint> points;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        steps.x.copy_row(i, row);
        if (value("problem") != static_cast<double>(c.problem)) continue;
        points.push_back({.step = value("step"),
                          .first = place_of("row_1"),
                          .second = place_of("row_2"),
                          .first_alpha = value("new_alpha_1"),
                          .second_alpha = value("new_alpha_2"),
                          .objective = value("objective"),
                          .violation = value("violation")});
    }
    if (points.empty()) {
        throw InvalidInput(Location{.file = table.path},
                           fmt::format("has no steps of problem {}", c.problem));
    }
    return chart::steps_figure(points);
}

chart::Drawing plot_reliability(const PlotCommand& c, const ModelAndData& both,
                                const Session& session) {
    if (!has_probabilities(both.model)) {
        throw InvalidInput(c.source +
                           ": the model has no probabilities; train it with --probability, or see "
                           "'mercer calibrate'");
    }
    if (both.data.y.empty()) throw InvalidInput("the data has no labels to judge probabilities by");
    const Matrix<double> p = both.model.probabilities(both.data.x, progress_line(session));
    const CalibrationReport report =
        calibration_report(p.view(), class_positions(both.model, both.data.y), c.bins);
    return chart::reliability_figure(
        report, fmt::format("{} rows, Brier {:.3g}", report.rows, report.brier));
}

bool wants_kernel(const std::string& kind) {
    return kind == "gram" || kind == "spectrum";
}

chart::Drawing plotted(const PlotCommand& c, const InputOptions& input, const Session& session) {
    if (c.kind == "steps") {
        InputOptions table = input;
        table.path = c.source;
        return plot_steps(c, table, session);
    }
    if (c.kind == "points" || c.kind == "curves") return plot_rows(c, input, session);
    if (c.kind == "sheet") return plot_sheet(c, input, session);
    if (c.kind == "convergence") return chart::history_figure(read_model(c.source));
    if (input.path.empty()) {
        throw InvalidInput(fmt::format("'mercer plot {} {}' needs data as well: name it after {}",
                                       c.kind, c.source,
                                       wants_kernel(c.kind) ? "the kernel"
                                       : c.kind == "codes"  ? "the codes"
                                                            : "the model"));
    }
    if (c.kind == "codes") return plot_codes(c, input, session);
    if (wants_kernel(c.kind)) {
        const Kernel kernel = Kernel::parse(c.source);
        const Dataset data = read_input(input, session);
        if (c.kind == "gram") return chart::gram_figure(kernel, data, c.rows);
        const MercerTestSettings settings{.max_rows = c.rows, .progress = progress_line(session)};
        return chart::spectrum_figure(mercer_test(kernel, data.x, data.feature_names, settings));
    }
    const ModelAndData both = read_model_and_data(c.source, input, session);
    if (c.kind == "reliability") return plot_reliability(c, both, session);
    if (c.kind == "roc") {
        return chart::roc_figure(chart::roc_curves(both.model, both.data, progress_line(session)));
    }
    return chart::decision_figure(both.model, both.data, plane_of(c, both.model, session));
}

void run(const PlotCommand& c, const InputOptions& input, const Session& session) {
    if (!c.output.ends_with(".svg") && !c.output.ends_with(".png")) {
        throw InvalidInput("-o " + c.output + ": pictures are written as .svg or .png; name it so");
    }
    const chart::Drawing drawing = plotted(c, input, session);
    clear_progress_line();
    const InterruptLater later(c.output);
    chart::write(drawing, c.output);
    if (session.json)
        print_json({{"kind", c.kind}, {"title", drawing.title}, {"output", c.output}});
}

}  // namespace

void add_plot(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "plot", "draw a model, a kernel, training or a judgement, as SVG or PNG",
        "  mercer plot regions moons.mercer moons.csv -o moons.svg\n"
        "  mercer plot regions iris.mercer @iris --plane 'petal length,petal width' -o iris.png\n"
        "  mercer plot spectrum 'sigmoid(gamma=1)' @iris -o spectrum.svg\n"
        "  mercer plot steps steps.csv -o steps.svg\n"
        "  mercer plot curves errors.csv --log both -o errors.svg\n"
        "  mercer plot sheet @digits --sample 64 -o digits.png\n"
        "  mercer plot roc heart.mercer test.csv -o roc.svg");
    const auto options = std::make_shared<PlotCommand>();
    CLI::Option* const kind = add_choice(command, session, "KIND", options->kind,
                                         {"regions", "points", "curves", "sheet", "codes", "gram",
                                          "spectrum", "convergence", "steps", "reliability", "roc"},
                                         "");
    kind->description(
        "what to draw:\n"
        "regions       of classes with margins and support vectors, the tube of a\n"
        "              regression on one column, the contours of one class or of\n"
        "              components: MODEL INPUT\n"
        "points        rows over two columns, a colour for each label: FILE\n"
        "curves        the same, joined in their order: FILE\n"
        "sheet         the first rows as grey pictures side by side: FILE\n"
        "codes         rows, and the codes of vq encode with their radius: CODES INPUT\n"
        "gram          the Gram matrix, sorted by label: KERNEL INPUT\n"
        "spectrum      its eigenvalues: KERNEL INPUT\n"
        "convergence   the objective pass by pass, of machines that keep it: MODEL\n"
        "steps         the path of train --method smo --trace FILE: FILE\n"
        "reliability   predicted probabilities against observed: MODEL INPUT\n"
        "roc           true against false positives: MODEL INPUT");
    kind->required();
    CLI::Option* const source = command.add_option("SOURCE", options->source,
                                                   "MODEL, KERNEL, CODES or FILE, as said above");
    source->required()->type_name("");
    session.files[source] = FileUse::input;
    const auto input = std::make_shared<InputOptions>();
    CLI::Option* const data =
        add_file(command, session, "INPUT", input->path, FileUse::input,
                 "data file; - is standard input, @digits and @iris are built in");
    add_reading_options(command, session, *input);
    add_file(command, session, "-o,--output", options->output, FileUse::picture,
             "the picture: .svg or .png")
        ->required();
    only(session,
         command
             .add_option("--plane", options->columns,
                         "the two columns of the plane, names or numbers from 1 [1,2]; of a model "
                         "the others stand at their means")
             ->type_name("A,B"),
         for_words(kind, options->kind, {"regions", "points", "curves", "codes"}));
    only(session,
         add_count(command, "--resolution", options->resolution, 2, 1000,
                   "nodes along a side of the plane [140]"),
         for_words(kind, options->kind, {"regions"}));
    only(session,
         add_choice(command, session, "--log", options->log, {"none", "x", "y", "both"},
                    "axes with powers of ten"),
         for_words(kind, options->kind, {"points", "curves"}));
    only(session,
         add_count(command, "--sample", options->rows, 2, 2000, "rows drawn at most [400]"),
         for_words(kind, options->kind, {"gram", "spectrum", "sheet"}));
    only(session,
         add_count(command, "--width", options->width, 0, 100000,
                   "pixels across a picture, 0: pictures are square [0]"),
         for_words(kind, options->kind, {"sheet"}));
    only(session,
         add_count(command, "--across", options->across, 1, 1000, "pictures in a line [16]"),
         for_words(kind, options->kind, {"sheet"}));
    only(session,
         command.add_flag("--bright", options->bright, "the largest value is white, not black"),
         for_words(kind, options->kind, {"sheet"}));
    only(session, add_count(command, "--bins", options->bins, 1, 1000, "of the picture [10]"),
         for_words(kind, options->kind, {"reliability"}));
    only(session,
         add_count(command, "--problem", options->problem, 1, 1000000,
                   "which of several problems, in the order of the table [1]"),
         for_words(kind, options->kind, {"steps"}));
    const std::vector<std::string> of_data{"regions",     "gram", "spectrum",
                                           "reliability", "roc",  "codes"};
    std::vector<std::string> of_rows = of_data;
    of_rows.insert(of_rows.end(), {"points", "curves", "sheet"});
    only(session, data, for_words(kind, options->kind, of_data));
    only(session, input->options, for_words(kind, options->kind, of_rows));
    command.callback([&session, input, options] {
        session.action = [&session, input, options] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
