// A list of operations as statements of C99. Numbers of a row are local variables, numbers of
// points are computed one point after another and summed at once, so that the stack holds a few
// rows however many points there are.
#pragma once

#include <string>

#include "mercer/persist/export/detail/c_words.hpp"
#include "mercer/persist/export/detail/program.hpp"

namespace mercer::exports {

/// The body of a function that carries a program out, from the array `in` to the array `out`.
class CWriter {
   public:
    CWriter(CTables& tables, CHelpers& helpers, bool single)
        : tables_(tables),
          helpers_(helpers),
          real_(single ? "float" : "double"),
          suffix_(single ? "f" : "") {}

    std::string operator()(const Program& program);

   private:
    void row_operation(const Operation& o);
    void several(const Operation& o);
    void loop_over_points(const Operation& o);
    void point_operation(const Operation& o);
    std::string pair_term(const Operation& o, const std::string& x, const std::string& z) const;
    void pair_sum(const Operation& o, const std::string& at);
    void anova(const Operation& o, const std::string& at);
    std::string elementwise(const Operation& o, const std::string& column);
    /// A part of an operation: one number of it, or that of the column at hand.
    std::string operand(const Value& value, const std::string& column);
    std::string literal(double value) const { return number_text(value, !suffix_.empty()); }
    std::string variable(const Value& value) const { return "v" + std::to_string(value.at); }
    void line(const std::string& text) { text_ += indent_ + text + "\n"; }
    std::string called(const char* function, const std::string& argument) const {
        return function + suffix_ + "(" + argument + ")";
    }

    CTables& tables_;
    CHelpers& helpers_;
    std::string real_, suffix_;
    const Program* program_ = nullptr;
    std::string indent_ = "    ";
    std::string text_{};
};

}  // namespace mercer::exports
