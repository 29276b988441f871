// Files read as those before them: columns matched with the ones a model was trained on, by their
// names before any of them is taken for a label, or by their positions.
#include <algorithm>
#include <numeric>

#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/table.hpp"

namespace mercer::formats {
namespace {

constexpr std::size_t none = ColumnRoles::none;

/// "'a', 'b' and 3 more".
std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t most = 6;
    std::string text;
    for (std::size_t k = 0; k < std::min(most, names.size()); ++k) {
        text += (k == 0 ? "" : ", ") + quoted(names[k]);
    }
    return names.size() <= most ? text
                                : text + " and " + std::to_string(names.size() - most) + " more";
}

/// Of each known feature its position among `names`; `taken` marks those that are something else,
/// and afterwards the features too.
std::vector<std::size_t> find_features(const Input& input, const std::vector<std::string>& names,
                                       std::vector<bool>& taken) {
    const KnownColumns& known = *input.options.known;
    std::vector<std::size_t> found;
    std::vector<std::string> missing;
    for (const std::string& name : known.names) {
        std::size_t j = 0;
        while (j < names.size() && (taken[j] || names[j] != name)) ++j;
        if (j == names.size()) {
            missing.push_back(name);
            continue;
        }
        taken[j] = true;
        found.push_back(j);
    }
    if (missing.empty()) return found;
    std::vector<std::string> others;
    for (std::size_t j = 0; j < names.size(); ++j) {
        if (!taken[j] && names[j] != known.roles.label_name) others.push_back(names[j]);
    }
    fail(input, std::string("lacks the column") + (missing.size() == 1 ? " " : "s ") +
                    listed(missing) + " of the " + std::to_string(known.names.size()) +
                    " features that were trained on" +
                    (others.empty() ? ""
                                    : "; " + listed(others) +
                                          " were not among them: if they are the same under "
                                          "other names, rename them"));
}

std::size_t position_of(const std::vector<std::string>& names, const std::string& name,
                        const std::vector<bool>& taken) {
    if (name.empty()) return none;
    for (std::size_t j = 0; j < names.size(); ++j) {
        if (!taken[j] && names[j] == name) return j;
    }
    return none;
}

void place_by_name(const Input& input, const ColumnRoles& said, TableLayout& layout) {
    const KnownColumns& known = *input.options.known;
    const std::vector<std::string>& names = layout.names;
    std::vector<bool> taken(names.size(), false);
    layout.label = said.label;
    layout.weight = said.weight;
    if (said.label != none) taken[said.label] = true;
    if (said.weight != none) taken[said.weight] = true;
    std::vector<std::size_t> texts;
    for (const ObjectName& object : known.objects) {
        texts.push_back(position_of(names, object.name, taken));
        if (texts.back() == none) {
            fail(input,
                 "lacks the column of texts " + quoted(object.name) + " that was trained on");
        }
        taken[texts.back()] = true;
    }
    const std::vector<std::size_t> found = find_features(input, names, taken);
    if (said.weight == none) layout.weight = position_of(names, known.roles.weight_name, taken);
    if (layout.weight != none) taken[layout.weight] = true;
    // A label may be absent, but not a feature: whatever is left may be one under a usual name.
    if (input.options.label.empty() && input.options.labels_file.empty()) {
        layout.label = position_of(names, known.roles.label_name, taken);
        const std::size_t usual = usual_label(names);
        if (layout.label == none && usual != none && !taken[usual]) layout.label = usual;
        // Models that were never told what their label is called: the only column left over.
        if (layout.label == none && known.roles.label_name.empty() &&
            std::ranges::count(taken, false) == 1) {
            layout.label =
                static_cast<std::size_t>(std::ranges::find(taken, false) - taken.begin());
        }
    }
    layout.roles.assign(names.size(), ColumnRole::ignored);
    for (const std::size_t j : found) layout.roles[j] = ColumnRole::feature;
    for (const std::size_t j : texts) layout.roles[j] = ColumnRole::text;
    if (std::ranges::is_sorted(found)) return;
    std::vector<std::size_t> sorted = found;
    std::ranges::sort(sorted);
    for (const std::size_t j : found) {
        layout.order.push_back(
            static_cast<std::size_t>(std::ranges::lower_bound(sorted, j) - sorted.begin()));
    }
}

std::string counted(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " column" : " columns");
}

[[noreturn]] void refuse_count(const Input& input, std::size_t columns, const ColumnRoles& said) {
    const KnownColumns& known = *input.options.known;
    const std::size_t others = static_cast<std::size_t>(said.label != none) +
                               static_cast<std::size_t>(said.weight != none);
    std::string message = "has " + counted(columns);
    if (others > 0) message += ", " + std::to_string(others) + " of them label or weight";
    message += "; trained on were " + std::to_string(known.features) + " features";
    if (!known.objects.empty()) {
        message += " and " + std::to_string(known.objects.size()) + " columns of texts";
    }
    if (known.roles.label != none) {
        message += " and a label in column " + std::to_string(known.roles.label + 1);
    }
    fail(input, message + ": all features must be here, in the same order or with a header line " +
                    "that names them");
}

}  // namespace

namespace {

/// Tables of texts alone have no names of features to tell whether names are known.
bool names_all(const std::vector<std::string>& names, const std::vector<ObjectName>& objects) {
    return !objects.empty() && std::ranges::all_of(objects, [&](const ObjectName& object) {
        return std::ranges::find(names, object.name) != names.end();
    });
}

}  // namespace

ColumnRoles known_positions(const Input& input, std::size_t columns, const ColumnRoles& said,
                            std::size_t usual) {
    const KnownColumns& known = *input.options.known;
    const auto fit = [&](const ColumnRoles& r) {
        const bool inside = (r.label == none || r.label < columns) &&
                            (r.weight == none || r.weight < columns) &&
                            (r.label == none || r.label != r.weight);
        const std::size_t others =
            static_cast<std::size_t>(r.label != none) + static_cast<std::size_t>(r.weight != none);
        return inside && columns == known.features + known.objects.size() + others;
    };
    const bool label_said = !input.options.label.empty();
    // What is said alone; then with the rest where it was; then without the weights of the
    // training, which are seldom there later.
    if (fit(said)) return said;
    ColumnRoles here = said;
    if (!label_said) here.label = known.roles.label != none ? known.roles.label : usual;
    if (said.weight == none) here.weight = known.roles.weight;
    if (fit(here)) return here;
    if (said.weight == none && here.weight != none) {
        if (!label_said && here.label != none && here.label > here.weight) --here.label;
        here.weight = none;
        if (fit(here)) return here;
    }
    refuse_count(input, columns, said);
}

void place_known(const Input& input, const ColumnRoles& said, TableLayout& layout) {
    const KnownColumns& known = *input.options.known;
    if (!layout.names.empty() && (!known.names.empty() || names_all(layout.names, known.objects))) {
        place_by_name(input, said, layout);
        return;
    }
    const std::size_t columns = layout.roles.size();
    std::size_t usual = usual_label(layout.names);
    if (usual == none) usual = columns - 1;
    const ColumnRoles here = known_positions(input, columns, said, usual);
    layout.label = here.label;
    layout.weight = here.weight;
    // Labels from a file of their own take the place of those here.
    if (!input.options.labels_file.empty() && said.label == none && layout.label != none) {
        layout.roles[layout.label] = ColumnRole::ignored;
        layout.label = none;
    }
}

void order_known(const Input& input, Dataset& data) {
    if (!input.options.known || !input.options.known->has_columns()) return;
    const KnownColumns& known = *input.options.known;
    if (!data.feature_names.empty() && !known.names.empty()) {
        if (data.feature_names == known.names) return;
        std::vector<bool> taken(data.feature_names.size(), false);
        data.x = data.x.select_columns(find_features(input, data.feature_names, taken));
        for (std::size_t j = 0; j < taken.size(); ++j) {
            if (!taken[j]) data.left_out.push_back(data.feature_names[j]);
        }
    } else if (!data.x.is_sparse() && data.columns() != known.features) {
        refuse_count(input, data.columns(), {});
    }
    if (!known.names.empty() && data.columns() == known.names.size()) {
        data.feature_names = known.names;
    }
}

}  // namespace mercer::formats
