// mercer vq: rows or pictures as a codebook and numbers, with a bound on the distortion.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/groups/quantiser.hpp"
#include "mercer/persist/code_file.hpp"
#include "mercer/picture/image.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct VqCommand {
    std::string action;
    std::string method = "lp";
    std::string start = "random";
    std::size_t codes = 0;
    std::size_t side = 8;
    std::uint64_t seed = 1;
    bool no_prune = false;
    QuantiserSettings settings{};
};

bool is_picture(const std::string& path) {
    for (const char* ending : {".png", ".ppm", ".pgm", ".pnm"}) {
        if (path.ends_with(ending)) return true;
    }
    return false;
}

std::size_t bytes_of(const std::string& path) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    return error ? 0 : static_cast<std::size_t>(size);
}

Codebook make_codebook(const VqCommand& c, const Rows& rows, const StopOnInterrupt& stop,
                       const Session& session) {
    const Progress listen = [draw = progress_line(session), &stop](const Moment& m) {
        if (draw) draw(m);
        return !stop.requested();
    };
    const bool lbg = c.method == "lbg";
    if (lbg && c.start == "random") {
        if (c.codes == 0)
            throw InvalidInput("--method lbg needs --codes, the size of the codebook");
        return lbg_codebook(rows, c.codes, c.seed, listen);
    }
    if (!(c.settings.radius > 0)) {
        throw InvalidInput(
            std::string(lbg ? "--start lp" : "--method lp") +
            " needs --radius, a number greater than 0: no row is farther from its code");
    }
    QuantiserSettings settings = c.settings;
    settings.prune = !c.no_prune;
    settings.progress = listen;
    const Codebook book = quantise(rows, settings);
    return lbg ? lbg_codebook(rows, book.codes, listen) : book;
}

/// What was written, for people or as JSON.
void report_codes(const VqCommand& c, const InputOptions& input, const OutputOptions& output,
                  const Rows& rows, const Codebook& book, double raw, double seconds,
                  const Session& session) {
    const std::size_t written = bytes_of(output.path);
    Json json{{"input", input.path},
              {"output", output.path},
              {"method", c.method},
              {"start", c.method == "lbg" ? Json(c.start) : Json()},
              {"rows", rows.size()},
              {"codes", book.codes.size()},
              {"radius", book.radius},
              {"largest", book.largest},
              {"root_mean_square", book.root_mean_square},
              {"pruned", book.pruned},
              {"objective", book.objective},
              {"bound", book.bound},
              {"status", describe(book.status)},
              {"bytes_raw", raw},
              {"bytes", written},
              {"seconds", seconds}};
    if (session.json) {
        print_json(json);
        return;
    }
    std::string text = line("rows", fmt::format("{} of {} numbers", rows.size(), rows.columns()));
    text += line("codes", c.method == "lp" ? fmt::format("{}, {} more were pruned",
                                                         book.codes.size(), book.pruned)
                                           : fmt::format("{} means", book.codes.size()));
    text += line("distortion",
                 fmt::format("{:.6g} at most, {:.6g} root mean square{}", book.largest,
                             book.root_mean_square,
                             book.radius > 0 ? ", radius " + format_number(book.radius) : ""));
    if (c.method == "lp") {
        text += line("program", fmt::format("{}, {:.6g}, proven {:.6g} at least",
                                            describe(book.status), book.objective, book.bound));
    }
    text += line("bytes", fmt::format("{} of {:.0f}, ratio {:.3g}", written, raw,
                                      raw / std::max(1.0, static_cast<double>(written))));
    text += line("output", output.path);
    fmt::print(output.path == "-" ? stderr : stdout, "{}", text);
}

void encode_file(const VqCommand& c, const InputOptions& input, const OutputOptions& output,
                 const Session& session) {
    if (output.path == "-" && session.json) {
        throw InvalidInput("the codes and --json cannot both go to standard output; use -o FILE");
    }
    Stopwatch watch;
    CodeFile file;
    Rows rows;
    double raw = 0;  // bytes, one a sample of a picture, four a number otherwise
    if (is_picture(input.path)) {
        const Image image = read_image(input.path);
        rows = image_blocks(image, c.side);
        file.height = image.height;
        file.width = image.width;
        file.channels = image.channels;
        file.side = c.side;
        raw = static_cast<double>(image.pixels.size());
    } else {
        rows = read_input(input, session).x;
        raw = 4.0 * static_cast<double>(rows.size()) * static_cast<double>(rows.columns());
    }
    const StopOnInterrupt stop;
    const Codebook book = make_codebook(c, rows, stop, session);
    clear_progress_line();
    file.codes = book.codes;
    file.index = book.nearest;
    file.radius = book.radius;
    {
        const InterruptLater later(output.path);
        save_codes(file, output.path);
    }
    report_codes(c, input, output, rows, book, raw, watch.lap(), session);
}

void decode_file(const InputOptions& input, const OutputOptions& output, const Session& session) {
    check_output(output, session);
    const CodeFile file = load_codes(input.path);
    if (file.is_image()) {
        for (const CLI::Option* option : output.options) {
            refuse_given(session, spelled(*option), "for codes of a picture", "it belongs to rows");
        }
        const Image image =
            image_from_blocks(file.decoded(), file.height, file.width, file.channels, file.side);
        write_image(image, output.path);
        if (session.json) print_json({{"input", input.path}, {"output", output.path}});
        return;
    }
    Dataset data;
    data.x = file.decoded();
    write_data(data, output, session, {{"codes", file.codes.size()}, {"radius", file.radius}});
}

}  // namespace

void add_vq(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "vq", "compress rows or pictures by a codebook with bounded distortion",
        "  mercer vq encode photo.png --radius 300 -o photo.vq.xz\n"
        "  mercer vq decode photo.vq.xz -o back.png\n"
        "  mercer vq encode rows.csv --radius 0.2 -o rows.vq\n"
        "  mercer vq encode photo.png --method lbg --codes 500 -o photo.lbg\n"
        "  mercer vq encode photo.png --method lbg --start lp --radius 300 -o photo.lbg\n"
        "lp: codes are rows such that every row lies within --radius of one, as few as a linear\n"
        "program finds; lbg: so many means, which bound nothing. Pictures (.png, .ppm, .pgm) are\n"
        "cut into squares. A name ending in .xz, .zst, .bz2 or .gz is compressed as well.");
    const auto o = std::make_shared<VqCommand>();
    const CLI::Option* const action =
        add_choice(command, session, "action", o->action, {"encode", "decode"}, "what to do")
            ->required();
    const auto input = add_input(command, session, "data or picture; codes to decode");
    const Condition encodes = for_words(action, o->action, {"encode"});
    CLI::Option* const method = only(
        session,
        add_choice(command, session, "--method", o->method, {"lp", "lbg"}, "how codes are found"),
        encodes);
    const auto of = [&](const char* word, CLI::Option* option, const char* remark = "") {
        only(session, option, encodes);
        only(session, option, for_words(method, o->method, {word}, remark));
        return option;
    };
    CLI::Option* const start =
        of("lbg", add_choice(command, session, "--start", o->start, {"random", "lp"},
                             "lbg: rows drawn, or the codes of the linear program"));
    // What belongs to the program, whether it is the end or where lbg begins.
    const auto of_program = [&](CLI::Option* option) {
        only(session, option, encodes);
        only(session, option,
             when([o] { return o->method == "lp" || o->start == "lp"; },
                  "for --method lbg that begins at random",
                  "it belongs to lp, and to lbg with --start lp"));
    };
    const auto of_random = [&](CLI::Option* option, const char* remark = "") {
        of("lbg", option, remark);
        only(session, option, for_words(start, o->start, {"random"}));
    };
    of_program(
        command.add_option("--radius", o->settings.radius, "lp: no row is farther from its code")
            ->type_name("R"));
    of_random(add_count(command, "--codes", o->codes, 1, 1'000'000, "lbg: so many"),
              "; lp finds how many --radius needs");
    only(session,
         only(session,
              add_count(command, "--block", o->side, 1, 256, "side of a square of pixels [8]"),
              encodes),
         when([input] { return is_picture(input->path); }, "for rows",
              "it belongs to pictures (.png, .ppm, .pgm, .pnm)"));
    of_program(command.add_flag("--no-prune", o->no_prune,
                                "lp: keep codes that the others could replace"));
    of_program(command
                   .add_option("--time", o->settings.time_limit,
                               "lp: seconds for the linear program [none]")
                   ->type_name("S"));
    of_random(add_seed(command, o->seed, "how lbg begins [1]"));
    only(session, input->options, encodes);
    only(session, input->options,
         when([input] { return !is_picture(input->path); }, "for a picture", "it belongs to rows"));
    const auto output = add_output(command, session);
    only(session, output->options, for_words(action, o->action, {"decode"}));
    command.callback([&session, o, input, output] {
        session.action = [&session, o, input, output] {
            if (o->action == "encode") {
                encode_file(*o, *input, *output, session);
            } else {
                decode_file(*input, *output, session);
            }
        };
    });
}

}  // namespace mercer::cli
