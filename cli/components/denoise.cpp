// mercer denoise: rows and pictures as the first kernel principal components see them.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/picture/denoise.hpp"

namespace mercer::cli {
namespace {

struct DenoiseCommand {
    std::string model;
    std::string train;
    std::string kernel = "rbf(gamma=scale)";
    std::string scale = "none";
    std::size_t components = KernelPcaSettings{}.components;
    std::string method = "best";
    std::size_t iterations = 200;
    std::size_t patch = 8;
    std::size_t stride = 0;
    std::size_t sample = 2000;
    std::size_t memory = usual_memory();
    std::uint64_t seed = 1;
    const CLI::Option* components_given = nullptr;
};

bool is_picture(std::string_view path) {
    for (const std::string_view suffix : {".gz", ".bz2", ".xz", ".zst"}) {
        if (path.ends_with(suffix)) path.remove_suffix(suffix.size());
    }
    return path.ends_with(".png") || path.ends_with(".pgm") || path.ends_with(".ppm") ||
           path.ends_with(".pnm");
}

KernelPcaSettings pca_of(const DenoiseCommand& c, const InputOptions& input,
                         const Progress& progress) {
    return {.common = {.kernel = Kernel::parse(c.kernel),
                       .scaling = ScalingRule::parse(c.scale),
                       .seed = c.seed,
                       .memory_bytes = c.memory << 20,
                       .double_precision = input.read.double_precision,
                       .progress = progress},
            .components = c.components};
}

DenoiseSettings denoise_of(const DenoiseCommand& c, const Progress& progress) {
    DenoiseSettings s;
    s.components = c.model.empty() || c.components_given->count() > 0 ? c.components : 0;
    s.preimage.method = preimage_method_named(c.method);
    s.preimage.iterations = c.iterations;
    s.preimage.seed = c.seed;
    s.preimage.progress = progress;
    return s;
}

void denoise_picture(const DenoiseCommand& c, const InputOptions& input,
                     const OutputOptions& output, const Session& session) {
    if (!is_picture(output.path)) {
        throw InvalidInput(
            fmt::format("-o {}: name a .png, .pgm, .ppm or .pnm for the picture", output.path));
    }
    const Progress progress = progress_line(session);
    const Image noisy = read_image(input.path);
    const Image example = c.train.empty() ? noisy : read_image(c.train);
    const Image clean = denoise_image(noisy, example,
                                      {.patch = c.patch,
                                       .stride = c.stride,
                                       .sample = c.sample,
                                       .pca = pca_of(c, input, progress),
                                       .denoise = denoise_of(c, progress)});
    clear_progress_line();
    const InterruptLater later(output.path);
    write_image(clean, output.path);
    if (!session.json) return;
    print_json({{"input", input.path},
                {"output", output.path},
                {"height", clean.height},
                {"width", clean.width},
                {"channels", clean.channels}});
}

/// The components that rows are denoised by, and the rows.
std::pair<Model, Dataset> model_and_rows(const DenoiseCommand& c, const InputOptions& input,
                                         const Session& session) {
    if (!c.model.empty()) {
        auto [model, data] = read_model_and_data(c.model, input, session);
        return {std::move(model), std::move(data)};
    }
    Dataset data = read_input(input, session);
    Dataset sample = data;
    if (!c.train.empty()) sample = read_another(c.train, data, input, session);
    return {kernel_pca(pca_of(c, input, progress_line(session))).fit(sample), std::move(data)};
}

void denoise_rows(const DenoiseCommand& c, const InputOptions& input, const OutputOptions& output,
                  const Session& session) {
    check_output(output, session);
    auto [model, data] = model_and_rows(c, input, session);
    const Denoised clean =
        denoise(PrincipalComponents(model), data.x, denoise_of(c, progress_line(session)));
    clear_progress_line();
    double mean = 0;
    for (const Preimage& p : clean.preimages) {
        mean += p.squared_distance / static_cast<double>(clean.preimages.size());
    }
    data.x = data.x.is_double() ? clean.x : clean.x.to_float();
    if (data.feature_names.size() != data.x.columns()) data.feature_names.clear();
    write_data(data, output, session,
               {{"kernel", model.expansion().kernel.text()},
                {"components", model.expansion().outputs()},
                {"mean_squared_distance", mean}});
}

void run(const DenoiseCommand& c, const InputOptions& input, const OutputOptions& output,
         const Session& session) {
    if (is_picture(input.path)) {
        denoise_picture(c, input, output, session);
    } else {
        denoise_rows(c, input, output, session);
    }
}

}  // namespace

void add_denoise(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "denoise", "remove noise from rows or a picture by kernel principal components",
        "  mercer denoise noisy.csv --train clean.csv --components 64 -o better.csv\n"
        "  mercer denoise noisy.csv --model pca.mercer --components 16 -o better.csv\n"
        "  mercer denoise noisy.png --patch 8 --components 8 -o better.png\n"
        "Rows, or patches of a .png, .pgm or .ppm picture, are projected on the components in\n"
        "feature space and brought back by a pre-image: docs/machines/pre-images.md.");
    const auto o = std::make_shared<DenoiseCommand>();
    const auto input = add_input(command, session);
    CLI::Option* const model = add_file(command, session, "--model", o->model, FileUse::input,
                                        "a model of --task kpca [trained here]");
    const auto trains = [&](CLI::Option* option) {
        only(session, option, without(model, "the model is trained already"));
    };
    const auto pictures = [&](CLI::Option* option) {
        only(session, option,
             when([input] { return is_picture(input->path); }, "for rows",
                  "it belongs to pictures (.png, .pgm, .ppm, .pnm)"));
    };
    trains(add_file(command, session, "--train", o->train, FileUse::input,
                    "what to learn from [INPUT itself]"));
    trains(command.add_option("--kernel", o->kernel, "the expression [rbf(gamma=scale)]")
               ->type_name("EXPR"));
    trains(command.add_option("--scale", o->scale, "scale features, and back at the end [none]")
               ->type_name("RULE"));
    o->components_given = add_count(command, "--components", o->components, 1, 1'000'000,
                                    "keep so many [16; of --model: all]");
    const CLI::Option* const preimage = add_choice(
        command, session, "--preimage", o->method,
        {"best", "fixed-point", "gradient", "distance", "regression"}, "how rows are found again");
    only(session,
         add_count(command, "--iterations", o->iterations, 1, 1'000'000,
                   "of a pre-image, at most [200]"),
         for_words(preimage, o->method, {"best", "fixed-point", "gradient"}));
    pictures(add_count(command, "--patch", o->patch, 2, 1000, "pixels a side of a patch [8]"));
    pictures(add_count(command, "--stride", o->stride, 1, 1000,
                       "pixels between patches [a quarter of the patch]"));
    pictures(add_count(command, "--sample", o->sample, 2, 1'000'000,
                       "patches to learn from, drawn by --seed [2000]"));
    trains(add_count(command, "--memory", o->memory, 1, std::size_t{1} << 24,
                     "MiB for kernel values [1024]"));
    add_seed(command, o->seed, "of draws [1]");
    const auto output = add_output(command, session);
    const Condition rows = when([input] { return !is_picture(input->path); }, "for a picture",
                                "it belongs to rows; patches are learnt from --train, or from the "
                                "picture itself");
    only(session, model, rows);
    only(session, output->options, rows);
    for (CLI::Option* option : input->options) {
        // Patches have a precision too.
        if (!option->check_name("--double")) only(session, option, rows);
    }
    command.callback([&session, o, input, output] {
        session.action = [&session, o, input, output] { run(*o, *input, *output, session); };
    });
}

}  // namespace mercer::cli
