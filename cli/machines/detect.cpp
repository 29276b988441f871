// mercer detect: where in a picture a model of patches says yes.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/picture/detect.hpp"
#include "mercer/picture/image.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DetectCommand {
    std::string model;
    std::string image;
    std::string output;
    std::string shape;
    bool no_contrast = false;
    DetectSettings settings{};
};

void run(const DetectCommand& c, const Session& session) {
    const Model model = read_model(c.model);
    const Image image = read_image(c.image);
    DetectSettings settings = c.settings;
    const ImageShape patch = parse_shape(c.shape, model.columns());
    settings.height = patch.height;
    settings.width = patch.width;
    settings.contrast = !c.no_contrast;
    settings.progress = progress_line(session);
    Stopwatch watch;
    const DetectRun found = detect(model, image, settings);
    const double seconds = watch.lap();
    clear_progress_line();
    const auto patches = static_cast<double>(found.patches);
    Json boxes = Json::array(), left = Json::array();
    std::string text =
        line("patches", fmt::format("{} at {}", found.patches, counted(found.scales, "scale")));
    for (std::size_t s = 0; s < found.stages.size(); ++s) {
        const double share = static_cast<double>(found.left[s]) / patches;
        left.push_back({{"kernels", found.stages[s]}, {"left", share}});
        text += line(s == 0 ? "left" : "", fmt::format("{} after {}", percent(share),
                                                       counted(found.stages[s], "kernel")));
    }
    text += line("average", fmt::format("{:.3g} kernels a patch of {}, {:.3g} s",
                                        found.average_kernels, model.expansion().size(), seconds));
    text += line("found",
                 fmt::format("{}, of {} patches accepted", found.found.size(), found.accepted));
    for (const Detection& d : found.found) {
        boxes.push_back({{"top", d.top},
                         {"left", d.left},
                         {"height", d.height},
                         {"width", d.width},
                         {"value", d.value}});
        text += line("", fmt::format("{:.0f} x {:.0f} pixels at row {:.0f}, column {:.0f}: {:.3g}",
                                     d.height, d.width, d.top, d.left, d.value));
    }
    if (!c.output.empty()) {
        const InterruptLater later(c.output);
        write_image(with_boxes(image, found.found), c.output);
        text += line("picture", c.output);
    }
    if (!session.json) {
        fmt::print(c.output == "-" ? stderr : stdout, "{}", text);
        return;
    }
    print_json({{"model", c.model},
                {"image", c.image},
                {"patches", found.patches},
                {"scales", found.scales},
                {"left", left},
                {"average_kernels", found.average_kernels},
                {"seconds", seconds},
                {"accepted", found.accepted},
                {"found", boxes}});
}

}  // namespace

void add_detect(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "detect", "find in a picture what a model of patches knows",
        "  mercer detect quick.mercer group.png -o found.png --keep 1\n"
        "Every patch of the picture, at several scales, is a row for the model, which has two\n"
        "classes and was trained on patches of that size ('mercer virtual --with contrast'). A\n"
        "cascade rejects most after few kernels.");
    const auto o = std::make_shared<DetectCommand>();
    add_file(command, session, "MODEL", o->model, FileUse::input, "the model")->required();
    add_file(command, session, "IMAGE", o->image, FileUse::input, "PNG, PPM or PGM")->required();
    add_file(command, session, "-o,--output", o->output, FileUse::picture,
             "picture with a frame around each found");
    command.add_option("--keep", o->settings.keep, "the class sought [the cascade's, the first]")
        ->type_name("CLASS");
    command.add_option("--shape", o->shape, "HEIGHTxWIDTH of a patch [a square]")->type_name("HxW");
    command.add_option("--scale", o->settings.scale, "factor between scales [1.2]")->type_name("X");
    command
        .add_option("--largest", o->settings.largest,
                    "first scale: 1 is the picture as it is, 0.5 half of it [1]")
        ->type_name("X");
    add_count(command, "--step", o->settings.step, 1, 1000, "pixels between patches [1]");
    command.add_option("--threshold", o->settings.threshold, "accept above this decision [0]")
        ->type_name("X");
    command
        .add_option("--overlap", o->settings.overlap,
                    "of boxes that share more, the weaker goes [0.3]")
        ->type_name("X");
    command.add_flag("--no-contrast", o->no_contrast, "patches as they are");
    command.callback([&session, o] { session.action = [&session, o] { run(*o, session); }; });
}

}  // namespace mercer::cli
