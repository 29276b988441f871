// LIBSVM's three programs under their own names: what they share.
//
// Options, files, exit codes and the shape of messages are LIBSVM's (Chang and Lin 2011), because
// other tools read them; the words are ours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/data/dataset.hpp"

namespace mercer::cli {

/// "svm-train", "svm-predict" or "svm-scale" when the name, or the last part of the path, ends so;
/// else empty.
std::string libsvm_program(std::string_view name);

/// Runs one of them; the exit code.
int run_libsvm_program(const std::string& program, const std::vector<std::string>& words);

int svm_train(const std::vector<std::string>& words);
int svm_predict(const std::vector<std::string>& words);
int svm_scale(const std::vector<std::string>& words);

/// The message for standard error that ends the program with 1.
struct LibsvmFailure {
    std::string message;
};
/// Ends the program with 1 after the program's usage on standard output.
struct LibsvmUsage {
    std::string complaint{};  ///< first, on standard error
};

/// Options before the files: each a letter, and the word after it.
class LibsvmArguments {
   public:
    explicit LibsvmArguments(const std::vector<std::string>& words) : words_(words) {}

    /// The next option as it was written ("-w1"), or empty when only files are left.
    std::string next_option();
    /// What follows it; throws LibsvmUsage when there is nothing.
    std::string text();
    double number();
    int whole();
    bool flag();  ///< 0 or 1

    /// What is left after the options.
    std::vector<std::string> files() const {
        return {words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end()};
    }

   private:
    const std::vector<std::string>& words_;
    std::size_t at_ = 0;
    std::string option_{};
};

/// LIBSVM text with a label on every line, in double precision. Throws LibsvmFailure naming the
/// line in LIBSVM's words.
Dataset read_libsvm_data(const std::string& path, std::size_t first_index);
/// The same from memory, indices from 0, and sparse.
Dataset read_libsvm_data(std::string_view text, const std::string& path);

/// Throws LibsvmFailure in the words LIBSVM has for a file that does not open.
void check_opens(const std::string& path, const char* what);

}  // namespace mercer::cli
