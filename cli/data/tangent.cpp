// mercer tangent: rows in which known changes count less.
#include <string>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/picture/tangent.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer::cli {
namespace {

struct TangentCommand {
    std::string ways;
    std::string shape;
    std::string sample;
    std::string kernel;
    double background = 0;
    double lambda = 0.1;
    bool relative = false;
    std::size_t landmarks = 1000;
    std::size_t components = 200;
    std::uint64_t seed = 1;
};

TangentMap map_of(const TangentCommand& c, const Dataset& sample, const Progress& progress) {
    const ImageShape shape = parse_shape(c.shape, sample.columns(), c.background);
    const std::vector<NamedTransform> ways = parse_transforms(c.ways, shape);
    const TangentUnit unit = c.relative ? TangentUnit::mean : TangentUnit::rows;
    if (c.kernel.empty()) return TangentMap::linear(sample.x, ways, c.lambda, progress, unit);
    FeatureMap map =
        eigen_map(Kernel::parse(c.kernel), draw_landmarks(sample.x, c.landmarks, c.seed),
                  c.components, sample.feature_names, progress);
    return TangentMap::through(std::move(map), sample.x, ways, c.lambda, progress, unit);
}

void run(const TangentCommand& c, const InputOptions& input, const OutputOptions& output,
         const Session& session) {
    check_output(output, session);
    Dataset data = read_input(input, session);
    Dataset sample;
    if (!c.sample.empty()) sample = read_another(c.sample, data, input, session);
    const Progress progress = progress_line(session);
    const TangentMap map = map_of(c, c.sample.empty() ? data : sample, progress);
    data.x = map(data.x, progress);
    data.feature_names.clear();
    clear_progress_line();
    write_data(data, output, session,
               {{"lambda", c.lambda},
                {"features", map.features()},
                {"largest", map.covariance().values().back()}});
}

}  // namespace

void add_tangent(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "tangent", "preprocess rows so that known changes of them count less",
        "  mercer tangent zip.train.gz --label first --with 'shift(0.5)' --background -1 \\\n"
        "      --lambda 0.1 -o train.npz\n"
        "  mercer tangent zip.test.gz --sample zip.train.gz --label first --with 'shift(0.5)' \\\n"
        "      --background -1 --lambda 0.1 -o test.npz\n"
        "Rows are multiplied by C^(-1/2), C = (1 - lambda) T + lambda I with T the covariance of\n"
        "the differences between the rows of --sample and their images. lambda 1 changes nothing.\n"
        "T is in squares of the rows' unit, so that a lambda is good for one unit and size of "
        "change\n"
        "alone; --relative divides T by its mean eigenvalue first, and it is good for all.\n"
        "With --kernel the same happens to the features of its kernel PCA map, after which a\n"
        "linear kernel is what is wanted.");
    const auto o = std::make_shared<TangentCommand>();
    const auto input = add_input(command, session);
    command.add_option("--with", o->ways, "the list of changes, as for virtual")
        ->required()
        ->type_name("LIST");
    command.add_option("--lambda", o->lambda, "between 0 and 1 [0.1]")->type_name("X");
    command.add_flag("--relative", o->relative, "lambda against T over its mean eigenvalue");
    add_file(command, session, "--sample", o->sample, FileUse::input,
             "rows the tangents are of [INPUT itself]");
    command.add_option("--shape", o->shape, "HEIGHTxWIDTH of the pictures [a square]")
        ->type_name("HxW");
    command.add_option("--background", o->background, "the value around the pictures [0]")
        ->type_name("X");
    const CLI::Option* const kernel =
        command
            .add_option("--kernel", o->kernel, "through the kernel PCA map of this kernel [none]")
            ->type_name("EXPR");
    only(session,
         {add_count(command, "--landmarks", o->landmarks, 1, 40'000,
                    "rows of the sample the map goes through [1000]"),
          add_count(command, "--components", o->components, 1, 40'000, "features of the map [200]"),
          add_seed(command, o->seed, "how landmarks are drawn [1]")},
         with({kernel}));
    const auto output = add_output(command, session);
    command.callback([&session, o, input, output] {
        session.action = [&session, o, input, output] { run(*o, *input, *output, session); };
    });
}

}  // namespace mercer::cli
