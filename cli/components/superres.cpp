// mercer superres: a photograph made larger with details.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/picture/superres.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct SuperresCommand {
    std::string input;
    std::string output;
    std::vector<std::string> train{};
    std::string model;
    std::string save_to;
    std::string sheet;
    bool evaluate = false;
    std::string kernel;
    std::string learn = "pairs";
    SuperresSettings settings{};
};

SuperResolution learnt(const SuperresCommand& c, const std::vector<Image>& examples,
                       const Session& session) {
    if (!c.model.empty()) {
        SuperResolution result(load(c.model));
        result.stride = c.settings.stride;
        return result;
    }
    SuperresSettings s = c.settings;
    s.kind = c.learn == "large" ? PatchKind::large : PatchKind::pairs;
    const auto side = static_cast<double>(s.patch);
    s.hebbian.common.kernel =
        c.kernel.empty() ? rbf({.gamma = 1 / (4 * side * side)}) : Kernel::parse(c.kernel);
    s.hebbian.window = 4 * s.hebbian.dictionary;
    s.hebbian.common.progress = progress_line(session);
    return SuperResolution::learn(examples, s);
}

/// The picture cut to whole blocks, so that shrunk and enlarged it is as large as before.
Image whole_blocks(const Image& image, std::size_t factor) {
    Image cut = Image::filled(image.height / factor * factor, image.width / factor * factor,
                              image.channels, 0);
    for (std::size_t i = 0; i < cut.height; ++i) {
        for (std::size_t j = 0; j < cut.width; ++j) {
            for (std::size_t k = 0; k < cut.channels; ++k) cut.at(i, j, k) = image.at(i, j, k);
        }
    }
    return cut;
}

struct Version {
    std::string name;
    Image image;
};

/// The middle of each, side by side, each pixel `zoom` times as large.
Image side_by_side(const std::vector<Version>& versions) {
    constexpr std::size_t side = 128, zoom = 2;
    std::vector<Image> parts;
    for (const Version& v : versions) {
        const std::size_t h = std::min(side, v.image.height), w = std::min(side, v.image.width);
        Image part = Image::filled(h, w, v.image.channels, 0);
        const std::size_t top = (v.image.height - h) / 2, left = (v.image.width - w) / 2;
        for (std::size_t i = 0; i < h; ++i) {
            for (std::size_t j = 0; j < w; ++j) {
                for (std::size_t k = 0; k < part.channels; ++k) {
                    part.at(i, j, k) = v.image.at(top + i, left + j, k);
                }
            }
        }
        parts.push_back(enlarge(part, zoom, Interpolation::nearest));
    }
    return contact_sheet(parts, 3, 4);
}

/// The picture shrunk and enlarged again by every method, with its distance from the original.
void evaluate(const SuperresCommand& c, const Image& photograph, const SuperResolution& method,
              const PatchPairs& pairs, const Session& session, Json& json, std::string& text) {
    const std::size_t factor = method.factor();
    const Image original = whole_blocks(photograph, factor);
    const Image small = shrink(original, factor);
    std::vector<Version> versions{{"original", original}};
    for (const Interpolation way :
         {Interpolation::nearest, Interpolation::bilinear, Interpolation::bicubic}) {
        versions.push_back({std::string(interpolation_name(way)), enlarge(small, factor, way)});
    }
    versions[1].name = "pixels";
    if (pairs.patch > 0) {
        versions.push_back({"patches", enlarge_by_nearest(small, factor, pairs, c.settings.stride,
                                                          progress_line(session))});
    }
    versions.push_back({"kha", method.enlarge(small, progress_line(session))});
    clear_progress_line();
    for (std::size_t v = 1; v < versions.size(); ++v) {
        const double noise = psnr(versions[v].image, original, factor);
        const double likeness = ssim(versions[v].image, original, factor);
        json["methods"][versions[v].name] = {{"psnr", noise}, {"ssim", likeness}};
        text += line(versions[v].name, fmt::format("PSNR {:.2f} dB  SSIM {:.4f}", noise, likeness));
    }
    if (!c.output.empty()) {
        const InterruptLater later(c.output);
        write_image(versions.back().image, c.output);
    }
    if (c.sheet.empty()) return;
    const InterruptLater later(c.sheet);
    write_image(side_by_side(versions), c.sheet);
    json["sheet"] = c.sheet;
    text += line("sheet", c.sheet);
}

void check_command(const SuperresCommand& c) {
    if (c.model.empty() == c.train.empty()) {
        throw InvalidInput("give photographs to learn from with --train, or a model with --model");
    }
    if (c.output.empty() && !c.evaluate) {
        throw InvalidInput("name a file for the larger picture, or ask for --evaluate");
    }
}

void run(const SuperresCommand& c, const Session& session) {
    check_command(c);
    const Image photograph = read_image(c.input);
    std::vector<Image> examples;
    for (const std::string& path : c.train) examples.push_back(read_image(path));
    const SuperResolution method = learnt(c, examples, session);
    clear_progress_line();
    const Report report = method.model().report();
    Json json{{"input", c.input},
              {"factor", method.factor()},
              {"learn", method.kind() == PatchKind::large ? "large" : "pairs"},
              {"kernel", method.model().expansion().kernel.text()},
              {"components", method.model().expansion().outputs()},
              {"explained", report.figures.at("explained")},
              {"lost", report.figures.at("lost")}};
    std::string text =
        line("picture", fmt::format("{}, {} x {}", c.input, photograph.width, photograph.height));
    text += line("components", fmt::format("{}, {} of the variance of patches",
                                           method.model().expansion().outputs(),
                                           percent(report.figures.at("explained"))));
    if (!c.save_to.empty()) {
        const InterruptLater later(c.save_to);
        save(method.model(), c.save_to);
        json["model"] = c.save_to;
        text += line("model", c.save_to);
    }
    if (c.evaluate) {
        const SuperresSettings& s = c.settings;
        const PatchPairs pairs = examples.empty() ? PatchPairs{}
                                                  : draw_patches(examples, s.factor, s.patch,
                                                                 s.sample, s.hebbian.common.seed);
        evaluate(c, photograph, method, pairs, session, json, text);
    } else {
        const Image large = method.enlarge(photograph, progress_line(session));
        clear_progress_line();
        const InterruptLater later(c.output);
        write_image(large, c.output);
    }
    if (!c.output.empty()) {
        json["output"] = c.output;
        text += line("output", c.output);
    }
    if (session.json) {
        print_json(json);
    } else {
        say("{}", text);
    }
}

}  // namespace

void add_superres(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "superres", "make a photograph larger, with details learnt from others",
        "  mercer superres small.png large.png --train a.png b.ppm\n"
        "  mercer superres photo.png --train a.png b.ppm --evaluate --sheet compare.png\n"
        "  mercer superres small.png large.png --train a.png --save-model natural.mercer\n"
        "  mercer superres other.png larger.png --model natural.mercer\n"
        "  mercer superres small.png large.png --train a.png --learn large --components 200\n"
        "--evaluate shrinks the photograph first and tells how near each method comes to it:\n"
        "repeated pixels, bilinear, bicubic, nearest example patches, kernel Hebbian components.\n"
        "Pictures are PNG or PNM. docs/machines/super-resolution.md says more.");
    const auto o = std::make_shared<SuperresCommand>();
    SuperresSettings& s = o->settings;
    add_file(command, session, "PICTURE", o->input, FileUse::input, "the photograph")->required();
    add_file(command, session, "OUTPUT", o->output, FileUse::picture, "file for the larger one");
    add_file(command, session, "--train", o->train, FileUse::input,
             "large photographs to learn from")
        ->type_name("FILE…");
    const CLI::Option* const model = add_file(command, session, "--model", o->model, FileUse::input,
                                              "learnt before, with --save-model");
    const auto trains = [&](CLI::Option* option) {
        only(session, option, without(model, "the model is learnt already"));
    };
    trains(add_file(command, session, "--save-model", o->save_to, FileUse::model,
                    "file for what is learnt"));
    const CLI::Option* const evaluated =
        command.add_flag("--evaluate", o->evaluate,
                         "shrink the photograph, enlarge it by every method, and compare");
    only(session,
         add_file(command, session, "--sheet", o->sheet, FileUse::picture,
                  "with --evaluate: their middles side by side"),
         with({evaluated}));
    trains(add_count(command, "--factor", s.factor, 2, 8, "times as high and as wide [2]"));
    trains(add_count(command, "--patch", s.patch, 2, 64, "pixels a side [8]"));
    add_count(command, "--stride", s.stride, 1, 64,
              "pixels between patches [a quarter of the patch]");
    trains(
        add_count(command, "--sample", s.sample, 1, 10'000'000, "patches to learn from [10000]"));
    trains(add_count(command, "--components", s.hebbian.components, 1, 100'000,
                     "kernel principal components [40]"));
    trains(add_count(command, "--dictionary", s.hebbian.dictionary, 1, 100'000,
                     "patches that components are combinations of [500]"));
    trains(add_count(command, "--passes", s.hebbian.passes, 1, 1'000'000, "over the patches [3]"));
    trains(add_count(command, "--rounds", s.rounds, 1, 100, "projections of each patch [2]"));
    CLI::Option* const learn = add_choice(
        command, session, "--learn", o->learn, {"pairs", "large"},
        "components of low and high frequencies side by side, or of large patches alone");
    trains(learn);
    CLI::Option* const detail =
        command.add_option("--detail", s.detail, "weight of the high frequencies [1]")
            ->type_name("X");
    trains(detail);
    only(session, detail, for_words(learn, o->learn, {"pairs"}));
    trains(command
               .add_option("--kernel", o->kernel,
                           "the expression on patches [rbf(gamma=1/(4 patch^2))]")
               ->type_name("EXPR"));
    trains(add_seed(command, s.hebbian.common.seed, "of draws and orders [1]"));
    command.callback([&session, o] { session.action = [&session, o] { run(*o, session); }; });
}

}  // namespace mercer::cli
