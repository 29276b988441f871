#include "cli/common/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "cli/common/tell.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(double value, const std::string& place) {
    throw std::runtime_error(fmt::format(
        "the result{} came out as {}, which is no number; it is not written", place, value));
}

/// JSON has no word for what is not finite and would write null. Whoever means "there is none"
/// says so (`json_number`); anything else is a computation that failed unnoticed.
void require_finite(const Json& value, const std::string& place) {
    if (value.is_structured()) {
        for (const auto& [name, item] : value.items()) {
            require_finite(item, place.empty() ? name : place + '.' + name);
        }
    } else if (value.is_number_float() && !std::isfinite(value.get<double>())) {
        refuse(value.get<double>(), ' ' + place);
    }
}

}  // namespace

Json json_number(double value) {
    return std::isfinite(value) ? Json(value) : Json();
}

std::string result_text(double value) {
    if (!std::isfinite(value)) refuse(value, "");
    return format_number(value);
}

void print_json(const Json& value) {
    require_finite(value, "");
    // Names in a file may be any bytes; JSON must be UTF-8.
    say("{}\n", value.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string sources_line() {
    return "\nThe authors cited: docs/sources.md\n";
}

void finish_standard_output() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        throw std::runtime_error(
            fmt::format("standard output: writing failed: {}", std::strerror(errno)));
    }
}

WriteOptions write_options(const OutputOptions& output) {
    WriteOptions options = output.write;
    options.format = format_word(output.format);
    if (output.header != "auto") {
        options.header = output.header == "yes" ? HeaderLine::yes : HeaderLine::no;
    }
    return options;
}

void watch_labels(Session& session, const CLI::Option* place,
                  std::shared_ptr<const OutputOptions> output) {
    session.beside[place] = [output = std::move(output)]() -> std::string {
        // A file that an option of its own names is looked at for that option.
        if (!output->write.labels_file.empty()) return {};
        return written_labels_file(output->path, write_options(*output));
    };
}

namespace {

/// Only some formats have a line that names the columns.
Condition header_condition(const std::shared_ptr<const OutputOptions>& output) {
    const auto format = [output]() -> const Format& {
        return written_format(output->path, write_options(*output));
    };
    const auto named = [](const Format& f) { return f.write != nullptr && f.uses.header; };
    return {.holds = [=] { return output->header == "auto" || format().uses.header; },
            .now = [=] { return "for " + format().title; },
            .wanted = "it belongs to " + listed_formats(named)};
}

}  // namespace

std::shared_ptr<OutputOptions> add_output(CLI::App& command, Session& session) {
    const auto output = std::make_shared<OutputOptions>();
    const auto keep = [&](CLI::Option* option) {
        output->options.push_back(option->group("Writing"));
    };
    output->place = add_file(command, session, "-o,--output", output->path, FileUse::data,
                             "file to write, compressed by .gz, .bz2, .xz or .zst; - is "
                             "standard output [-]")
                        ->group("Writing");
    watch_labels(session, output->place, output);
    keep(add_choice(command, session, "--to", output->format, format_words(FormatUse::writing),
                    fmt::format("format to write, auto: by the file's name, else {}",
                                written_format("").title)));
    CLI::Option* const header =
        add_choice(command, session, "--write-header", output->header, {"auto", "yes", "no"},
                   "first line of a table names the columns");
    keep(header);
    only(session, header, header_condition(output));
    keep(add_file(command, session, "--labels-to", output->write.labels_file, FileUse::column,
                  "labels into a file of their own; none leaves them out"));
    keep(add_file(command, session, "--weights-to", output->write.weights_file, FileUse::column,
                  "weights into a file of their own; none leaves them out"));
    return output;
}

void check_output(const OutputOptions& output, const Session& session) {
    if (session.json && output.path == "-") {
        throw InvalidInput(
            "--json reports on standard output, where the data would go; name a file with -o");
    }
}

namespace {

/// "setosa is 0, versicolor is 1" where the format has only numbers for the names of classes.
std::string names_as_numbers(const Dataset& data, const std::string& path,
                             const WriteOptions& options) {
    const bool numbers = !written_format(path, options).keeps.class_names;
    if (!numbers || !data.y.are_text() || !options.labels_file.empty()) return {};
    constexpr std::size_t most = 10;
    std::string text;
    for (std::size_t k = 0; k < std::min(most, data.y.names.size()); ++k) {
        text += fmt::format("{}{} is {}", k == 0 ? "" : ", ", data.y.names[k], k);
    }
    return data.y.names.size() > most ? text + ", …" : text;
}

}  // namespace

void write_data(const Dataset& data, const OutputOptions& output, const Session& session,
                const Json& report) {
    WriteOptions options = write_options(output);
    options.progress = progress_line(session);
    {
        const InterruptLater later(output.path);
        write(data, output.path, options);
    }
    clear_progress_line();
    const std::string numbered = names_as_numbers(data, output.path, options);
    if (!numbered.empty() && !session.quiet) {
        tell("mercer: note: {} has only numbers for labels: {}\n",
             written_format(output.path, options).name, numbered);
    }
    if (!session.json) return;
    Json json{{"output", output.path}, {"rows", data.size()}, {"columns", data.columns()}};
    if (!numbered.empty()) json["classes"] = data.y.names;
    json.update(report);
    print_json(json);
}

}  // namespace mercer::cli
