// Charts as SVG text.
#include <algorithm>
#include <array>
#include <cmath>

#include "mercer/chart/detail/canvas.hpp"
#include "mercer/chart/detail/number.hpp"
#include "mercer/picture/detail/image_format.hpp"

namespace mercer::chart {
namespace {

/// Text for elements and attributes. Control characters, which XML has no place for, become blanks,
/// and bytes that are no UTF-8 become question marks.
std::string escaped(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '&') {
            result += "&amp;";
        } else if (byte == '<') {
            result += "&lt;";
        } else if (byte == '>') {
            result += "&gt;";
        } else if (byte == '"') {
            result += "&quot;";
        } else if (byte < 0x20 || byte == 0x7F) {
            result += ' ';
        } else if (byte < 0x80) {
            result += text[i];
        } else {
            const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
            bool whole = byte >= 0xC2 && byte < 0xF5 && i + length <= text.size();
            for (std::size_t k = 1; whole && k < length; ++k) {
                whole = (static_cast<unsigned char>(text[i + k]) & 0xC0) == 0x80;
            }
            result += whole ? text.substr(i, length) : std::string_view("?");
            if (whole) i += length - 1;
        }
    }
    return result;
}

std::string hex(Colour c) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "#";
    for (const std::uint8_t v : {c.red, c.green, c.blue}) {
        text += digits[v / 16];
        text += digits[v % 16];
    }
    return text;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t word = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            word =
                word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            text += i + k > bytes.size() ? '=' : letters[word >> (18 - 6 * k) & 63];
        }
    }
    return text;
}

class SvgCanvas final : public Canvas {
   public:
    void fill(const std::vector<Path>& polygons, Colour colour, std::string_view tip) override {
        if (polygons.empty()) return;
        body_ += "<path d=\"" + data(polygons, true) + "\" fill=\"" + hex(colour) + '"' +
                 opacity("fill", colour) + end(tip, "path");
    }
    void stroke(const std::vector<Path>& paths, const Stroke& style) override {
        const std::string d = data(paths, false);
        if (d.empty()) return;
        body_ += "<path d=\"" + d + "\" fill=\"none\" stroke=\"" + hex(style.colour) +
                 "\" stroke-width=\"" + pixel_number(style.width) + '"' +
                 (style.dashed ? " stroke-dasharray=\"5 4\"" : "") +
                 opacity("stroke", style.colour) + "/>\n";
    }
    void mark(Place at, const Dots& style, std::string_view tip) override {
        const bool strokes = style.shape == Shape::cross || style.shape == Shape::plus;
        if (style.shape == Shape::circle || style.shape == Shape::ring) {
            body_ += "<circle cx=\"" + pixel_number(at.x) + "\" cy=\"" + pixel_number(at.y) +
                     "\" r=\"" + pixel_number(style.size) + '"';
        } else {
            body_ += "<path d=\"" +
                     (strokes ? data(marker_strokes(at, style.shape, style.size), false)
                              : data({marker_outline(at, style.shape, style.size)}, true)) +
                     '"';
        }
        if (strokes || style.shape == Shape::ring) {
            body_ += " fill=\"none\" stroke=\"" + hex(style.colour) + "\" stroke-width=\"1.3\"" +
                     opacity("stroke", style.colour);
        } else {
            // A pale rim keeps points apart that lie on one another.
            body_ += " fill=\"" + hex(style.colour) + "\" stroke=\"#ffffff\" stroke-width=\"0.5\"" +
                     opacity("fill", style.colour);
        }
        body_ += end(
            tip, style.shape == Shape::circle || style.shape == Shape::ring ? "circle" : "path");
    }
    void words(const Label& label) override {
        if (label.text.empty()) return;
        constexpr std::array<std::string_view, 3> anchors{"start", "middle", "end"};
        body_ += "<text x=\"" + pixel_number(label.at.x) + "\" y=\"" + pixel_number(label.at.y) +
                 "\" font-size=\"" + pixel_number(label.size) + '"';
        if (label.anchor != Anchor::start) {
            body_ += " text-anchor=\"" +
                     std::string(anchors[static_cast<std::size_t>(label.anchor)]) + '"';
        }
        if (label.upwards) {
            body_ += " transform=\"rotate(-90 " + pixel_number(label.at.x) + ' ' +
                     pixel_number(label.at.y) + ")\"";
        }
        body_ += " fill=\"" + hex(label.colour) + "\">" + escaped(label.text) + "</text>\n";
    }
    void cells(const Box& box, std::size_t rows, std::size_t columns,
               const std::vector<Colour>& colours) override {
        if (colours.empty()) return;
        Image image = Image::filled(rows, columns, 3, 0);
        for (std::size_t k = 0; k < colours.size(); ++k) {
            image.pixels[3 * k] = colours[k].red;
            image.pixels[3 * k + 1] = colours[k].green;
            image.pixels[3 * k + 2] = colours[k].blue;
        }
        body_ += "<image x=\"" + pixel_number(box.left) + "\" y=\"" + pixel_number(box.top) +
                 "\" width=\"" + pixel_number(box.width) + "\" height=\"" +
                 pixel_number(box.height) +
                 "\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
                 "href=\"data:image/png;base64," +
                 base64(encode_png(image)) + "\"/>\n";
    }
    void clip(const Box& box) override {
        // Named by what it is: pages hold several drawings, and equal names there are one thing.
        const std::string id = "clip_" + pixel_number(box.left) + '_' + pixel_number(box.top) +
                               '_' + pixel_number(box.width) + '_' + pixel_number(box.height);
        body_ += "<clipPath id=\"" + id + "\"><rect x=\"" + pixel_number(box.left) + "\" y=\"" +
                 pixel_number(box.top) + "\" width=\"" + pixel_number(box.width) + "\" height=\"" +
                 pixel_number(box.height) + "\"/></clipPath>\n<g clip-path=\"url(#" + id + ")\">\n";
    }
    void unclip() override { body_ += "</g>\n"; }

    std::string text(Place size, std::string_view title) const {
        const std::string width = pixel_number(size.x);
        const std::string height = pixel_number(size.y);
        std::string head =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
            "\" viewBox=\"0 0 " + width + ' ' + height +
            "\" font-family=\"system-ui,-apple-system,'Segoe UI',Arial,sans-serif\" role=\"img\"";
        if (!title.empty()) head += " aria-label=\"" + escaped(title) + '"';
        return head + ">\n" + body_ + "</svg>\n";
    }

   private:
    static std::string data(const std::vector<Path>& paths, bool closed) {
        std::string d;
        for (const Path& path : paths) {
            if (path.size() < 2) continue;
            // Differences of rounded places: short, and errors do not add up.
            Place last{};
            for (std::size_t k = 0; k < path.size(); ++k) {
                const Place p{std::round(path[k].x * 10), std::round(path[k].y * 10)};
                if (k == 0) {
                    d += 'M' + tenth(p.x) + ' ' + tenth(p.y);
                } else {
                    const std::string y = tenth(p.y - last.y);
                    d += (k == 1 ? "l" : " ") + tenth(p.x - last.x) + (y[0] == '-' ? "" : " ") + y;
                }
                last = p;
            }
            if (closed) d += 'z';
        }
        return d;
    }
    static std::string tenth(double tenths) { return pixel_number(tenths / 10); }
    static std::string opacity(std::string_view what, Colour colour) {
        if (colour.opacity >= 1) return {};
        return ' ' + std::string(what) + "-opacity=\"" + pixel_number(colour.opacity) + '"';
    }
    static std::string end(std::string_view tip, std::string_view element) {
        if (tip.empty()) return "/>\n";
        return "><title>" + escaped(tip) + "</title></" + std::string(element) + ">\n";
    }

    std::string body_;
};

}  // namespace

std::string svg(const Drawing& figure) {
    check(figure);
    SvgCanvas canvas;
    const Place size = lay_out(figure, &canvas);
    return canvas.text(size, figure.title);
}

}  // namespace mercer::chart
