#include "cli/common/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <regex>

#include "cli/common/tell.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/source.hpp"

namespace mercer::cli {
namespace {

bool progress_is_drawn = false;

}  // namespace

CLI::App& add_command(CLI::App& program, const std::string& name, const std::string& about,
                      const std::string& examples) {
    CLI::App& command = *program.add_subcommand(name, about);
    command.footer("Examples:\n" + examples);
    // The parser's own flag for help would be replaced later, by add_general_options, and whoever
    // has gone over the options before that would be left with one that is gone.
    command.set_help_flag();
    return command;
}

void add_general_options(CLI::App& command, Session& session) {
    const char* const group = "General";
    add_count(command, "--threads", session.threads, 0, 4096,
              "threads to use, 0: MERCER_NUM_THREADS, else one per processor and at most "
              "OMP_NUM_THREADS [0]")
        ->group(group);
    add_count(command, "--memory-limit", session.memory_limit, 1, std::size_t{1} << 30,
              "MiB that reading may take [three quarters of what this process may have, and for a "
              "file 64 MiB and 100 times its size]")
        ->group(group);
    command.add_flag("--json", session.json, "print results as JSON")->group(group);
    command.add_flag("-q,--quiet", session.quiet, "no progress on standard error")->group(group);
    command.set_help_flag("-h,--help", "print this help and exit")->group(group);
}

CLI::Option* add_count(CLI::App& command, const std::string& names, std::size_t& out,
                       std::size_t low, std::size_t high, const std::string& about) {
    // The range stands in the message when it is violated; in the help it would only be in the way.
    return command.add_option(names, out, about)
        ->check(whole_number())
        ->check(CLI::Range(low, high).description(""))
        ->type_name("N");
}

std::size_t usual_memory() {
    return std::clamp<std::size_t>(physical_memory() >> 22, 1, 1024);
}

CLI::Option* add_seed(CLI::App& command, std::uint64_t& out, const std::string& about) {
    return command.add_option("--seed", out, about)->check(whole_number())->type_name("N");
}

CLI::Validator whole_number() {
    const auto check = [](const std::string& text) -> std::string {
        std::uint64_t number = 0;
        const char* const last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data(), last, number);
        if (error == std::errc() && end == last) return {};
        return fmt::format("{} is no whole number from 0 to 2^64 - 1", mercer::quoted(text));
    };
    return CLI::Validator(check, "");
}

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
    // Dashes are no letters of a name, and would make slips seem small.
    const auto bare = [](const std::string& name) {
        return name.substr(std::min(name.find_first_not_of('-'), name.size()));
    };
    const std::string own = bare(word);
    std::vector<std::string> letters;
    for (const std::string& name : candidates) letters.push_back(bare(name));
    std::vector<std::string> near;
    const auto add = [&](const std::string& name) {
        const auto at = std::ranges::find(letters, name) - letters.begin();
        const std::string& spelling = candidates[static_cast<std::size_t>(at)];
        if (std::ranges::find(near, spelling) == near.end()) near.push_back(spelling);
    };
    // A word cut short, if it is long enough to mean one name only.
    const auto begins = [&](const std::string& name) {
        return own.size() > 2 && name.starts_with(own);
    };
    const bool cut_short = std::ranges::count_if(letters, begins) == 1;
    // Slips seldom change the first letter: prob is no from while there is a probability.
    const auto found = mercer::nearest_word(own, letters);
    if (found && (!cut_short || (*found)[0] == own[0])) add(*found);
    if (cut_short) add(*std::ranges::find_if(letters, begins));
    return near.empty() ? "" : fmt::format(". Did you mean '{}'?", fmt::join(near, "' or '"));
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

std::string in_flags(const std::string& message) {
    if (message.find('`') == std::string::npos) return message;  // the many, and at once
    // Settings whose option is not their name with dashes.
    static const std::map<std::string, std::string> others{
        {"C", "-C"},
        {"bias=false", "--no-bias"},
        {"centres", "centres of --approximate"},
        {"class_weights", "--weight"},
        {"iteration_limit", "--step-limit"},
        {"labels_file", "--labels-to"},
        {"memory_bytes", "--memory"},
        {"relative_gap", "--gap"},
        {"tolerance", "--tol"},
        {"weights_file", "--weights-to"},
    };
    static const std::regex setting("`([A-Za-z_]+)(=([A-Za-z0-9_.+-]+))?`");
    std::string text;
    auto last = message.begin();
    for (std::sregex_iterator m(message.begin(), message.end(), setting), end; m != end; ++m) {
        text.append(last, (*m)[0].first);
        last = (*m)[0].second;
        const std::string name = (*m)[1], value = (*m)[3];
        if (const auto whole = others.find(name + (*m)[2].str()); whole != others.end()) {
            text += whole->second;
            continue;
        }
        std::string flag = "--" + name;
        std::ranges::replace(flag, '_', '-');
        if (const auto other = others.find(name); other != others.end()) flag = other->second;
        text += value.empty() || value == "true" ? flag : flag + ' ' + value;
    }
    text.append(last, message.end());
    return text;
}

CLI::Option* add_choice(CLI::App& command, Session& session, const std::string& names,
                        std::string& out, std::vector<std::string> words,
                        const std::string& about) {
    CLI::Option* option = command.add_option(
        names, out, fmt::format("{}: {} [{}]", about, fmt::join(words, ", "), out));
    const auto check = [words](const std::string& word) -> std::string {
        if (std::ranges::find(words, word) != words.end()) return {};
        return fmt::format("{} is none of {}{}", mercer::quoted(word), fmt::join(words, ", "),
                           suggestion(word, words));
    };
    option->check(check, "")->type_name("WORD");
    session.choices[option] = std::move(words);
    return option;
}

std::vector<std::string> format_words(FormatUse use) {
    std::vector<std::string> words = format_names(use);
    words.insert(words.begin(), "auto");
    return words;
}

std::string format_word(const std::string& word) {
    return word == "auto" ? "" : word;
}

void add_reading_options(CLI::App& command, Session& session, InputOptions& input) {
    const auto keep = [&](CLI::Option* option) {
        input.options.push_back(option->group("Reading"));
    };
    const auto choice = [&](const char* name, std::string& out, std::vector<std::string> words,
                            const char* about) {
        keep(add_choice(command, session, name, out, std::move(words), about));
    };
    const auto text = [&](const char* name, std::string& out, const char* about) {
        keep(command.add_option(name, out, about)->type_name("TEXT"));
    };
    choice("--format", input.format, format_words(FormatUse::reading), "format of the file");
    text("--target,--label", input.read.label,
         "label column: its name, its number from 1 (-1: last), first, last or none");
    text("--text-columns", input.read.text_columns,
         "columns that hold texts, as --label, with commas between, or none "
         "[those that begin with one]");
    text("--drop,--leave-out", input.read.leave_out,
         "columns that are not read, as --text-columns");
    keep(command.add_flag("--text-labels", input.read.text_labels,
                          "labels are names, even if numbers"));
    choice("--header", input.header, {"auto", "yes", "no"}, "first line of a table is a header");
    choice("--missing", input.missing, {"refuse", "mean", "median", "zero"}, "missing values");
    choice("--rows", input.form, {"auto", "dense", "sparse"}, "how rows are held");
    keep(command.add_flag("--double", input.read.double_precision,
                          "hold numbers in double precision"));
    keep(add_count(command, "--columns", input.read.columns, 0, std::size_t{1} << 32,
                   "at least so many columns, the rest zero [0]"));
    keep(add_file(command, session, "--labels", input.read.labels_file, FileUse::input,
                  "file of labels, one per row"));
    keep(add_file(command, session, "--weights", input.read.weights_file, FileUse::input,
                  "file of sample weights, one per row"));
    text("--weight-column", input.read.weight_column, "weight column of a table, as --label");
    keep(add_count(command, "--first-index", input.read.first_index, 0, 1,
                   "LIBSVM text: the first index, 0 or 1 [1]"));
}

std::shared_ptr<InputOptions> add_input(CLI::App& command, Session& session,
                                        const std::string& about) {
    auto input = std::make_shared<InputOptions>();
    add_file(command, session, "INPUT", input->path, FileUse::input, about)->required();
    add_reading_options(command, session, *input);
    return input;
}

Dataset read_input(const InputOptions& input, const Session& session) {
    ReadOptions options = input.read;
    options.format = format_word(input.format);
    if (input.header != "auto") {
        options.header = input.header == "yes" ? HeaderLine::yes : HeaderLine::no;
    }
    if (input.missing == "mean") options.missing = MissingValues::mean;
    if (input.missing == "median") options.missing = MissingValues::median;
    if (input.missing == "zero") options.missing = MissingValues::zero;
    if (input.form != "auto") {
        options.form = input.form == "dense" ? RowForm::dense : RowForm::sparse;
    }
    options.progress = progress_line(session);
    Dataset data = read(input.path, options);
    clear_progress_line();
    if (!data.left_out.empty() && !session.quiet) {
        tell("mercer: note: {}: left out what was not trained on: {}\n", input.path,
             fmt::join(data.left_out, ", "));
    }
    return data;
}

std::string held_text(const Rows& rows, std::size_t mebibytes, const std::string& spool) {
    constexpr double mebibyte = 1 << 20;
    const std::string size =
        fmt::format("{:.0f} MiB", static_cast<double>(rows.bytes()) / mebibyte);
    const std::string more = fmt::format("({}, more than the {} of --memory)", size, mebibytes);
    const std::string folder = spool_folder(spool);
    switch (place_of(rows)) {
        case RowPlace::memory:
            return rows.bytes() >> 20 > mebibytes
                       ? fmt::format("in memory ({}: files of this kind are read as a whole)", size)
                       : fmt::format("in memory ({}; --memory allows {})", size, mebibytes);
        case RowPlace::file: return "left in their file, looked at block by block " + more;
        case RowPlace::spool: break;
    }
    return fmt::format("in a temporary file in {}, looked at block by block {}{}", folder, more,
                       lies_in_memory(folder)
                           ? "; that folder lies in memory itself: name another by --spool"
                           : "");
}

CLI::Option* add_spool(CLI::App& command, InputOptions& input) {
    return command
        .add_option("--spool", input.read.spool,
                    "folder of the temporary file for rows that --memory does not hold [TMPDIR, "
                    "else /var/tmp]")
        ->type_name("FOLDER");
}

InputOptions for_file(InputOptions input, const std::string& path) {
    if (path != input.path) input.read.shared = true;
    input.path = path;
    return input;
}

Dataset read_side(const InputOptions& input, const std::string& path, const Session& session) {
    InputOptions side = for_file(input, path);
    if (side.read.label.empty()) side.read.label = "none";
    return read_input(side, session);
}

Dataset read_another(const std::string& path, const Dataset& like, const InputOptions& input,
                     const Session& session) {
    InputOptions other = for_file(input, path);
    other.read.known = std::make_shared<const KnownColumns>(columns_of(like));
    return read_input(other, session);
}

Rows apply_scaling(const Scaling& scaling, const Rows& rows, const Session& session) {
    Rows scaled = scaling.apply(rows);
    if (rows.is_sparse() && !scaled.is_sparse() && !session.quiet) {
        clear_progress_line();
        tell(
            "mercer: note: scaling {} moves zeros, so the sparse rows ({:.2g} % filled) "
            "became dense\n",
            scaling.rule().text(),
            100.0 * static_cast<double>(rows.nonzeros()) /
                (static_cast<double>(rows.size()) * static_cast<double>(rows.columns())));
    }
    return scaled;
}

Progress progress_line(const Session& session) {
    if (session.quiet || isatty(STDERR_FILENO) == 0) return {};
    // The first line waits a little: work that is over at once should not flicker.
    return [watch = Stopwatch(), wait = 0.3](const Moment& moment) mutable {
        if (watch.seconds() < wait) return true;
        watch.lap();
        wait = 0.1;
        std::string line(moment.task);
        if (moment.fraction >= 0) line += fmt::format(" {:3.0f} %", 100 * moment.fraction);
        if (!moment.detail.empty()) line += fmt::format("  {}", moment.detail);
        tell("\r\033[K{}", line);
        std::fflush(stderr);
        progress_is_drawn = true;
        return true;
    };
}

void clear_progress_line() {
    if (!progress_is_drawn) return;
    tell("\r\033[K");
    std::fflush(stderr);
    progress_is_drawn = false;
}

}  // namespace mercer::cli
