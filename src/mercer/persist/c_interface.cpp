// The functions of mercer.h. No exception leaves them.
#include <algorithm>
#include <new>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/source.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/mercer.h"
#include "mercer/persist/model_file.hpp"
#include "mercer/version.hpp"

struct mercer_model {
    mercer::Predictor predictor;
    std::string description;
    std::size_t columns;
    std::size_t probabilities;
};

namespace mercer {
namespace {

/// Long enough for every message; those that are longer are cut.
thread_local char last_error[4096] = "";

int fail_with(int code, const char* message) noexcept {
    std::size_t length = 0;
    while (message[length] != '\0' && length + 1 < sizeof last_error) ++length;
    std::copy_n(message, length, last_error);
    last_error[length] = '\0';
    return code;
}

/// Runs `work` and turns what it throws into a code.
template <class Work>
int guarded(const Work& work) noexcept {
    try {
        work();
        return MERCER_OK;
    } catch (const InvalidInput& error) {
        return fail_with(MERCER_BAD_INPUT, error.what());
    } catch (const std::bad_alloc&) {
        return fail_with(MERCER_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception& error) {
        return fail_with(MERCER_FAILURE, error.what());
    } catch (...) {
        return fail_with(MERCER_FAILURE, "an unknown failure");
    }
}

/// Columns of the rows a caller gives: those of the table, before its recipe.
std::size_t given_columns(const Model& model) {
    if (!model.recipe()) return model.columns();
    const auto& columns = model.recipe()->columns().columns();
    return static_cast<std::size_t>(std::ranges::count_if(
        columns, [](const TableColumn& column) { return column.kind != ColumnKind::text; }));
}

std::string description_of(const Model& model) {
    const Expansion& expansion = model.expansion();
    std::string text = "task " + task_name(model.task()) + "\nkernel " + expansion.kernel.text() +
                       "\nvectors " + std::to_string(model.points()) + "\ncolumns " +
                       std::to_string(given_columns(model)) + "\nscores " +
                       std::to_string(expansion.outputs()) + "\n";
    if (model.classes() > 0) text += "classes " + std::to_string(model.classes()) + "\n";
    return text;
}

mercer_model* wrapped(const Model& model) {
    const std::size_t probabilities =
        has_probabilities(model) ? probability_names(model).size() : 0;
    return new mercer_model{Predictor(model), description_of(model), given_columns(model),
                            probabilities};
}

Model from_bytes(std::string_view bytes, const std::string& name) {
    return is_libsvm_model(bytes) ? import_libsvm_from_memory(bytes, name)
                                  : load_from_memory(bytes, name);
}

void require(bool given, const char* what) {
    if (!given) throw InvalidInput(std::string(what) + " must not be NULL");
}

Rows rows_of(const mercer_model* model, const double* rows, std::size_t count, std::size_t columns,
             const double* out) {
    require(model != nullptr, "the model");
    require(count == 0 || (rows != nullptr && out != nullptr), "rows and results");
    if (columns != model->columns) {
        throw InvalidInput("the rows have " + std::to_string(columns) +
                           " columns; the model was trained on " + std::to_string(model->columns));
    }
    return Rows::borrow(MatrixView<const double>(rows, count, columns), nullptr);
}

void hand_over(const Matrix<double>& values, double* out) {
    std::ranges::copy(values.values(), out);
}

}  // namespace
}  // namespace mercer

using namespace mercer;

int mercer_load(const char* path, mercer_model** model) {
    return guarded([&] {
        require(path != nullptr && model != nullptr, "path and model");
        *model = nullptr;
        const Content content = read_bytes(path);
        *model = wrapped(from_bytes(content.view(), path));
    });
}

int mercer_load_memory(const void* bytes, size_t size, mercer_model** model) {
    return guarded([&] {
        require((bytes != nullptr || size == 0) && model != nullptr, "bytes and model");
        *model = nullptr;
        *model = wrapped(from_bytes({static_cast<const char*>(bytes), size}, "model"));
    });
}

void mercer_free(mercer_model* model) {
    delete model;
}

const char* mercer_error(void) {
    return last_error;
}

const char* mercer_version(void) {
    return mercer::version;
}

size_t mercer_columns(const mercer_model* model) {
    return model ? model->columns : 0;
}

size_t mercer_scores_per_row(const mercer_model* model) {
    return model ? model->predictor.model().expansion().outputs() : 0;
}

size_t mercer_classes(const mercer_model* model) {
    return model ? model->predictor.model().classes() : 0;
}

size_t mercer_probabilities_per_row(const mercer_model* model) {
    return model ? model->probabilities : 0;
}

const char* mercer_class_name(const mercer_model* model, size_t position) {
    if (model == nullptr || position >= model->predictor.model().classes()) return nullptr;
    return model->predictor.model().class_names()[position].c_str();
}

const char* mercer_describe(const mercer_model* model) {
    return model ? model->description.c_str() : "";
}

int mercer_predict(const mercer_model* model, const double* rows, size_t count, size_t columns,
                   double* answers) {
    return guarded([&] {
        const Rows x = rows_of(model, rows, count, columns, answers);
        if (count > 0) std::ranges::copy(model->predictor.predict(x), answers);
    });
}

int mercer_scores(const mercer_model* model, const double* rows, size_t count, size_t columns,
                  double* scores) {
    return guarded([&] {
        const Rows x = rows_of(model, rows, count, columns, scores);
        if (count > 0) hand_over(model->predictor.decision(x), scores);
    });
}

int mercer_probabilities(const mercer_model* model, const double* rows, size_t count,
                         size_t columns, double* probabilities) {
    return guarded([&] {
        const Rows x = rows_of(model, rows, count, columns, probabilities);
        if (count > 0) hand_over(model->predictor.probabilities(x), probabilities);
    });
}
