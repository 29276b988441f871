// What the tests of this folder share: models of every form, made up of random numbers, and a file
// taken apart and put together again.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::testing {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct RowsForm {
    bool sparse = false;
    bool twice = false;  ///< double precision
};

/// Normal numbers; sparse rows have about a third of them.
Rows random_rows(Random& random, std::size_t rows, std::size_t columns, RowsForm form = {});

/// A model of the task whose points, coefficients and biases are random. `classes` counts for
/// classifiers, `outputs` for regressions. Points of class c get coefficients in the pairs of c
/// only, with the sign that training would give them.
struct ModelForm {
    Task task = Task::svc;
    Kernel kernel = rbf({.gamma = 0.3});
    std::size_t points = 9;
    std::size_t columns = 4;
    std::size_t classes = 2;
    std::size_t outputs = 1;
    RowsForm rows{};
};
ModelParts random_model(Random& random, const ModelForm& form);

/// A machine in each of some cells of a few rows, at least one of which is of one class.
Model cells_model(RowsForm form = {}, Task task = Task::svc, std::size_t rows = 24,
                  std::size_t cell_rows = 9);

/// Models that together use everything a file can hold.
std::vector<std::pair<std::string, Model>> sample_models();

/// Every field of both, NaN equal to NaN and 0 different from -0.
void expect_same(const Model& a, const Model& b);

/// The decision values at a row, straight from the formula in double precision.
std::vector<double> values_by_formula(const Model& model, std::span<const double> row);
/// The class position, ±1 or value that follows from them, by LIBSVM's rule of votes.
double answer_by_formula(const Model& model, const std::vector<double>& values);

/// A model file taken apart.
struct Parts {
    nlohmann::json header;
    std::string data;

    static Parts of(std::string_view file);
    /// Back to a file with a checksum that is right, computed as docs/model-format.md says.
    std::string file() const;
    /// Back to a file as it is.
    std::string file_as_is() const;
    /// Bytes of the named array.
    std::size_t begin(const std::string& array) const;
    std::string& metadata(const std::string& key) {
        return header["__metadata__"][key].get_ref<std::string&>();
    }
};

/// The message when the model's file is changed, its checksum put right.
std::string after(const Model& model, const std::function<void(Parts&)>& change);

/// The output and exit code of a shell command.
struct Outcome {
    int code = 0;
    std::string output;
};
Outcome run(const std::string& command);
inline std::string in_quotes(const std::string& path) {
    return "'" + path + "'";
}
bool has_program(const std::string& name);

}  // namespace mercer::testing
