// Options that have no effect in a file of this format are a mistake of whoever gave them.
#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {
namespace {

/// An option with an effect in some formats only, and whether the caller has given it.
struct PartialOption {
    const char* name;
    bool OptionUses::*use;
    bool (*given)(const ReadOptions& options);
};

constexpr PartialOption partial_options[] = {
    {"label", &OptionUses::label,
     [](const ReadOptions& o) { return !o.label.empty() && o.label != "none"; }},
    {"text_labels", &OptionUses::text_labels,
     [](const ReadOptions& o) {
         const bool known = o.known && o.known->text_labels;
         return o.text_labels && !known && o.labels_file.empty();
     }},
    {"header", &OptionUses::header,
     [](const ReadOptions& o) { return o.header != HeaderLine::automatic; }},
    {"missing", &OptionUses::missing,
     [](const ReadOptions& o) { return o.missing != MissingValues::refuse; }},
    {"weight_column", &OptionUses::weight_column,
     [](const ReadOptions& o) { return !o.weight_column.empty(); }},
    {"text_columns", &OptionUses::text_columns,
     [](const ReadOptions& o) { return !o.text_columns.empty(); }},
    {"leave_out", &OptionUses::leave_out,
     [](const ReadOptions& o) { return !o.leave_out.empty(); }},
    {"first_index", &OptionUses::first_index,
     [](const ReadOptions& o) { return o.first_index != 1; }},
};

}  // namespace

void check_uses(const Input& input, const OptionUses& uses, const std::string& what) {
    if (input.options.shared) return;
    for (const PartialOption& option : partial_options) {
        if (uses.*option.use || !option.given(input.options)) continue;
        const std::string users = listed_formats(
            [&](const Format& f) { return f.read != nullptr && f.uses.*option.use; });
        fail(input, std::string("`") + option.name + "` has no meaning for " + what +
                        ": it belongs to " + users);
    }
}

}  // namespace mercer::formats
