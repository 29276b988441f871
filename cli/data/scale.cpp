// mercer scale: finds a scaling on one file, keeps it, applies it again to others.
#include <string>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/data/scaling.hpp"
#include "mercer/data/source.hpp"

namespace mercer::cli {
namespace {

struct ScaleCommand {
    std::string rule;
    std::string save;
    std::string load;
};

void run(const ScaleCommand& command, InputOptions input, const OutputOptions& output,
         const Session& session) {
    if (command.rule.empty() == command.load.empty()) {
        throw InvalidInput(
            "give either --scale RULE to find a scaling or --load FILE to apply one");
    }
    if (command.save == "-" && output.path == "-") {
        throw InvalidInput("data and scaling cannot both go to standard output; name a file");
    }
    check_output(output, session);
    Scaling scaling;
    Dataset data;
    input.read.exact = true;
    if (!command.load.empty()) {
        if (command.load == "-" && input.path == "-") {
            throw InvalidInput("data and scaling cannot both come from standard input");
        }
        scaling = Scaling::from_json(read_bytes(command.load).view(), command.load);
        input.read.known =
            std::make_shared<const KnownColumns>(KnownColumns{.features = scaling.center().size()});
        data = read_input(input, session);
    } else {
        const ScalingRule rule = ScalingRule::parse(command.rule);
        data = read_input(input, session);
        scaling = Scaling::fit(rule, data.x);
    }
    data.x = apply_scaling(scaling, data.x, session);
    const InterruptLater later(command.save.empty() ? "-" : command.save);
    FilesTogether files;
    if (!command.save.empty()) {
        write_whole(command.save, [&](Output& out) { out.write(scaling.json()); });
    }
    write_data(data, output, session, {{"scaling", scaling.rule().text()}});
    files.keep();
}

}  // namespace

void add_scale(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "scale", "scale features, keep the scaling, apply it again",
        "  mercer scale train.csv -o train.scaled --scale 'minmax(-1,1)' --save range.json\n"
        "  mercer scale test.csv -o test.scaled --load range.json\n"
        "  mercer scale @digits --scale 1/16 --to csv");
    const auto input = add_input(command, session);
    const auto options = std::make_shared<ScaleCommand>();
    command
        .add_option("--scale", options->rule,
                    "standard, minmax, minmax(-1,1), unit, or a factor such as 1/255")
        ->type_name("RULE");
    add_file(command, session, "--save", options->save, FileUse::data,
             "keep the scaling in this file");
    add_file(command, session, "--load", options->load, FileUse::input,
             "apply the scaling kept in this file");
    const auto output = add_output(command, session);
    command.callback([&session, input, options, output] {
        session.action = [&session, input, options, output] {
            run(*options, *input, *output, session);
        };
    });
}

}  // namespace mercer::cli
