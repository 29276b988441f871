// mercer convert: from one file format to another.
#include <string>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "mercer/data/scaling.hpp"

namespace mercer::cli {

void add_convert(CLI::App& program, Session& session) {
    CLI::App& command = add_command(program, "convert", "convert a data file to another format",
                                    "  mercer convert wine.csv -o wine.libsvm --label class\n"
                                    "  mercer convert train-images-idx3-ubyte.gz -o mnist.npz "
                                    "--scale 1/255\n"
                                    "  zcat a9a.gz | mercer convert - --to csv > a9a.csv");
    const auto input = add_input(command, session);
    const auto scale = std::make_shared<std::string>("none");
    command
        .add_option("--scale", *scale,
                    "scale on the way: standard, minmax, minmax(-1,1), unit, or a factor such as "
                    "1/255")
        ->type_name("RULE");
    const auto output = add_output(command, session);
    command.callback([&session, input, scale, output] {
        session.action = [&session, input, scale, output] {
            check_output(*output, session);
            const ScalingRule rule = ScalingRule::parse(*scale);
            input->read.exact = true;
            Dataset data = read_input(*input, session);
            data.x = apply_scaling(Scaling::fit(rule, data.x), data.x, session);
            write_data(data, *output, session);
        };
    });
}

}  // namespace mercer::cli
