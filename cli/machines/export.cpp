// mercer export: a model for other programs.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::cli {
namespace {

struct ExportCommand {
    std::string model;
    std::string file;
    std::string format = "auto";
    std::string precision = "double";
    ExportSettings settings{};
};

/// A file that is there is replaced when it was exported before; somebody's own source is not.
void check_not_foreign(const std::string& path) {
    std::error_code error;
    if (path == "-" || !std::filesystem::is_regular_file(path, error)) return;
    std::string head(512, '\0');
    std::ifstream stream(path, std::ios::binary);
    stream.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(stream.gcount()));
    if (head.empty() || head.find("mercer") != std::string::npos) return;
    throw InvalidInput(
        fmt::format("FILE {} exists and was not exported by this program: it would be lost; give "
                    "the output another name, or remove the file first",
                    path));
}

/// Null where neither --to nor the name says it.
const ExportFormat* format_of(const ExportCommand& c) {
    for (const ExportFormat& format : export_formats()) {
        if (c.format == "auto" ? c.file.ends_with(format.ending) : c.format == format.name) {
            return &format;
        }
    }
    return nullptr;
}

const ExportFormat& chosen_format(const ExportCommand& c) {
    if (const ExportFormat* format = format_of(c)) return *format;
    std::string endings;
    for (const ExportFormat& format : export_formats()) {
        endings += fmt::format("{}{}", endings.empty() ? "" : ", ", format.ending);
    }
    throw InvalidInput(fmt::format("FILE {} ends with none of {}; say with --to what it is to be",
                                   c.file, endings));
}

void run(ExportCommand c, const Session& session) {
    const ExportFormat& format = chosen_format(c);
    c.settings.format = format.name;
    c.settings.single_precision = c.precision == "single";
    if (format.computes) check_not_foreign(c.file);
    const Model model = read_model(c.model);
    const std::string bytes = export_to_memory(model, c.settings);
    const InterruptLater later(c.file);
    write_whole(c.file, [&](Output& out) { out.write(bytes); });
    if (session.json) {
        print_json({{"model", c.model},
                    {"file", c.file},
                    {"format", c.settings.format},
                    {"bytes", bytes.size()},
                    {"vectors", model.expansion().size()},
                    {"outputs", model.expansion().outputs()},
                    {"probabilities", has_probabilities(model)}});
        return;
    }
    std::string text = line("exported", fmt::format("{} as {}", c.model, c.settings.format));
    text += line("kernel", model.expansion().kernel.text());
    text += line("vectors", std::to_string(model.expansion().size()));
    text += line("file", fmt::format("{}, {} bytes", c.file, bytes.size()));
    fmt::print(c.file == "-" ? stderr : stdout, "{}", session.quiet ? "" : text);
}

}  // namespace

void add_export(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "export", "write a model for other programs: ONNX, C source, LIBSVM",
        "  mercer export digits.mercer digits.onnx\n"
        "  mercer export digits.mercer digits.c --name digits\n"
        "  mercer export digits.mercer digits.model\n"
        "Scaling, tables' recipes, classes and probabilities go with the model. What cannot be\n"
        "exported is named. 'mercer reduce' makes small models of large ones first.");
    const auto o = std::make_shared<ExportCommand>();
    add_file(command, session, "MODEL", o->model, FileUse::input, "the model")->required();
    CLI::Option* const file = add_file(command, session, "FILE", o->file, FileUse::data,
                                       "file to write; its ending says what: .onnx, .c, .model");
    file->required();
    std::vector<std::string> words{"auto"};
    for (const ExportFormat& format : export_formats()) words.push_back(format.name);
    add_choice(command, session, "--to", o->format, words, "what to write");
    const auto is_program = [o] {
        const ExportFormat* format = format_of(*o);
        return format == nullptr || format->computes;
    };
    const auto of_programs = [&](CLI::Option* option) {
        only(session, option,
             when(is_program, "for LIBSVM's files", "it belongs to --to onnx and --to c"));
    };
    of_programs(add_choice(command, session, "--precision", o->precision, {"double", "single"},
                           "what ONNX and C compute in"));
    of_programs(command
                    .add_option("--name", o->settings.name,
                                "what functions in C begin with, and the name of ONNX's graph "
                                "[model]")
                    ->type_name("NAME"));
    command.callback([&session, o, file, is_program] {
        if (!is_program()) session.files[file] = FileUse::model;
        session.action = [&session, o] { run(*o, session); };
    });
}

}  // namespace mercer::cli
