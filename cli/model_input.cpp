#include "cli/model_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/source.hpp"
#include "mercer/persist/libsvm_model.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::cli {
namespace {

Model model_from(std::string_view bytes, const std::string& path, std::size_t columns) {
    const std::string name = path == "-" ? "standard input" : path;
    return is_libsvm_model(bytes) ? import_libsvm_from_memory(bytes, name, columns)
                                  : load_from_memory(bytes, name);
}

/// The columns the model knows, in its order.
void match_names(const Model& model, const std::string& path, Dataset& data) {
    if (model.feature_names.empty() || data.feature_names.empty() ||
        model.feature_names == data.feature_names) {
        return;
    }
    std::vector<std::size_t> columns;
    for (const std::string& name : model.feature_names) {
        const auto found = std::ranges::find(data.feature_names, name);
        if (found == data.feature_names.end()) {
            throw InvalidInput(fmt::format(
                "{}: the model was trained with a column {}, which is not here; the columns are {}",
                path, mercer::quoted(name), fmt::join(data.feature_names, ", ")));
        }
        columns.push_back(static_cast<std::size_t>(found - data.feature_names.begin()));
    }
    data.x = data.x.select_columns(columns);
    data.feature_names = model.feature_names;
}

}  // namespace

Model read_model(const std::string& path, std::size_t columns) {
    return model_from(read_bytes(path).view(), path, columns);
}

std::shared_ptr<InputOptions> add_model_and_input(CLI::App& command, Session& session,
                                                  std::string& model) {
    add_file(command, session, "MODEL", model, FileUse::input,
             "model file of this program or of LIBSVM")
        ->required();
    return add_input(command, session);
}

ModelAndData read_model_and_data(const std::string& model, const InputOptions& input,
                                 const Session& session) {
    if (model == "-" && input.path == "-") {
        throw InvalidInput("model and data cannot both come from standard input");
    }
    const Content content = read_bytes(model);
    ModelAndData both{.model = model_from(content.view(), model, 0), .data = {}};
    InputOptions options = input;
    if (both.model.expansion.points.is_double()) options.read.double_precision = true;
    both.data = read_input(options, session);
    // A table without labels would lose its last feature to them, and zeros would take its place.
    if (input.read.label.empty() && input.path != "-" &&
        both.data.columns() + 1 == both.model.columns) {
        options.read.label = "none";
        Dataset whole = read_input(options, session);
        if (whole.columns() == both.model.columns) both.data = std::move(whole);
    }
    match_names(both.model, input.path, both.data);
    if (is_libsvm_model(content.view()) && both.data.columns() > both.model.columns) {
        both.model = model_from(content.view(), model, both.data.columns());
    }
    return both;
}

}  // namespace mercer::cli
