// mercer virtual: rows as pictures, changed in ways that keep their meaning.
#include <cmath>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/output.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer::cli {
namespace {

struct VirtualCommand {
    std::string ways;
    std::string shape;
    std::string support;
    double background = 0;
    bool replace = false;
};

/// True when every value is a whole number: pictures of bytes stay such.
bool all_whole(const Rows& rows) {
    std::vector<double> row(rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        for (const double v : row) {
            if (v != std::floor(v)) return false;
        }
    }
    return true;
}

void run(const VirtualCommand& c, const InputOptions& input, const OutputOptions& output,
         const Session& session) {
    check_output(output, session);
    Dataset data = read_input(input, session);
    const ImageShape shape = parse_shape(c.shape, data.columns(), c.background);
    std::vector<NamedTransform> ways = parse_transforms(c.ways, shape);
    const std::size_t all = data.size();
    if (!c.support.empty()) data = support_rows(read_model(c.support), data);
    const bool whole = c.ways.find("contrast") == std::string::npos && all_whole(data.x);
    if (whole) {
        for (NamedTransform& way : ways) {
            way.transform = [inner = way.transform](std::span<const double> row,
                                                    std::span<double> out) {
                inner(row, out);
                for (double& v : out) v = std::round(v);
            };
        }
    }
    const Progress progress = progress_line(session);
    const std::size_t used = data.size();
    if (c.replace) {
        for (const NamedTransform& way : ways)
            data.x = transformed(data.x, way.transform, progress);
    } else {
        data = with_virtual_examples(data, ways, progress);
    }
    clear_progress_line();
    write_data(
        data, output, session,
        {{"input_rows", all}, {"used_rows", used}, {"ways", ways.size()}, {"rounded", whole}});
}

}  // namespace

void add_virtual(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "virtual", "change rows that are pictures: virtual examples, deskewing",
        "  mercer virtual train-images-idx3-ubyte --with deskew --replace -o straight.npz\n"
        "  mercer train straight.npz first.mercer --kernel 'polynomial(degree=9)' --scale unit\n"
        "  mercer virtual straight.npz --support first.mercer --with 'shift(1), shift(2)' \\\n"
        "      -o more.npz\n"
        "  mercer train more.npz second.mercer --kernel 'polynomial(degree=9)' --scale unit\n"
        "  mercer virtual straight.npz --with '16*deform(1)' -o million.npz\n"
        "Rows come first, then all of them changed in each way: shift(n), rotate(degrees),\n"
        "scale(factor), shear(s), thicken(a), elastic(a), deform(a), deskew. Of these deform(a)\n"
        "changes every row in a way of its own, 16*deform(a) in sixteen. --support takes only the\n"
        "rows a model trained on INPUT uses. Whole numbers stay whole.");
    const auto o = std::make_shared<VirtualCommand>();
    const auto input = add_input(command, session);
    command.add_option("--with", o->ways, "the list of ways")->required()->type_name("LIST");
    command.add_option("--shape", o->shape, "HEIGHTxWIDTH of the pictures [a square]")
        ->type_name("HxW");
    command.add_option("--background", o->background, "the value around the pictures [0]")
        ->type_name("X");
    add_file(command, session, "--support", o->support, FileUse::input,
             "only the support vectors of this model");
    command.add_flag("--replace", o->replace, "the ways one after another, no row more");
    const auto output = add_output(command, session);
    command.callback([&session, o, input, output] {
        session.action = [&session, o, input, output] { run(*o, *input, *output, session); };
    });
}

}  // namespace mercer::cli
