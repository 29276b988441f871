// Numbers, names, tables and functions as C99 writes them.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mercer::exports {

std::string number_text(double value, bool single = false);
std::string c_string(const std::string& text);
/// For a comment: nothing in it ends the comment.
std::string in_comment(std::string text);

/// Tables of constants, each once.
class CTables {
   public:
    CTables(std::string prefix, bool single) : prefix_(std::move(prefix)), single_(single) {}

    /// The name of an array of these numbers.
    std::string name(std::span<const double> values);
    const std::string& text() const { return text_; }

   private:
    std::string prefix_;
    bool single_;
    std::map<std::vector<double>, std::string> names_{};
    std::string text_{};
};

/// Functions of our own that the operations need, each written when it is first asked for.
class CHelpers {
   public:
    CHelpers(std::string prefix, std::string real, std::string suffix)
        : prefix_(std::move(prefix)), real_(std::move(real)), suffix_(std::move(suffix)) {}

    std::string name(const std::string& function) {
        used_.insert(function);
        return prefix_ + "_" + function;
    }
    std::string text() const;

   private:
    std::string prefix_, real_, suffix_;
    std::set<std::string> used_{};
};

}  // namespace mercer::exports
