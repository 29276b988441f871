#include "mercer/chart/chart.hpp"

#include <cmath>
#include <string_view>

#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"

namespace mercer::chart {
namespace {

void require(bool fine, const std::string& message) {
    if (!fine) throw InvalidInput("a chart's " + message);
}

std::string lengths(std::size_t a, std::size_t b) {
    return std::to_string(a) + " and " + std::to_string(b);
}

struct Checker {
    static void same(std::string_view what, std::size_t a, std::size_t b) {
        require(a == b, std::string(what) + " must be equally many, found " + lengths(a, b));
    }
    static void tips(const std::vector<std::string>& tips, std::size_t count) {
        if (!tips.empty()) same("values and tips", count, tips.size());
    }
    static void field(const GridField& f) {
        require(f.values.rows() >= 2 && f.values.columns() >= 2,
                "field needs two rows and two columns at least, found " +
                    lengths(f.values.rows(), f.values.columns()));
        require(std::isfinite(f.left) && std::isfinite(f.right) && std::isfinite(f.bottom) &&
                    std::isfinite(f.top) && f.left < f.right && f.bottom < f.top,
                "field needs finite ends, the lower before the upper");
    }
    void operator()(const Line& s) const { same("x and y", s.x.size(), s.y.size()); }
    void operator()(const Dots& s) const {
        same("x and y", s.x.size(), s.y.size());
        tips(s.tips, s.x.size());
    }
    void operator()(const Bars& s) const {
        same("from and height", s.from.size(), s.height.size());
        same("to and height", s.to.size(), s.height.size());
        tips(s.tips, s.height.size());
    }
    void operator()(const Band& s) const {
        same("x and low", s.x.size(), s.low.size());
        same("x and high", s.x.size(), s.high.size());
    }
    void operator()(const Fill& s) const {
        field(s.field);
        same("colours and levels plus one", s.colours.size(), s.levels.size() + 1);
    }
    void operator()(const Level& s) const { field(s.field); }
    void operator()(const HeatMap& s) const {
        require(!s.values.values().empty(), "heat map has no cells");
        require(s.values.rows() <= 4096 && s.values.columns() <= 4096,
                "heat map has at most 4096 rows and columns, found " +
                    lengths(s.values.rows(), s.values.columns()));
        tips(s.tips, s.values.values().size());
    }
    void operator()(const Note&) const {}
};

void check_axis(const ChartAxis& axis) {
    require(!axis.low || std::isfinite(*axis.low), "axis needs finite ends");
    require(!axis.high || std::isfinite(*axis.high), "axis needs finite ends");
    require(!axis.low || !axis.high || *axis.low < *axis.high,
            "axis needs its lower end before its upper");
    require(!axis.log || !axis.low || *axis.low > 0, "log axis needs an end above 0");
}

}  // namespace

void check(const Drawing& figure) {
    require(!figure.panels.empty(), "panels are missing: add one with panel()");
    for (const Panel& panel : figure.panels) {
        require(panel.width >= 20 && panel.width <= 10000 && panel.height >= 20 &&
                    panel.height <= 10000,
                "panel must be 20 to 10000 pixels wide and high, found " +
                    format_number(panel.width) + " and " + format_number(panel.height));
        check_axis(panel.x);
        check_axis(panel.y);
        for (const Series& series : panel.series) std::visit(Checker{}, series);
    }
}

void write(const Drawing& figure, const std::string& path) {
    const bool dots = path.ends_with(".png");
    if (!dots && !path.ends_with(".svg")) {
        throw InvalidInput(Location{.file = path},
                           "charts are written as .svg or .png; name it so");
    }
    const std::string bytes = dots ? png(figure) : svg(figure);
    write_whole(path, [&](Output& out) { out.write(bytes); });
}

}  // namespace mercer::chart
