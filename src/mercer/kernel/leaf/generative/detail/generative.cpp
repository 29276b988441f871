#include "mercer/kernel/leaf/generative/detail/generative.hpp"

#include <algorithm>
#include <array>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"

namespace mercer::leaves {
namespace {

constexpr std::array model_words{"gmm", "hmm"};
/// The tables of a model, in the order they are written.
const std::vector<std::string>& table_names(ModelKind kind) {
    static const std::vector<std::string> gmm{"weights", "means", "variances"};
    static const std::vector<std::string> hmm{"letters", "initial", "transition", "emission"};
    return kind == ModelKind::gmm ? gmm : hmm;
}
/// Parameters that stand inside the parentheses of the model.
bool belongs_to_model(const std::string& name) {
    return name != "model" && name != "information" && name != "order";
}
bool only_for_fitting(const std::string& name) {
    return belongs_to_model(name) && name != "alphabet";
}
std::string key(std::size_t model, const std::string& table) {
    return std::to_string(model) + "." + table;
}

/// "[1,2]" is a table of one row, "[[1],[2]]" one of two.
Matrix<double> read_table(Scanner& in) {
    const std::size_t start = in.position();
    in.expect('[', "to open a list of numbers");
    const bool nested = in.peek() == '[';
    in.go_back(start);
    if (nested) return read_matrix(in);
    in.expect('[', "to open a list of numbers");
    std::vector<double> values;
    do {
        const bool negative = in.accept('-');
        if (!in.at_number()) in.fail("expected a number, found " + in.found());
        values.push_back(negative ? -in.number() : in.number());
    } while (in.accept(','));
    in.expect(']', "to close the list");
    Matrix<double> table(1, values.size());
    table.values() = std::move(values);
    return table;
}

std::string table_text(const Matrix<double>& table) {
    const std::string text = matrix_text(table);
    return table.rows() == 1 ? text.substr(1, text.size() - 2) : text;
}

class Reader {
   public:
    Reader(Scanner& in, const KernelEntry& entry) : in_(in), entry_(entry) {}

    KernelNode read(std::size_t models) {
        start_ = in_.position();
        do {
            part();
        } while (in_.accept(','));
        KernelNode node{.kind = KernelKind::leaf, .given = ordered()};
        if (!tables_.empty()) {
            check(node, models);
            node.learnt = std::make_shared<const Learnt>(Learnt{std::move(tables_)});
        } else if (found_ > 1) {
            in_.fail_at(start_, entry_.name + " takes one model before it is fitted");
        }
        return node;
    }

   private:
    void part() {
        const std::size_t where = in_.position();
        if (!in_.at_word()) {
            in_.fail("expected gmm(components=8) or hmm(states=5), found " + in_.found());
        }
        const std::string word = in_.word();
        const auto model = std::ranges::find(model_words, word);
        if (model == model_words.end()) return named(word, where, false);
        give("model", static_cast<double>(model - model_words.begin()), where, found_ > 0);
        if (in_.accept('(') && !in_.accept(')')) {
            do {
                const std::size_t at = in_.position();
                if (!in_.at_word()) in_.fail("expected a parameter's name, found " + in_.found());
                named(in_.word(), at, true);
            } while (in_.accept(','));
            in_.expect(')', "to close " + word + "(");
        }
        ++found_;
    }

    void named(const std::string& name, std::size_t where, bool inside) {
        in_.expect('=', "because parameters of " + entry_.name + " are given by name");
        const auto& tables = table_names(ModelKind::gmm);
        const auto& others = table_names(ModelKind::hmm);
        const bool is_table = std::ranges::find(tables, name) != tables.end() ||
                              std::ranges::find(others, name) != others.end();
        if ((inside && is_table) || (!inside && name == "scale")) {
            const std::string place = name == "scale" ? name : key(found_, name);
            for (const auto& [known, ignored] : tables_) {
                if (known == place) in_.fail_at(where, name + " is given twice");
            }
            tables_.emplace_back(place, read_table(in_));
            return;
        }
        const ParameterForm* form = find_form(entry_, name);
        if (form == nullptr) {
            in_.fail_at(where, entry_.name + " has no parameter " + quoted(name) + "; it has " +
                                   parameter_names(entry_));
        }
        const std::size_t at = in_.position();
        double value = 0;
        if (!form->words.empty()) {
            const std::string word = in_.at_word() ? in_.word() : "";
            const auto found = std::ranges::find(form->words, word);
            if (found == form->words.end()) {
                in_.fail_at(at, "expected " + one_of(form->words) + " for " + form->name);
            }
            value = static_cast<double>(found - form->words.begin());
        } else {
            if (!in_.at_number()) in_.fail("expected a number, found " + in_.found());
            value = in_.number();
        }
        const std::string problem = parameter_problem(entry_, *form, value);
        if (!problem.empty()) in_.fail_at(at, problem);
        // A second model of a settled leaf says the same as the first.
        give(form->name, value, where, inside && found_ > 0);
    }

    void give(const std::string& name, double value, std::size_t where, bool again) {
        for (const auto& [known, old] : given_) {
            if (known != name) continue;
            if (again && std::get<double>(old) == value) return;
            in_.fail_at(where, again ? "the models of " + entry_.name + " must be of one kind"
                                     : name + " is given twice");
        }
        given_.emplace_back(name, value);
    }

    GivenParameters ordered() const {
        GivenParameters result;
        for (const ParameterForm& form : entry_.parameters) {
            for (const auto& own : given_) {
                const bool usual = form.fallback && *form.fallback == own.second;
                if (own.first == form.name && (!usual || form.name == "model")) {
                    result.push_back(own);
                }
            }
        }
        return result;
    }

    const Matrix<double>& table(std::size_t model, const std::string& name) {
        for (const auto& [known, found] : tables_) {
            if (known != key(model, name)) continue;
            if (found.rows() == 0) break;  // rows of different lengths
            return found;
        }
        in_.fail_at(start_, "a fitted model needs " + name + " as a table of numbers");
    }
    void need(bool holds, const std::string& message) {
        if (!holds) in_.fail_at(start_, message);
    }
    static bool are_chances(const Matrix<double>& table, bool whole) {
        for (std::size_t i = 0; i < table.rows(); ++i) {
            double sum = 0;
            for (const double v : table.row(i)) {
                if (!(v >= 0)) return false;
                sum += v;
            }
            if (!(sum > 0 && sum <= 1 + 1e-6) || (whole && sum < 1 - 1e-6)) return false;
        }
        return true;
    }

    void check(const KernelNode& node, std::size_t models) {
        need(found_ == models, entry_.name + " has " + std::to_string(models) +
                                   " fitted models, found " + std::to_string(found_));
        std::size_t expected = 0;
        for (const auto& [name, ignored] : tables_) expected += name == "scale" ? 0 : 1;
        const ModelKind kind = model_kind(node);
        need(expected == models * table_names(kind).size(),
             "the tables of a fitted model are " + one_of(table_names(kind)) + ", all of them");
        for (std::size_t m = 0; m < models; ++m) {
            kind == ModelKind::gmm ? check_mixture(m) : check_markov(m);
        }
    }
    void check_mixture(std::size_t m) {
        const auto& weights = table(m, "weights");
        const auto& means = table(m, "means");
        const auto& variances = table(m, "variances");
        need(weights.rows() == 1 && means.rows() == weights.columns() &&
                 variances.rows() == means.rows() && variances.columns() == means.columns() &&
                 means.columns() == table(0, "means").columns(),
             "weights, means and variances of a mixture do not fit together");
        need(are_chances(weights, false), "the weights of a mixture must be >= 0 and sum to 1");
        need(std::ranges::all_of(variances.values(), [](double v) { return v > 0; }),
             "the variances of a mixture must be above 0");
    }
    void check_markov(std::size_t m) {
        const auto& letters = table(m, "letters");
        const auto& initial = table(m, "initial");
        const auto& transition = table(m, "transition");
        const auto& emission = table(m, "emission");
        const std::size_t s = initial.columns();
        need(letters.rows() == 1 && initial.rows() == 1 && transition.rows() == s &&
                 transition.columns() == s && emission.rows() == s &&
                 emission.columns() == letters.columns() &&
                 letters.values() == table(0, "letters").values(),
             "letters, initial, transition and emission of a chain do not fit together");
        need(are_chances(initial, false) && are_chances(transition, true) &&
                 are_chances(emission, true),
             "the chances of a chain must be >= 0 and sum to 1");
        need(std::ranges::all_of(letters.values(),
                                 [](double v) { return v >= 0 && v < 256 && v == std::floor(v); }),
             "the letters of a chain are bytes, 0 to 255");
    }

    Scanner& in_;
    const KernelEntry& entry_;
    std::size_t start_ = 0;
    std::size_t found_ = 0;  ///< models so far
    GivenParameters given_{};
    std::vector<std::pair<std::string, Matrix<double>>> tables_{};
};

const Matrix<double>& table_of(const KernelNode& node, std::size_t model, const std::string& name) {
    return *node.learnt->find(key(model, name));
}

std::string model_text(const KernelNode& node, std::size_t model) {
    const ModelKind kind = model_kind(node);
    std::string inside;
    const auto separate = [&] { return inside.empty() ? "" : ", "; };
    for (const auto& [name, value] : node.given) {
        if (!belongs_to_model(name)) continue;
        inside += separate() + name + "=" + parameter_text(*find_form(node.entry(), name), value);
    }
    for (const std::string& name : table_names(kind)) {
        if (node.learnt == nullptr) break;
        inside += separate() + name + "=" + table_text(table_of(node, model, name));
    }
    const std::string word = model_words.at(static_cast<std::size_t>(kind));
    return inside.empty() ? word : word + "(" + inside + ")";
}

std::size_t model_count(const KernelNode& node) {
    std::size_t count = 0;
    while (node.learnt != nullptr &&
           node.learnt->find(key(count, table_names(model_kind(node)).front())) != nullptr) {
        ++count;
    }
    return std::max<std::size_t>(count, 1);
}

Matrix<double> one_row(const std::vector<double>& values) {
    Matrix<double> table(1, values.size());
    table.values() = values;
    return table;
}

/// The different letters of the texts, ascending.
std::vector<double> letters_in(const KernelNode& node, std::span<const Object> texts) {
    if (alphabet_of(node) == Alphabet::dna) return {0, 1, 2, 3};
    std::array<bool, 256> seen{};
    for (const Object& text : texts) {
        for (const std::uint8_t c : letters(std::get<std::string_view>(text), Alphabet::bytes)) {
            seen[c] = true;
        }
    }
    std::vector<double> result;
    for (std::size_t c = 0; c < seen.size(); ++c) {
        if (seen[c]) result.push_back(static_cast<double>(c));
    }
    if (result.empty()) throw InvalidInput("a hidden Markov model cannot be fitted to empty texts");
    return result;
}

Chain chain_of(std::string_view text, Alphabet alphabet, std::span<const double> known) {
    std::array<std::uint32_t, 256> place{};
    place.fill(unknown_letter);
    for (std::size_t k = 0; k < known.size(); ++k) {
        place[static_cast<std::size_t>(known[k])] = static_cast<std::uint32_t>(k);
    }
    Chain chain;
    for (const std::uint8_t c : letters(text, alphabet)) chain.push_back(place[c]);
    return chain;
}

void fit_mixture_of(std::span<const Object> rows, const EmSettings& settings, double share,
                    std::size_t model, Learnt& out) {
    std::vector<std::span<const double>> values;
    for (const Object& row : rows) values.push_back(std::get<std::span<const double>>(row));
    Mixture fitted = fit_mixture(values, settings);
    for (double& weight : fitted.weights) weight *= share;
    out.tables.emplace_back(key(model, "weights"), one_row(fitted.weights));
    out.tables.emplace_back(key(model, "means"), std::move(fitted.means));
    out.tables.emplace_back(key(model, "variances"), std::move(fitted.variances));
}

void fit_markov_of(const KernelNode& node, std::span<const Object> texts,
                   const std::vector<double>& known, const EmSettings& settings, double share,
                   std::size_t model, Learnt& out) {
    std::vector<Chain> chains;
    for (const Object& text : texts) {
        chains.push_back(chain_of(std::get<std::string_view>(text), alphabet_of(node), known));
    }
    Markov fitted = fit_markov(chains, known.size(), settings);
    for (double& chance : fitted.initial) chance *= share;
    out.tables.emplace_back(key(model, "letters"), one_row(known));
    out.tables.emplace_back(key(model, "initial"), one_row(fitted.initial));
    out.tables.emplace_back(key(model, "transition"), std::move(fitted.transition));
    out.tables.emplace_back(key(model, "emission"), std::move(fitted.emission));
}

}  // namespace

ModelKind model_kind(const KernelNode& node) {
    for (const auto& [name, value] : node.given) {
        if (name == "model")
            return static_cast<ModelKind>(static_cast<int>(std::get<double>(value)));
    }
    return ModelKind::gmm;
}

std::vector<ParameterForm> generative_forms(std::vector<ParameterForm> more) {
    std::vector<ParameterForm> forms{word("model", {"gmm", "hmm"}),
                                     whole("components", {}, 1, 1000, 4.0),
                                     whole("states", {}, 1, 100, 4.0),
                                     alphabet_form(),
                                     whole("iterations", {}, 1, 10000, 100.0),
                                     whole("seed", {}, 0, 1e9, 1.0)};
    for (ParameterForm& form : more) forms.push_back(std::move(form));
    return forms;
}

KernelNode read_generative(Scanner& in, const KernelEntry& entry, std::size_t models) {
    return Reader(in, entry).read(models);
}

std::string generative_arguments(const KernelNode& node) {
    std::string text;
    for (std::size_t m = 0; m < model_count(node); ++m) {
        text += (m == 0 ? "" : ", ") + model_text(node, m);
    }
    for (const auto& [name, value] : node.given) {
        if (belongs_to_model(name) || name == "model") continue;
        text += ", " + name + "=" + parameter_text(*find_form(node.entry(), name), value);
    }
    const Matrix<double>* scale = node.learnt == nullptr ? nullptr : node.learnt->find("scale");
    return scale == nullptr ? text : text + ", scale=" + table_text(*scale);
}

ObjectKind generative_objects(const KernelNode& node) {
    return model_kind(node) == ModelKind::gmm ? ObjectKind::numbers : ObjectKind::text;
}

Mixture mixture_of(const KernelNode& node, std::size_t model) {
    return {table_of(node, model, "weights").values(), table_of(node, model, "means"),
            table_of(node, model, "variances")};
}

Markov markov_of(const KernelNode& node, std::size_t model) {
    return {table_of(node, model, "initial").values(), table_of(node, model, "transition"),
            table_of(node, model, "emission")};
}

Chain chain_of(const KernelNode& node, const Object& object) {
    return chain_of(std::get<std::string_view>(object), alphabet_of(node),
                    table_of(node, 0, "letters").values());
}

double model_score(const KernelNode& node, std::size_t model, const Object& object,
                   std::vector<double>& slopes) {
    if (model_kind(node) == ModelKind::hmm) {
        return markov_score(markov_of(node, model), chain_of(node, object), slopes);
    }
    return mixture_of(node, model).score(std::get<std::span<const double>>(object), slopes);
}

KernelNode fit_models(const KernelNode& node, std::span<const Object> objects,
                      std::span<const std::int32_t> classes, std::size_t models) {
    const bool gmm = model_kind(node) == ModelKind::gmm;
    const EmSettings settings{
        .parts = static_cast<std::size_t>(node.parameter(gmm ? "components" : "states")),
        .iterations = static_cast<std::size_t>(node.parameter("iterations")),
        .seed = static_cast<std::uint64_t>(node.parameter("seed"))};
    const std::vector<double> known = gmm ? std::vector<double>() : letters_in(node, objects);
    Learnt learnt;
    for (std::size_t m = 0; m < models; ++m) {
        std::vector<Object> own;
        for (std::size_t i = 0; i < objects.size(); ++i) {
            if (models == 1 || classes[i] == static_cast<std::int32_t>(m))
                own.push_back(objects[i]);
        }
        const double share =
            models == 1 ? 1 : static_cast<double>(own.size()) / static_cast<double>(objects.size());
        if (gmm) {
            fit_mixture_of(own, settings, share, m, learnt);
        } else {
            fit_markov_of(node, own, known, settings, share, m, learnt);
        }
    }
    KernelNode fitted = node;
    std::erase_if(fitted.given, [](const auto& own) { return only_for_fitting(own.first); });
    fitted.learnt = std::make_shared<const Learnt>(std::move(learnt));
    return fitted;
}

KernelNode scaled(KernelNode fitted, std::span<const Object> objects, Score score) {
    if (fitted.parameter("information") == 0) return fitted;
    std::vector<double> squares;
    for (const Object& object : objects) {
        const std::vector<double> slopes = score(fitted, object);
        squares.resize(slopes.size(), 0.0);
        for (std::size_t k = 0; k < squares.size(); ++k) squares[k] += slopes[k] * slopes[k];
    }
    const double most = *std::ranges::max_element(squares);
    for (double& v : squares) {
        // A slope that is 0 but for rounding says nothing, however it is scaled.
        v = v > 1e-20 * most ? std::sqrt(static_cast<double>(objects.size()) / v) : 0;
    }
    Learnt learnt = *fitted.learnt;
    learnt.tables.emplace_back("scale", one_row(squares));
    fitted.learnt = std::make_shared<const Learnt>(std::move(learnt));
    return fitted;
}

Leaf generative_leaf(KernelEntry entry, decltype(Leaf::features) features,
                     decltype(Leaf::read) read, decltype(Leaf::settle) settle) {
    return {.entry = std::move(entry),
            .features = features,
            .objects_by_parameter = generative_objects,
            .read = read,
            .arguments = generative_arguments,
            .waits = is_unfitted,
            .settle = settle};
}

void write_features(const KernelNode& node, const std::vector<double>& score, Features& out) {
    const Matrix<double>* scale = node.learnt->find("scale");
    if (scale != nullptr && scale->columns() != score.size()) {
        throw InvalidInput("the scale of " + node.entry().name + " has " +
                           std::to_string(scale->columns()) + " numbers for " +
                           std::to_string(score.size()) + " slopes");
    }
    for (std::size_t k = 0; k < score.size(); ++k) {
        out.push_back({hash_number(k + 1), score[k] * (scale == nullptr ? 1 : (*scale)(0, k))});
    }
}

}  // namespace mercer::leaves
