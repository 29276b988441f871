// mercer split: rows set aside at random, to judge a machine on.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/summary.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer::cli {
namespace {

struct SplitCommand {
    OutputOptions train;
    OutputOptions test;
    double fraction = 0.25;
    std::uint64_t seed = 1;
    bool plain = false;
};

/// Classes worth keeping in proportion: names, or few numbers compared with the rows.
std::vector<std::int32_t> classes_for(const Dataset& data, bool plain) {
    if (plain || data.y.empty()) return {};
    Classes classes = classes_of(data.y);
    return 5 * classes.count() <= data.size() ? std::move(classes.index)
                                              : std::vector<std::int32_t>{};
}

void run(const SplitCommand& command, InputOptions input, const Session& session) {
    if (command.train.path == "-" || command.test.path == "-") {
        throw InvalidInput("the two parts go to two files; standard output cannot take them");
    }
    input.read.exact = true;
    const Dataset data = read_input(input, session);
    const Split split =
        split_rows(data.size(), command.fraction, command.seed, classes_for(data, command.plain));
    Session silent = session;
    silent.json = false;
    write_data(data.select(split.train), command.train, silent);
    write_data(data.select(split.test), command.test, silent);
    if (session.json) {
        print_json({{"input", input.path},
                    {"seed", command.seed},
                    {"train", {{"output", command.train.path}, {"rows", split.train.size()}}},
                    {"test", {{"output", command.test.path}, {"rows", split.test.size()}}}});
    } else {
        say("{:<12}{}, {} rows\n{:<12}{}, {} rows\n", "train", command.train.path,
            split.train.size(), "test", command.test.path, split.test.size());
    }
}

}  // namespace

void add_split(CLI::App& program, Session& session) {
    CLI::App& command =
        add_command(program, "split", "set rows aside at random to judge a machine on",
                    "  mercer split @digits train.csv test.csv --test 0.3\n"
                    "  mercer split a9a.gz a9a.train.gz a9a.test.gz --seed 7");
    const auto options = std::make_shared<SplitCommand>();
    const auto input = add_input(command, session);
    const auto file = [&](const char* name, OutputOptions& out, const char* about) {
        CLI::Option* const place =
            add_file(command, session, name, out.path, FileUse::data, about)->required();
        watch_labels(session, place, {options, &out});
    };
    file("TRAIN", options->train, "file for the rows to learn from");
    file("TEST", options->test, "file for the rows set aside");
    command.add_option("--test", options->fraction, "share of the rows set aside [0.25]")
        ->type_name("X");
    add_seed(command, options->seed, "the same seed draws the same rows [1]");
    command.add_flag("--plain", options->plain, "draw without keeping the classes in proportion");
    command.callback([&session, input, options] {
        session.action = [&session, input, options] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
