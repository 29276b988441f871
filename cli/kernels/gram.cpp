// mercer gram: the matrix of kernel values.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/data/source.hpp"
#include "mercer/feature/spectral.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer::cli {
namespace {

struct GramCommand {
    std::string kernel;
    std::string function;
    std::string against;
    bool precomputed = false;
};

void check_memory(std::size_t rows, std::size_t columns, std::size_t item) {
    const double bytes =
        static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(item);
    if (bytes < 0.8 * static_cast<double>(physical_memory())) return;
    throw InvalidInput(fmt::format(
        "a Gram matrix of {} by {} takes {:.3g} GB, this machine has {:.3g}; use fewer rows", rows,
        columns, bytes / 1e9, static_cast<double>(physical_memory()) / 1e9));
}

/// k(rows of `data`, rows of `reference`) as rows of a data set that keeps the labels of `data`.
template <class T>
std::pair<Dataset, Kernel> gram_of(const Kernel& kernel, const Dataset& data,
                                   const Dataset* reference, const Session& session) {
    const Dataset& base = reference != nullptr ? *reference : data;
    check_memory(data.size(), base.size(), sizeof(T));
    const Progress progress = progress_line(session);
    const Gram<T> gram(kernel, base.x, base.feature_names, progress);
    std::vector<T> values(data.size() * base.size());
    const MatrixView<T> view(values.data(), data.size(), base.size());
    if (reference != nullptr) {
        gram.block(gram.prepare(data.x), gram.reference(), view);
    } else {
        gram.matrix(view, progress);
    }
    clear_progress_line();
    Dataset result;
    result.x = Rows::dense(std::move(values), base.size());
    result.y = data.y;
    result.weights = data.weights;
    result.roles.label_name = data.roles.label_name;
    return {std::move(result), gram.kernel()};
}

/// f(K) in the place of K.
template <class T>
void apply_function(const std::string& text, Dataset& gram) {
    Matrix<double> k(gram.size(), gram.columns());
    for (std::size_t i = 0; i < gram.size(); ++i) gram.x.copy_row(i, k.row(i));
    const Matrix<double> result = apply_functions(std::as_const(k).view(), text);
    gram.x =
        Rows::dense(std::vector<T>(result.values().begin(), result.values().end()), gram.columns());
}

/// LIBSVM's text for precomputed kernels: "label 0:row 1:k 2:k …", every value written, because its
/// readers find them by position.
void write_precomputed(const Dataset& gram, const std::string& path) {
    require_finite(gram.x);
    const InterruptLater later(path);
    write_whole(path, [&](Output& out) {
        std::vector<double> row(gram.columns());
        for (std::size_t i = 0; i < gram.size(); ++i) {
            gram.x.copy_row(i, row);
            const double label = gram.y.empty() ? 0 : gram.y.values[i];
            std::string line = fmt::format("{} 0:{}", format_number(label), i + 1);
            for (std::size_t j = 0; j < row.size(); ++j) {
                fmt::format_to(std::back_inserter(line), " {}:{:.9g}", j + 1, row[j]);
            }
            line += '\n';
            out.write(line);
        }
    });
}

void run(const GramCommand& command, const InputOptions& input, OutputOptions output,
         const Session& session) {
    check_output(output, session);
    const Kernel kernel = Kernel::parse(command.kernel);
    if (!command.function.empty()) {
        check_functions(command.function);  // a slip is said before the data is read
    }
    const Dataset data = read_input(input, session);
    Dataset reference;
    const bool two = !command.against.empty();
    if (two) reference = read_another(command.against, data, input, session);
    const Dataset* const against = two ? &reference : nullptr;
    auto [gram, resolved] = input.read.double_precision
                                ? gram_of<double>(kernel, data, against, session)
                                : gram_of<float>(kernel, data, against, session);
    if (!command.function.empty()) {
        if (input.read.double_precision) {
            apply_function<double>(command.function, gram);
        } else {
            apply_function<float>(command.function, gram);
        }
    }
    if (command.precomputed) {
        write_precomputed(gram, output.path);
        return;
    }
    // An array has no place for labels; whoever wants them beside it says so.
    const bool array = !written_format(output.path, write_options(output)).keeps.labels;
    if (array && output.write.labels_file.empty()) output.write.labels_file = "none";
    if (array && output.write.weights_file.empty()) output.write.weights_file = "none";
    write_data(gram, output, session, {{"kernel", resolved.text()}});
}

}  // namespace

void add_gram(CLI::App& program, Session& session) {
    CLI::App& command =
        add_command(program, "gram", "compute the Gram matrix of a kernel",
                    "  mercer gram 'rbf(gamma=scale)' @iris -o gram.npy\n"
                    "  mercer gram 'linear' test.libsvm --against train.libsvm -o k.csv\n"
                    "  mercer gram 'sigmoid(gamma=0.1)' @iris --function clip -o repaired.npy\n"
                    "  mercer gram 'laplacian(gamma=0.1)' @digits --precomputed -o digits.pre");
    const auto options = std::make_shared<GramCommand>();
    command.add_option("KERNEL", options->kernel, "the expression; quote it for the shell")
        ->required()
        ->type_name("");
    const auto input = add_input(command, session);
    const CLI::Option* const against =
        add_file(command, session, "--against", options->against, FileUse::input,
                 "k(rows of INPUT, rows of FILE); FILE settles gamma=scale and the like");
    only(session,
         command
             .add_option("--function", options->function,
                         "f(K) instead of K: power(0.5), exp(0.1), log, the embeddings "
                         "isomap(7), lle(7), laplacian(7), or to repair an indefinite matrix clip, "
                         "flip, shift; several with spaces between, 'isomap(7) clip'")
             ->type_name("F"),
         without(against,
                 "it needs the whole matrix of one sample: put all rows into INPUT instead"));
    const CLI::Option* const precomputed = command.add_flag(
        "--precomputed", options->precomputed, "write LIBSVM's text for precomputed kernels");
    const auto output = add_output(command, session);
    only(session, output->options, without(precomputed, "that is a format of its own"));
    command.callback([&session, options, input, output] {
        session.action = [&session, options, input, output] {
            run(*options, *input, *output, session);
        };
    });
}

}  // namespace mercer::cli
