// mercer make: sample data by formula.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "mercer/data/samples.hpp"

namespace mercer::cli {

void add_make(CLI::App& program, Session& session) {
    CLI::App& command = add_command(program, "make", "make a data set by formula",
                                    "  mercer make moons --n 500 --noise 0.2 -o moons.csv\n"
                                    "  mercer make blobs --classes 5 --columns 10 --to libsvm\n"
                                    "  mercer make sinc --seed 7 | mercer info -");
    const auto kind = std::make_shared<std::string>();
    std::vector<std::string> names;
    std::string about = "what to make:";
    for (const SampleEntry& entry : sample_table()) {
        names.push_back(entry.name);
        about += fmt::format("\n{:<14}{}", entry.name, entry.about);
    }
    CLI::Option* const option = command.add_option("KIND", *kind, about)->required();
    option->type_name("");
    session.choices[option] = names;

    const auto options = std::make_shared<SampleOptions>();
    command.add_option("-n,--n", options->n, "rows [200]")->type_name("N");
    command
        .add_option("--noise", options->noise, "standard deviation; each kind has its own default")
        ->type_name("X");
    add_seed(command, options->seed, "the same seed gives the same data [1]");
    only(session,
         {command.add_option("--classes", options->classes, "blobs: how many [3]")->type_name("N"),
          command.add_option("--columns", options->columns, "blobs: how many [2]")->type_name("N")},
         for_words(option, *kind, {"blobs"}));
    only(session,
         command.add_option("--turns", options->turns, "spirals: windings of an arm [1.5]")
             ->type_name("X"),
         for_words(option, *kind, {"spirals"}));
    only(session,
         command.add_option("--cells", options->cells, "checkerboard: squares along a side [4]")
             ->type_name("N"),
         for_words(option, *kind, {"checkerboard"}));
    const auto output = add_output(command, session);
    command.callback([&session, kind, options, output] {
        session.action = [&session, kind, options, output] {
            check_output(*output, session);
            write_data(make(*kind, *options), *output, session);
        };
    });
}

}  // namespace mercer::cli
