// LIBSVM's model file, out: a header of "key values" lines, then "SV", then one line a support
// vector, grouped by class: its coefficients in the nr_class − 1 pairs its class takes part in,
// then its entries. In pair (i, j) the class i is the positive one; the value is Σ coef k − rho.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/detail/density_marks.hpp"
#include "mercer/learn/detail/model_check.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

/// As printf's %.<digits>g writes it.
void append_general(std::string& text, double value, int digits) {
    char buffer[40];
    const auto result =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits);
    text.append(buffer, result.ptr);
}

void append_exact(std::string& text, double value) {
    append_general(text, value, 17);
}

/// LIBSVM writes entries with 8 digits; where these would lose something, all that are needed.
template <class T>
void append_entry(std::string& text, T value) {
    const std::size_t before = text.size();
    append_general(text, static_cast<double>(value), 8);
    const auto back = parse_number(std::string_view(text).substr(before));
    if (back && static_cast<T>(*back) == value) return;
    text.resize(before);
    char buffer[40];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    text.append(buffer, result.ptr);
}

[[noreturn]] void refuse(const std::string& place, const std::string& message) {
    throw InvalidInput(Location{.file = place}, message);
}

[[noreturn]] void refuse_sphere(const std::string& place) {
    refuse(place,
           "LIBSVM's model files know no sphere (svdd); a one-class model can be written, "
           "and with a Gaussian kernel it describes the same region");
}

const char* type_word(const Model& model, const std::string& place) {
    switch (model.task()) {
        case Task::svc:
        case Task::hard_margin: return "c_svc";
        case Task::nu_svc: return "nu_svc";
        case Task::one_class: return "one_class";
        case Task::svr: return "epsilon_svr";
        case Task::nu_svr: return "nu_svr";
        case Task::svdd: refuse_sphere(place);
        default: break;
    }
    refuse(place,
           "LIBSVM's model files know support vector machines only, and this is a model of "
           "the task " +
               task_name(model.task()) + "; keep it as a Mercer model file");
}

void check_exportable(const Model& model, const std::string& place) {
    if (model.scaling().rule().kind != ScalingRule::Kind::none) {
        refuse(place, "LIBSVM's model files hold no scaling, and this model scales its rows (" +
                          model.scaling().rule().text() +
                          "); scale the data first and train without scaling");
    }
    require_one_machine(model, place + ": a file of LIBSVM's");
    if (is_classifier(model.task())) {
        if (model.multi_class() == MultiClass::one_vs_rest && model.classes() > 2) {
            refuse(place,
                   "LIBSVM's model files know classes one against one, and this model takes them "
                   "one against the rest; train it one against one");
        }
    } else if (model.expansion().outputs() != 1) {
        refuse(place, "LIBSVM's model files hold one target, and this model has " +
                          std::to_string(model.expansion().outputs()) +
                          "; train and write one model a target");
    }
    if (model.expansion().self != 0) refuse_sphere(place);
}

/// The kernel without its factor, which goes into the coefficients instead.
const KernelNode& plain_kernel(const KernelNode& node, double& factor) {
    if (node.kind != KernelKind::scale) return node;
    factor *= node.value;
    return plain_kernel(node.children[0].node(), factor);
}

void append_kernel(std::string& text, const KernelNode& node, const std::string& place) {
    const auto parameter = [&](const char* name) {
        text += std::string(name) + " ";
        append_exact(text, node.parameter(name));
        text += "\n";
    };
    // Its words for kernels are ours.
    static const std::map<std::string, std::vector<const char*>> known{
        {"linear", {}},
        {"polynomial", {"degree", "gamma", "coef0"}},
        {"rbf", {"gamma"}},
        {"sigmoid", {"gamma", "coef0"}},
        {"precomputed", {}}};
    const auto found = known.find(node.entry().name);
    if (found == known.end()) {
        refuse(place,
               "LIBSVM does not know this kernel; it has linear, polynomial, rbf, sigmoid and "
               "precomputed, and a model with one of these, or a number times one of these, can "
               "be written");
    }
    text += "kernel_type " + found->first + "\n";
    for (const char* name : found->second) parameter(name);
}

void append_labels(std::string& text, const Model& model, const std::string& place) {
    text += "label";
    for (std::size_t c = 0; c < model.classes(); ++c) {
        const double value =
            model.class_values().empty() ? static_cast<double>(c) : model.class_values()[c];
        if (value != std::floor(value) || value < std::numeric_limits<int>::min() ||
            value > std::numeric_limits<int>::max()) {
            refuse(place,
                   "LIBSVM's labels are whole numbers of 32 bits, and this model has the "
                   "class " +
                       quoted(model.class_names()[c]) + "; label the data 0, 1, … instead");
        }
        text += " " + std::to_string(static_cast<int>(value));
    }
    text += "\n";
}

/// One line of the SV section before it is written.
struct Line {
    std::size_t point;
    std::size_t kind;  ///< class, or 0 where there are none
};

/// Coefficients by class and pair, as LIBSVM lays them out.
class Layout {
   public:
    Layout(const Model& model, double factor)
        : coefficients_(model.expansion().coefficients),
          factor_(factor),
          classes_(is_classifier(model.task()) ? model.classes() : 2),
          grouped_(is_classifier(model.task())) {
        for (std::size_t c = 0; c < (grouped_ ? classes_ : 1); ++c) {
            for (std::size_t p = 0; p < coefficients_.columns(); ++p) {
                if (belongs(p, c)) lines_.push_back({p, c});
            }
        }
    }

    std::size_t classes() const { return classes_; }
    const std::vector<Line>& lines() const { return lines_; }

    std::vector<std::size_t> counts() const {
        std::vector<std::size_t> result(classes_, 0);
        for (const Line& line : lines_) ++result[line.kind];
        return result;
    }

    /// The coefficient that stands at `slot` of a line: slots below the class are the pairs
    /// (slot, class), the others (class, slot + 1).
    double at(const Line& line, std::size_t slot) const {
        if (!grouped_) return factor_ * coefficients_(0, line.point);
        const bool second = slot < line.kind;
        const std::size_t pair = second ? pair_of(slot, line.kind) : pair_of(line.kind, slot + 1);
        const double value = factor_ * coefficients_(pair, line.point);
        return value == 0 || (value < 0) == second ? value : 0;
    }

   private:
    /// Position of (i, j), i < j, among (0,1), (0,2), …, (1,2), …
    std::size_t pair_of(std::size_t i, std::size_t j) const {
        return i * classes_ - i * (i + 1) / 2 + j - i - 1;
    }

    /// A model does not say which class a point is of, but the sign of a coefficient does: in the
    /// pair (i, j) points of class i have positive ones. A point that stands for equal rows of
    /// several classes has a line in each; the sum over lines is the same function.
    bool belongs(std::size_t point, std::size_t kind) const {
        for (std::size_t slot = 0; slot + 1 < classes_; ++slot) {
            if (at({point, kind}, slot) != 0) return true;
        }
        return false;
    }

    const Matrix<double>& coefficients_;
    double factor_;
    std::size_t classes_;
    bool grouped_;
    std::vector<Line> lines_;
};

void append_header(std::string& text, const Model& model, const KernelNode& kernel,
                   const Layout& layout, const std::string& place) {
    text += "svm_type " + std::string(type_word(model, place)) + "\n";
    append_kernel(text, kernel, place);
    text += "nr_class " + std::to_string(layout.classes()) + "\n";
    text += "total_sv " + std::to_string(layout.lines().size()) + "\n";
    text += "rho";
    for (const double bias : model.expansion().bias) {
        text += " ";
        append_exact(text, bias == 0 ? 0 : -bias);
    }
    text += "\n";
    if (is_classifier(model.task())) append_labels(text, model, place);
    if (const auto sigmoids = sigmoids_of(model.extras()); !sigmoids.empty()) {
        const auto numbers = [&](const char* key, double Sigmoid::*part) {
            text += key;
            for (const Sigmoid& sigmoid : sigmoids) {
                text += " ";
                append_exact(text, sigmoid.*part);
            }
            text += "\n";
        };
        numbers("probA", &Sigmoid::a);
        if (is_classifier(model.task())) numbers("probB", &Sigmoid::b);
    }
    const DensityMarks* density = model.extras().find<DensityMarks>();
    if (model.task() == Task::one_class && density) {
        text += "prob_density_marks";
        for (const double mark : density->marks.values()) {
            text += " ";
            append_exact(text, mark);
        }
        text += "\n";
    }
    if (is_classifier(model.task())) {
        text += "nr_sv";
        for (const std::size_t count : layout.counts()) text += " " + std::to_string(count);
        text += "\n";
    }
    text += "SV\n";
}

/// The entries other than 0. `keep_width` writes the last column in any case, so that the file
/// tells how many there are.
template <class T>
void append_entries(std::string& text, const Rows& points, std::size_t i, bool keep_width) {
    std::size_t last = 0;
    const auto entry = [&](std::size_t column, T value, bool always) {
        if (value == 0 && !always) return;
        last = column + 1;
        text += std::to_string(last) + ":";
        append_entry(text, value);
        text += " ";
    };
    if (points.is_sparse()) {
        const SparseView<T> view = points.sparse_view<T>();
        const auto index = view.row_index(i);
        for (std::size_t k = 0; k < index.size(); ++k) entry(index[k], view.row_value(i)[k], false);
    } else {
        const auto row = points.dense_view<T>().row(i);
        for (std::size_t j = 0; j < row.size(); ++j) entry(j, row[j], false);
    }
    if (keep_width && last < points.columns()) entry(points.columns() - 1, T{0}, true);
}

/// True when the last column is 0 in all lines, so that the file would not tell of it.
template <class T>
bool last_column_empty(const Rows& points, const std::vector<Line>& lines) {
    const std::size_t last = points.columns() - 1;
    return std::ranges::none_of(lines, [&](const Line& line) {
        if (!points.is_sparse()) return points.dense_view<T>()(line.point, last) != 0;
        const auto index = points.sparse_view<T>().row_index(line.point);
        const auto value = points.sparse_view<T>().row_value(line.point);
        return !index.empty() && index.back() == last && value.back() != 0;
    });
}

template <class T>
void append_lines(std::string& text, const Model& model, const Layout& layout, bool precomputed) {
    const Rows& points = model.expansion().points;
    bool keep_width =
        !precomputed && points.columns() > 0 && last_column_empty<T>(points, layout.lines());
    for (const Line& line : layout.lines()) {
        for (std::size_t slot = 0; slot + 1 < layout.classes(); ++slot) {
            append_exact(text, layout.at(line, slot));
            text += " ";
        }
        if (precomputed) {
            text += "0:" + std::to_string(points.origin(line.point) + 1) + " ";
        } else {
            append_entries<T>(text, points, line.point, keep_width);
        }
        keep_width = false;
        text += "\n";
    }
}

std::string libsvm_text(const Model& model, const std::string& place) {
    check_exportable(model, place);
    double factor = 1;
    const KernelNode& kernel = plain_kernel(model.expansion().kernel.node(), factor);
    const Layout layout(model, factor);
    std::string text;
    append_header(text, model, kernel, layout, place);
    const bool precomputed = kernel.kind == KernelKind::precomputed;
    if (model.expansion().points.is_double()) {
        append_lines<double>(text, model, layout, precomputed);
    } else {
        append_lines<float>(text, model, layout, precomputed);
    }
    return text;
}

}  // namespace

std::string export_libsvm_to_memory(const Model& model) {
    return libsvm_text(model, "LIBSVM model");
}

void export_libsvm(const Model& model, const std::string& path) {
    const std::string text = libsvm_text(model, path);
    write_whole(path, [&](Output& out) { out.write(text); });
}

}  // namespace mercer
