#include <array>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer {
namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

constexpr double most_times = 10000;

/// A part of the list: "shift(2)" is shift and 2, "16*deform(1)" is that sixteen times.
struct Part {
    std::string_view text;
    std::string_view name;
    double amount = 1;
    bool given = false;
    double times = 1;
};

Part part_of(std::string_view text) {
    Part part{.text = text, .name = text};
    if (const std::size_t by = text.find('*'); by != std::string_view::npos) {
        const auto times = parse_number(trimmed(text.substr(0, by)));
        if (!times || *times < 1 || *times > most_times || *times != std::floor(*times)) {
            throw InvalidInput(
                "how many times is a whole number from 1 to 10000, as in 16*deform(1); found " +
                quoted(text));
        }
        part.times = *times;
        text = trimmed(text.substr(by + 1));
        part.name = text;
    }
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos) return part;
    part.name = trimmed(text.substr(0, open));
    const auto value = text.back() == ')'
                           ? parse_number(trimmed(text.substr(open + 1, text.size() - open - 2)))
                           : std::nullopt;
    if (!value) {
        throw InvalidInput("a transformation is written as shift(1), found " + quoted(text));
    }
    part.amount = *value;
    part.given = true;
    return part;
}

class List {
   public:
    List(const ImageShape& shape, std::vector<NamedTransform>& out) : shape_(shape), out_(out) {}

    void add(const Part& part) {
        const double a = part.amount;
        if (part.times > 1 && part.name != "deform") {
            throw InvalidInput(quoted(part.text) +
                               " would be the same each time; deform(a) alone is not");
        }
        if (part.name == "shift") {
            add_shifts(a);
        } else if (part.name == "rotate") {
            both(part, rotate_image(shape_, a), rotate_image(shape_, -a));
        } else if (part.name == "scale") {
            both(part, scale_image(shape_, a, a), scale_image(shape_, 1 / a, 1 / a));
        } else if (part.name == "shear") {
            both(part, shear_image(shape_, a), shear_image(shape_, -a));
        } else if (part.name == "thicken") {
            both(part, thicken_image(shape_, a), thicken_image(shape_, -a));
        } else if (part.name == "elastic") {
            both(part, elastic_image(shape_, a, 4, 1), elastic_image(shape_, a, 4, 2));
        } else if (part.name == "deform") {
            for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(part.times); ++seed) {
                out_.push_back({"deform(" + format_number(a) + ") " + std::to_string(seed),
                                deform_image(shape_, a, seed)});
            }
        } else if (part.name == "deskew" && !part.given) {
            out_.push_back({"deskew", deskew_image(shape_)});
        } else if (part.name == "contrast" && !part.given) {
            out_.push_back({"contrast", contrast_row()});
        } else {
            throw InvalidInput("there is no transformation " + quoted(part.text) +
                               "; there are shift(n), rotate(degrees), scale(factor), shear(s), "
                               "thicken(a), elastic(a), deform(a), deskew and contrast");
        }
    }

   private:
    void both(const Part& part, RowTransform one, RowTransform other) {
        out_.push_back({std::string(part.text), std::move(one)});
        out_.push_back({std::string(part.text) + " back", std::move(other)});
    }

    void add_shifts(double n) {
        constexpr std::array<std::pair<int, int>, 8> ways = {
            {{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}}};
        for (std::size_t w = 0; w < (n == 1 ? 8U : 4U); ++w) {
            const auto [down, right] = ways[w];
            out_.push_back({"shift " + format_number(n * down) + "," + format_number(n * right),
                            shift_image(shape_, n * down, n * right)});
        }
    }

    const ImageShape& shape_;
    std::vector<NamedTransform>& out_;
};

}  // namespace

ImageShape parse_shape(std::string_view text, std::size_t columns, double background) {
    ImageShape shape{.background = background};
    if (text.empty()) {
        const auto side =
            static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(columns))));
        shape.height = shape.width = side;
    } else {
        const auto number = [](std::string_view part) {
            const auto value = parse_number(trimmed(part));
            const bool fine =
                value && *value >= 1 && *value <= 16384 && *value == std::floor(*value);
            return fine ? static_cast<std::size_t>(*value) : std::size_t{0};
        };
        const std::size_t by = std::min(text.find('x'), text.size());
        shape.height = number(text.substr(0, by));
        shape.width = by < text.size() ? number(text.substr(by + 1)) : 0;
    }
    if (shape.pixels() == 0 || shape.pixels() != columns) {
        throw InvalidInput("rows of " + std::to_string(columns) + " columns are no picture of " +
                           (text.empty() ? "a square shape" : "shape " + quoted(text)) +
                           "; say HEIGHTxWIDTH, as 28x28");
    }
    return shape;
}

std::vector<NamedTransform> parse_transforms(std::string_view text, const ImageShape& shape) {
    std::vector<NamedTransform> result;
    List list(shape, result);
    while (true) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string_view word = trimmed(text.substr(0, end));
        if (word.empty()) {
            throw InvalidInput(
                "the list of transformations has an empty part; shift(1), rotate(10) "
                "is one");
        }
        list.add(part_of(word));
        if (end == text.size()) break;
        text.remove_prefix(end + 1);
    }
    return result;
}

}  // namespace mercer
