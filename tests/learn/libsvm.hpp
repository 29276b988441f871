// LIBSVM's own programs, run on the same rows: a second opinion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/support.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/write.hpp"

namespace mercer::testing {

/// What LIBSVM says about one training, problem by problem. Numbers it prints are rounded to six
/// decimals.
struct PeerProblem {
    double objective = 0;    ///< as printed: that of the minimisation
    double inverse_rho = 0;  ///< ν-SVC: 1/ρ
    double epsilon = 0;      ///< ν-SVR: the tube it found
};
struct PeerAnswer {
    bool converged = false;  ///< it ended without a warning about its iterations
    std::vector<PeerProblem> problems{};
    std::vector<double> predictions{};  ///< on the training rows; empty unless asked for
    std::string log{};
};

/// Rows in a file that LIBSVM can read, and what it makes of them.
class Peer {
   public:
    explicit Peer(const Dataset& data);

    PeerAnswer train(const std::string& options, bool predict) const;
    /// The number that -v prints: accuracy in percent, or mean squared error.
    double cross_validate(const std::string& options) const;
    /// LIBSVM's pairs of classes come in the order in which the classes first appear; ours in the
    /// order of the classes. Our position of each of its pairs.
    std::vector<std::size_t> pair_positions(const Dataset& data) const;

   private:
    std::string run(const std::string& command) const;

    Folder folder_{};
    std::string data_{};
};

/// The numbers after each "key = " of a log.
inline std::vector<double> numbers_after(const std::string& log, const std::string& key) {
    std::vector<double> found;
    for (std::size_t at = log.find(key); at != std::string::npos; at = log.find(key, at + 1)) {
        if (at > 0 && log[at - 1] != '\n' && log[at - 1] != ' ') continue;
        found.push_back(std::strtod(log.c_str() + at + key.size(), nullptr));
    }
    return found;
}

inline std::string shell_word(const std::string& text) {
    return '\'' + text + '\'';
}

/// True when svm-train and svm-predict can be called.
inline bool libsvm_is_installed() {
    return std::system("command -v svm-train >/dev/null && command -v svm-predict >/dev/null") == 0;
}

inline Peer::Peer(const Dataset& data) : data_(folder_.file("rows")) {
    Dataset plain = data;
    plain.weights.clear();  // LIBSVM text has none
    write(plain, data_, {.format = "libsvm"});
}

inline std::string Peer::run(const std::string& command) const {
    const std::string log = folder_.file("log");
    if (std::system((command + " >" + shell_word(log) + " 2>&1").c_str()) != 0) {
        throw std::runtime_error(command + ": " + content_of(log));
    }
    return content_of(log);
}

inline PeerAnswer Peer::train(const std::string& options, bool predict) const {
    const std::string model = folder_.file("model");
    PeerAnswer answer;
    answer.log = run("svm-train " + options + ' ' + shell_word(data_) + ' ' + shell_word(model));
    answer.converged = answer.log.find("reaching max number of iterations") == std::string::npos;
    const auto objectives = numbers_after(answer.log, "obj = ");
    const auto inverse_rho = numbers_after(answer.log, "C = ");
    const auto epsilon = numbers_after(answer.log, "epsilon = ");
    for (std::size_t i = 0; i < objectives.size(); ++i) {
        answer.problems.push_back({.objective = objectives[i],
                                   .inverse_rho = i < inverse_rho.size() ? inverse_rho[i] : 0,
                                   .epsilon = i < epsilon.size() ? epsilon[i] : 0});
    }
    if (!predict) return answer;
    const std::string labels = folder_.file("labels");
    run("svm-predict " + shell_word(data_) + ' ' + shell_word(model) + ' ' + shell_word(labels));
    std::istringstream lines(content_of(labels));
    for (double value = 0; lines >> value;) answer.predictions.push_back(value);
    return answer;
}

inline double Peer::cross_validate(const std::string& options) const {
    const std::string log = run("svm-train " + options + ' ' + shell_word(data_));
    const auto accuracy = numbers_after(log, "Accuracy = ");
    const auto error = numbers_after(log, "squared error = ");
    if (accuracy.empty() && error.empty()) throw std::runtime_error("no score in: " + log);
    return accuracy.empty() ? error.back() : accuracy.back();
}

inline std::vector<std::size_t> Peer::pair_positions(const Dataset& data) const {
    const Classes classes = classes_of(data.y);
    std::vector<std::size_t> appearance;
    for (const std::int32_t index : classes.index) {
        const auto c = static_cast<std::size_t>(index);
        if (std::ranges::find(appearance, c) == appearance.end()) appearance.push_back(c);
    }
    const std::size_t k = classes.count();
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = i + 1; j < k; ++j) {
            const std::size_t a = std::min(appearance[i], appearance[j]);
            const std::size_t b = std::max(appearance[i], appearance[j]);
            // Pairs (0,1), (0,2), …, (1,2), …: a·k − a(a+1)/2 come before those of class a.
            positions.push_back(a * k - a * (a + 1) / 2 + (b - a - 1));
        }
    }
    return positions;
}

}  // namespace mercer::testing
