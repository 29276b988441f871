// mercer gram: the matrix of kernel values.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "cli/common/ranks.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/data/source.hpp"
#include "mercer/dist/communicator.hpp"
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

bool fits_memory(double rows, double columns, std::size_t item) {
    return rows * columns * static_cast<double>(item) <
           0.8 * static_cast<double>(physical_memory());
}

void check_memory(const Dataset& data, const Dataset& base, std::size_t item) {
    const auto rows = static_cast<double>(data.size()), columns = static_cast<double>(base.size());
    if (fits_memory(rows, columns, item)) return;
    throw InvalidInput(fmt::format(
        "a Gram matrix of {} by {} takes {:.3g} GB, this machine has {:.3g}; write it to an array "
        "(.npy), which need not be in memory, or use fewer rows",
        data.size(), base.size(), rows * columns * static_cast<double>(item) / 1e9,
        static_cast<double>(physical_memory()) / 1e9));
}

/// k(rows of `data`, rows of `reference`) strip by strip. Several ranks have one each in turn.
template <class T>
class Strips {
   public:
    Strips(const Kernel& kernel, const Dataset& data, const Dataset* reference,
           const Progress& progress)
        : rows_(data.size()),
          gram_(kernel, (reference ? *reference : data).x,
                (reference ? *reference : data).feature_names, progress) {
        if (reference) points_ = gram_.prepare(data.x);
    }

    const Gram<T>& gram() const { return gram_; }
    std::size_t rows() const { return rows_; }
    /// So many times must every rank call `round`.
    std::size_t rounds() const {
        const std::size_t at_once = gram_.strip() * current_ranks().size();
        return (rows_ + at_once - 1) / at_once;
    }
    /// Where the rows of a round begin.
    std::size_t begin(std::size_t round) const {
        return round * gram_.strip() * current_ranks().size();
    }
    /// The strips of all ranks, one after another, on the first of them; nothing on others.
    std::vector<T> round(std::size_t number) const {
        Communicator& ranks = current_ranks();
        const std::size_t first = std::min(rows_, begin(number) + ranks.rank() * gram_.strip());
        const std::size_t count = std::min(gram_.strip(), rows_ - first);
        std::vector<T> values(count * gram_.size());
        const MatrixView<T> view(values.data(), count, gram_.size());
        if (count > 0 && points_.size() == 0) gram_.matrix_rows(first, view);
        if (count > 0 && points_.size() > 0) {
            std::vector<std::size_t> positions(count);
            std::iota(positions.begin(), positions.end(), first);
            gram_.block(gram_.select(points_, positions, false), gram_.reference(), view);
        }
        if (ranks.size() == 1) return values;
        return ranks.gather_at_first(std::span<const T>(values));
    }

   private:
    std::size_t rows_;
    Gram<T> gram_;
    Points<T> points_{};  ///< of other rows than the engine's own
};

/// All of k(rows of `data`, rows of `reference`) as rows of a data set that keeps the labels of
/// `data`. Of several ranks the first has it.
template <class T>
std::pair<Dataset, Kernel> gram_of(const Kernel& kernel, const Dataset& data,
                                   const Dataset* reference, const Session& session) {
    const Dataset& base = reference != nullptr ? *reference : data;
    check_memory(data, base, sizeof(T));
    const Progress progress = progress_line(session);
    std::vector<T> values;
    Kernel resolved = kernel;
    if (several_ranks()) {
        const Strips<T> strips(kernel, data, reference, progress);
        resolved = strips.gram().kernel();
        for (std::size_t k = 0; k < strips.rounds(); ++k) {
            const std::vector<T> more = strips.round(k);
            values.insert(values.end(), more.begin(), more.end());
        }
    } else {
        const Gram<T> gram(kernel, base.x, base.feature_names, progress);
        resolved = gram.kernel();
        values.resize(data.size() * base.size());
        const MatrixView<T> view(values.data(), data.size(), base.size());
        if (reference != nullptr) {
            gram.block(gram.prepare(data.x), gram.reference(), view);
        } else {
            gram.matrix(view, progress);
        }
    }
    clear_progress_line();
    Dataset result;
    result.x = Rows::dense(std::move(values), base.size());
    result.y = data.y;
    result.weights = data.weights;
    result.roles.label_name = data.roles.label_name;
    return {std::move(result), resolved};
}

/// To an array, strip by strip: no rank holds more than some of them.
template <class T>
void write_strips(const Kernel& kernel, const Dataset& data, const Dataset* reference,
                  const OutputOptions& output, const Session& session) {
    WriteOptions options = write_options(output);
    options.progress = progress_line(session);
    const Strips<T> strips(kernel, data, reference, options.progress);
    if (!is_first_rank()) {
        for (std::size_t k = 0; k < strips.rounds(); ++k) strips.round(k);
        return;
    }
    const std::size_t columns = strips.gram().size();
    std::size_t number = 0;
    const InterruptLater later(output.path);
    write_blocks(
        {.rows = strips.rows(),
         .columns = columns,
         .is_double = std::is_same_v<T, double>,
         .block = [&](std::size_t) { return Rows::dense(strips.round(number++), columns); }},
        output.path, options);
    clear_progress_line();
    if (!session.json) return;
    print_json({{"output", output.path},
                {"rows", strips.rows()},
                {"columns", columns},
                {"kernel", strips.gram().kernel().text()}});
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
    // An array has no place for labels; whoever wants them beside it says so.
    const bool array = !written_format(output.path, write_options(output)).keeps.labels;
    if (array && output.write.labels_file.empty()) output.write.labels_file = "none";
    if (array && output.write.weights_file.empty()) output.write.weights_file = "none";
    const bool in_double = input.read.double_precision;
    const bool large = !fits_memory(static_cast<double>(data.size()),
                                    static_cast<double>(two ? reference.size() : data.size()),
                                    in_double ? sizeof(double) : sizeof(float));
    if ((several_ranks() || large) && command.function.empty() && !command.precomputed &&
        takes_blocks(output.path, write_options(output)) && output.write.labels_file == "none" &&
        output.write.weights_file == "none") {
        return in_double ? write_strips<double>(kernel, data, against, output, session)
                         : write_strips<float>(kernel, data, against, output, session);
    }
    auto [gram, resolved] = in_double ? gram_of<double>(kernel, data, against, session)
                                      : gram_of<float>(kernel, data, against, session);
    if (!is_first_rank()) return;
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
