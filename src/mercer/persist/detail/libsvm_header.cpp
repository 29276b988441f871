// The header of LIBSVM's model file: lines "key values" up to the line "SV".
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "mercer/learn/calibration.hpp"
#include "mercer/learn/detail/density_marks.hpp"
#include "mercer/learn/detail/model_check.hpp"
#include "mercer/persist/detail/libsvm_read.hpp"

namespace mercer::persist {
namespace {

/// A matrix of coefficients larger than this is refused unless the file itself is that large: a
/// line has a number for each class, a point in a model one for each pair of classes.
constexpr std::size_t most_coefficient_bytes = std::size_t{1} << 30;

std::string one_of(LibsvmReader& in, const std::string& what,
                   const std::vector<std::string>& allowed) {
    const Word word = in.next_word();
    std::string list;
    for (const std::string& name : allowed) {
        if (word.text == name) return name;
        list += (list.empty() ? "" : ", ") + name;
    }
    in.fail(word, what + " must be one of " + list + "; found " + LibsvmReader::shown(word));
}

/// The numbers of a key, so many as they must be.
const std::vector<double>& numbers_of(const LibsvmHeader& header, const char* key,
                                      std::size_t wanted, const std::string& name) {
    const auto found = header.numbers.find(key);
    if (found == header.numbers.end()) {
        throw InvalidInput(Location{.file = name}, std::string("the header has no '") + key + "'");
    }
    if (found->second.size() != wanted) {
        throw InvalidInput(Location{.file = name}, std::string("'") + key + "' has " +
                                                       std::to_string(found->second.size()) +
                                                       " numbers, expected " +
                                                       std::to_string(wanted));
    }
    return found->second;
}

/// Numbers that count, each at most `most`.
std::vector<std::size_t> counts_of(const LibsvmHeader& header, const char* key, std::size_t wanted,
                                   std::size_t most, const std::string& name) {
    std::vector<std::size_t> result;
    for (const double value : numbers_of(header, key, wanted, name)) {
        if (!(value >= 0) || value != std::floor(value) || value > static_cast<double>(most)) {
            throw InvalidInput(Location{.file = name},
                               std::string("'") + key + "' must be whole numbers between 0 and " +
                                   std::to_string(most) + ", found " + format_number(value));
        }
        result.push_back(static_cast<std::size_t>(value));
    }
    return result;
}

Kernel kernel_of(const LibsvmHeader& header, const std::string& name) {
    const auto number = [&](const char* key) { return numbers_of(header, key, 1, name)[0]; };
    try {
        if (header.kernel == "linear") return linear();
        if (header.kernel == "precomputed") return precomputed();
        if (header.kernel == "rbf") return rbf({.gamma = number("gamma")});
        if (header.kernel == "sigmoid") {
            return sigmoid({.gamma = number("gamma"), .coef0 = number("coef0")});
        }
        const std::size_t degree = counts_of(header, "degree", 1, 1000, name)[0];
        return polynomial({.degree = static_cast<int>(degree),
                           .gamma = number("gamma"),
                           .coef0 = number("coef0")});
    } catch (const InvalidInput& error) {
        if (!error.location().file.empty()) throw;
        throw InvalidInput(Location{.file = name}, error.what());
    }
}

Task task_of(const std::string& type) {
    if (type == "c_svc") return Task::svc;
    if (type == "nu_svc") return Task::nu_svc;
    if (type == "one_class") return Task::one_class;
    return type == "epsilon_svr" ? Task::svr : Task::nu_svr;
}

}  // namespace

/// The lines up to "SV".
LibsvmHeader read_libsvm_header(LibsvmReader& in) {
    static const std::vector<std::string> number_keys{
        "degree", "gamma", "coef0", "nr_class", "total_sv",          "rho",
        "label",  "probA", "probB", "nr_sv",    "prob_density_marks"};
    LibsvmHeader header;
    while (in.next_line()) {
        const Word key = in.next_word();
        const std::string name(key.text.substr(0, 32));
        if (name == "SV") {
            in.end_line();
            return header;
        }
        if ((name == "svm_type" && !header.type.empty()) ||
            (name == "kernel_type" && !header.kernel.empty()) || header.has(name)) {
            in.fail(key, "'" + name + "' is given twice");
        }
        if (name == "svm_type") {
            header.type =
                one_of(in, name, {"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"});
            in.end_line();
        } else if (name == "kernel_type") {
            header.kernel =
                one_of(in, name, {"linear", "polynomial", "rbf", "sigmoid", "precomputed"});
            in.end_line();
        } else if (std::ranges::find(number_keys, name) != number_keys.end()) {
            std::vector<double>& values = header.numbers[name];
            for (Word word = in.next_word(); !word.text.empty(); word = in.next_word()) {
                values.push_back(in.number(word, name));
            }
        } else {
            in.fail(key, key.text.empty() ? std::string("an empty line in the header")
                                          : "unknown key " + quoted(key.text) +
                                                "; is this a LIBSVM model file?");
        }
    }
    in.fail_line("the file ends before the line 'SV'; is it a LIBSVM model file, cut short?");
}

LibsvmCounts check_counts(const LibsvmHeader& header, std::size_t file_bytes,
                          const std::string& name) {
    if (header.type.empty() || header.kernel.empty()) {
        throw InvalidInput(Location{.file = name},
                           std::string("the header has no '") +
                               (header.type.empty() ? "svm_type" : "kernel_type") +
                               "'; is this a LIBSVM model file?");
    }
    LibsvmCounts counts;
    counts.classes = counts_of(header, "nr_class", 1, 1'000'000, name)[0];
    counts.total = counts_of(header, "total_sv", 1, file_bytes, name)[0];
    if (counts.classes < 2 || (!header.classifies() && counts.classes != 2)) {
        throw InvalidInput(Location{.file = name},
                           "'nr_class' is " + std::to_string(counts.classes) + "; " + header.type +
                               " needs " + (header.classifies() ? "at least 2" : "2"));
    }
    counts.group_sizes = {counts.total, 0};
    if (header.classifies()) {
        counts.group_sizes = counts_of(header, "nr_sv", counts.classes, file_bytes, name);
        std::size_t sum = 0;
        for (const std::size_t size : counts.group_sizes) sum += size;
        if (sum != counts.total) {
            throw InvalidInput(Location{.file = name}, "'nr_sv' adds up to " + std::to_string(sum) +
                                                           " and 'total_sv' is " +
                                                           std::to_string(counts.total));
        }
    }
    // The numbers of 'rho' stand in the file, so their count is no surprise to memory.
    const std::size_t outputs = numbers_of(header, "rho", pairs_of(counts.classes), name).size();
    const std::size_t most = std::max(most_coefficient_bytes, file_bytes) / sizeof(double);
    if (counts.total > most / outputs) {
        throw InvalidInput(Location{.file = name},
                           std::to_string(counts.total) + " support vectors for " +
                               std::to_string(outputs) +
                               " pairs of classes need more coefficients than fit in memory");
    }
    return counts;
}

void fill_from_header(const LibsvmHeader& header, const LibsvmCounts& counts, ModelParts& model,
                      const std::string& name) {
    model.task = task_of(header.type);
    model.expansion.kernel = kernel_of(header, name);
    const std::size_t outputs = pairs_of(counts.classes);
    for (const double rho : numbers_of(header, "rho", outputs, name)) {
        model.expansion.bias.push_back(rho == 0 ? 0 : -rho);
    }
    if (header.classifies()) {
        for (const double label : numbers_of(header, "label", counts.classes, name)) {
            if (label != std::floor(label) || std::abs(label) > 2147483648.0) {
                throw InvalidInput(
                    Location{.file = name},
                    "'label' must be whole numbers of 32 bits, found " + format_number(label));
            }
            model.class_values.push_back(label);
            model.class_names.push_back(format_number(label == 0 ? 0 : label));
        }
    }
    if (header.has("prob_density_marks") && model.task == Task::one_class) {
        Matrix<double> marks(1, density_mark_count);
        marks.values() = numbers_of(header, "prob_density_marks", density_mark_count, name);
        model.extras.set(DensityMarks(std::move(marks)));
    }
    if (header.has("probA") && model.task != Task::one_class) {
        const std::vector<double>& a = numbers_of(header, "probA", outputs, name);
        std::vector<Sigmoid> sigmoids;
        for (std::size_t pair = 0; pair < outputs; ++pair) {
            const double b =
                header.classifies() ? numbers_of(header, "probB", outputs, name)[pair] : 0;
            sigmoids.push_back({a[pair], b});
        }
        model.extras.set(Calibration(std::move(sigmoids)));
    }
}

}  // namespace mercer::persist
