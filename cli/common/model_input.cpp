#include "cli/common/model_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/common/label_sets.hpp"
#include "cli/common/table_input.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/source.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::cli {
namespace {

Model model_from(std::string_view bytes, const std::string& path, std::size_t columns) {
    const std::string name = path == "-" ? "standard input" : path;
    return is_libsvm_model(bytes) ? import_libsvm_from_memory(bytes, name, columns)
                                  : load_from_memory(bytes, name);
}

/// Labels of which none is a class of the model are about something else.
void check_classes(const Model& model, const Dataset& data, const std::string& path) {
    if (!is_classifier(model.task()) || data.y.empty()) return;
    const std::vector<std::string> names = classes_of(data.y).names;
    const auto known = [&](const std::string& name) {
        return std::ranges::find(model.class_names(), name) != model.class_names().end();
    };
    if (std::ranges::any_of(names, known)) return;
    const std::string& column = data.roles.label_name;
    throw InvalidInput(fmt::format(
        "{}: no label{}, such as {}, is a class of the model ({}); say where the labels are with "
        "--label, or --label none if there are none",
        path == "-" ? "standard input" : path,
        column.empty() ? "" : fmt::format(" of the column {}", mercer::quoted(column)),
        mercer::quoted(data.y.text(0)), fmt::join(model.class_names(), ", ")));
}

}  // namespace

Model read_model(const std::string& path, std::size_t columns) {
    return model_from(read_bytes(path).view(), path, columns);
}

Rows as_wide_as(const Model& model, const Rows& x) {
    if (x.columns() >= model.columns()) return x;
    // Few columns of dense rows against very many of sparse points: zeros are not written out.
    return (model.expansion().points.is_sparse() ? x.to_sparse() : x).widened(model.columns());
}

std::shared_ptr<InputOptions> add_model_and_input(CLI::App& command, Session& session,
                                                  std::string& model) {
    add_file(command, session, "MODEL", model, FileUse::input,
             "model file of this program or of LIBSVM")
        ->required();
    return add_input(command, session);
}

ModelAndData read_model_and_data(const std::string& model, const InputOptions& input,
                                 const Session& session, Matrix<double>* label_sets) {
    if (model == "-" && input.path == "-") {
        throw InvalidInput("model and data cannot both come from standard input");
    }
    const Content content = read_bytes(model);
    const bool foreign = is_libsvm_model(content.view());
    ModelAndData both{.model = model_from(content.view(), model, 0), .data = {}};
    InputOptions options = input;
    // More rows than that are looked at block by block.
    if (options.read.most_bytes == 0) options.read.most_bytes = usual_rows << 20;
    if (both.model.expansion().points.is_double()) options.read.double_precision = true;
    if (is_multi_label(both.model.task())) {
        options.read.label = "none";
        LabelledTable table = split_labels(read_input(options, session), both.model, input.path);
        both.data = std::move(table.data);
        if (label_sets) *label_sets = std::move(table.labels);
        return both;
    }
    if (both.model.recipe()) {
        both.data = read_by_recipe(*both.model.recipe(), options, session);
        check_classes(both.model, both.data, input.path);
        return both;
    }
    if (!foreign) {
        options.read.known = std::make_shared<const KnownColumns>(both.model.known_columns());
    }
    both.data = read_input(options, session);
    // LIBSVM's files do not say how wide the data was. Without a label a table would lose its last
    // feature, and zeros would take its place.
    if (foreign && input.read.label.empty() && input.path != "-" &&
        both.data.columns() + 1 == both.model.columns()) {
        options.read.label = "none";
        Dataset whole = read_input(options, session);
        if (whole.columns() == both.model.columns()) both.data = std::move(whole);
    }
    if (foreign && both.data.columns() > both.model.columns()) {
        both.model = model_from(content.view(), model, both.data.columns());
    }
    if (foreign) both.data.x = as_wide_as(both.model, both.data.x);
    check_classes(both.model, both.data, input.path);
    return both;
}

}  // namespace mercer::cli
