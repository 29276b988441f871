#include "cli/libsvm/libsvm.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "cli/common/tell.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/read.hpp"

namespace mercer::cli {
namespace {

constexpr std::array<std::string_view, 3> program_names{"svm-train", "svm-predict", "svm-scale"};

constexpr std::string_view train_usage =
    R"(Usage: svm-train [options] training_set_file [model_file]
Trains a support vector machine on data in LIBSVM's text format.
options:
-s svm_type : the machine (default 0)
	0 -- C-SVC, classes with a price C on errors
	1 -- nu-SVC, classes with a share nu of errors
	2 -- one-class SVM, the region of a single sample
	3 -- epsilon-SVR, regression with a tube of half width epsilon
	4 -- nu-SVR, regression with a share nu outside a tube that finds its width
-t kernel_type : the kernel (default 2)
	0 -- linear: u'*v
	1 -- polynomial: (gamma*u'*v + coef0)^degree
	2 -- Gaussian: exp(-gamma*|u-v|^2)
	3 -- sigmoid: tanh(gamma*u'*v + coef0)
	4 -- precomputed: lines are "label 0:number 1:k(x,x1) 2:k(x,x2) ..."
-d degree : of the polynomial kernel (default 3)
-g gamma : of the kernel (default 1/num_features)
-r coef0 : of the kernel (default 0)
-c cost : C of C-SVC, epsilon-SVR and nu-SVR (default 1)
-n nu : nu of nu-SVC, one-class SVM and nu-SVR (default 0.5)
-p epsilon : half the width of the tube of epsilon-SVR (default 0.1)
-m cachesize : memory for kernel values in MB (default 1024)
-e epsilon : stop at this violation of the optimality conditions (default 0.001)
-h shrinking : set rows aside that seem settled, 0 or 1 (default 1)
-b probability_estimates : learn probabilities too, 0 or 1 (default 0)
-wi weight : C of class i is weight*C, for C-SVC (default 1)
-v n : n-fold cross-validation instead of a model
-q : quiet
)";

constexpr std::string_view predict_usage =
    R"(Usage: svm-predict [options] test_file model_file output_file
Predicts with a model, one label per line.
options:
-b probability_estimates : predict probabilities too, 0 or 1 (default 0)
-q : quiet
)";

constexpr std::string_view scale_usage = R"(Usage: svm-scale [options] data_filename
Scales each feature linearly to a range; the result goes to standard output.
options:
-l lower : lower end of the range (default -1)
-u upper : upper end of the range (default +1)
-y y_lower y_upper : scale the targets too, to this range (default: no)
-s save_filename : keep the scaling in this file
-r restore_filename : apply the scaling kept in this file
)";

std::string_view usage_of(std::string_view program) {
    if (program == program_names[0]) return train_usage;
    return program == program_names[1] ? predict_usage : scale_usage;
}

int fail(const std::string& message) {
    tell("{}\n", message);
    return 1;
}

ReadOptions reading() {
    ReadOptions options;
    options.format = "libsvm";
    options.double_precision = true;
    options.longest_line = std::size_t{1} << 31;  // a line of a precomputed matrix is long
    return options;
}

template <class Read>
Dataset checked(Read read) {
    try {
        Dataset data = read();
        if (data.y.empty()) throw LibsvmFailure{"Wrong input format at line 1\nlabels are missing"};
        return data;
    } catch (const InvalidInput& error) {
        if (error.location().line == 0) throw;
        throw LibsvmFailure{
            fmt::format("Wrong input format at line {}\n{}", error.location().line, error.what())};
    }
}

}  // namespace

void add_libsvm_programs(CLI::App& program) {
    for (const std::string_view name : program_names) {
        CLI::App& command = *program.add_subcommand(
            std::string(name), fmt::format("LIBSVM's {}: its options, its files", name));
        command.footer(std::string(usage_of(name)));
        command.group("In LIBSVM's place");
    }
}

std::string libsvm_program(std::string_view name) {
    for (const std::string_view program : program_names) {
        if (name.ends_with(program)) return std::string(program);
    }
    return {};
}

int run_libsvm_program(const std::string& program, const std::vector<std::string>& words) {
    try {
        if (words == std::vector<std::string>{"--help"}) {
            say("{}", usage_of(program));
            return 0;
        }
        const int code = program == program_names[0]   ? svm_train(words)
                         : program == program_names[1] ? svm_predict(words)
                                                       : svm_scale(words);
        finish_standard_output();
        return code;
    } catch (const LibsvmFailure& failure) {
        return fail(failure.message);
    } catch (const LibsvmUsage& usage) {
        if (!usage.complaint.empty()) fail(usage.complaint);
        say("{}", usage_of(program));
        return 1;
    } catch (const InvalidInput& error) {
        return fail(std::string("ERROR: ") + error.what());
    }
}

std::string LibsvmArguments::next_option() {
    if (at_ >= words_.size() || words_[at_].empty() || words_[at_][0] != '-') return {};
    option_ = words_[at_++];
    return option_;
}

std::string LibsvmArguments::text() {
    if (at_ >= words_.size()) throw LibsvmUsage{};
    return words_[at_++];
}

double LibsvmArguments::number() {
    const std::string word = text();
    const std::string_view digits = std::string_view(word).substr(word.starts_with('+') ? 1 : 0);
    const auto value = parse_number(digits);
    if (!value) {
        throw LibsvmUsage{
            fmt::format("option {} takes a number, found {}", option_, mercer::quoted(word))};
    }
    return *value;
}

int LibsvmArguments::whole() {
    const double value = number();
    if (value != std::floor(value) || std::abs(value) > std::numeric_limits<int>::max()) {
        throw LibsvmUsage{fmt::format("option {} takes a whole number, found {}", option_,
                                      mercer::quoted(words_[at_ - 1]))};
    }
    return static_cast<int>(value);
}

bool LibsvmArguments::flag() {
    const int value = whole();
    if (value != 0 && value != 1) {
        throw LibsvmUsage{fmt::format("option {} takes 0 or 1, found {}", option_, value)};
    }
    return value == 1;
}

void check_opens(const std::string& path, const char* what) {
    struct stat found {};
    if (access(path.c_str(), R_OK) == 0 && stat(path.c_str(), &found) == 0 &&
        !S_ISDIR(found.st_mode)) {
        return;
    }
    throw LibsvmFailure{fmt::format("can't open {} {}", what, path)};
}

Dataset read_libsvm_data(const std::string& path, std::size_t first_index) {
    ReadOptions options = reading();
    options.first_index = first_index;
    return checked([&] { return read(path, options); });
}

Dataset read_libsvm_data(std::string_view text, const std::string& path) {
    ReadOptions options = reading();
    options.first_index = 0;
    options.form = RowForm::sparse;
    return checked([&] { return read_text(text, path, options); });
}

}  // namespace mercer::cli
