#include "mercer/picture/detect.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/learn/compress/cascade.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/picture/image.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer {
namespace {

/// A picture made smaller by any factor: each pixel the mean of the area it covers.
Plane resampled(const Plane& from, std::size_t height, std::size_t width) {
    const auto squeeze = [](const Plane& p, std::size_t rows) {  // lines only
        Plane out(rows, p.columns());
        const double step = static_cast<double>(p.rows()) / static_cast<double>(rows);
        parallel_ranges(rows, 32, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const double low = static_cast<double>(i) * step, high = low + step;
                for (auto y = static_cast<std::size_t>(low);
                     y < p.rows() && static_cast<double>(y) < high; ++y) {
                    const double part = std::min(high, static_cast<double>(y + 1)) -
                                        std::max(low, static_cast<double>(y));
                    for (std::size_t j = 0; j < p.columns(); ++j) {
                        out(i, j) += part / step * p(y, j);
                    }
                }
            }
        });
        return out;
    };
    const auto turned = [](const Plane& p) {
        Plane out(p.columns(), p.rows());
        for (std::size_t i = 0; i < p.rows(); ++i) {
            for (std::size_t j = 0; j < p.columns(); ++j) out(j, i) = p(i, j);
        }
        return out;
    };
    return turned(squeeze(turned(squeeze(from, height)), width));
}

/// Towards the class sought.
double sign_of(const Model& model, const std::string& keep) {
    if (!is_classifier(model.task()) || model.classes() != 2) {
        throw InvalidInput(
            "things are found by a classifier of two classes; this model is of task " +
            task_name(model.task()));
    }
    if (keep.empty()) return kept_sign(model);
    for (std::size_t c = 0; c < 2; ++c) {
        if (model.class_names()[c] == keep) return c == 0 ? 1 : -1;
    }
    throw InvalidInput("there is no class '" + keep + "'; the classes are " +
                       model.class_names()[0] + " and " + model.class_names()[1]);
}

void check_settings(const DetectSettings& s, const Model& model) {
    require_range("the scale of a search", s.scale, s.scale > 1, "above 1");
    require_range("the largest scale of a search", s.largest, s.largest > 0 && s.largest <= 1,
                  "above 0 and at most 1");
    require_range("the overlap of boxes", s.overlap, s.overlap >= 0 && s.overlap <= 1,
                  "between 0 and 1");
    require_range("the threshold of a search", s.threshold, true, "a finite number");
    if (s.step == 0 || s.height == 0 || s.width == 0 || s.height > 4096 || s.width > 4096) {
        throw InvalidInput("patches and the steps between them must be at least a pixel");
    }
    if (model.columns() != s.height * s.width) {
        throw InvalidInput("the model is for rows of " + std::to_string(model.columns()) +
                           " columns; patches of " + std::to_string(s.height) + " x " +
                           std::to_string(s.width) + " pixels have " +
                           std::to_string(s.height * s.width));
    }
}

/// The places of the patches of one scale, and the patches of some lines of them as rows.
struct Scale {
    const Plane& plane;
    const DetectSettings& settings;

    std::size_t down() const { return (plane.rows() - settings.height) / settings.step + 1; }
    std::size_t across() const { return (plane.columns() - settings.width) / settings.step + 1; }

    Rows patches(std::size_t first_line, std::size_t last_line) const {
        const std::size_t pixels = settings.height * settings.width;
        const std::size_t count = (last_line - first_line) * across();
        std::vector<float> values(count * pixels);
        const RowTransform contrast = contrast_row();
        parallel_ranges(count, 256, [&](std::size_t first, std::size_t last) {
            std::vector<double> row(pixels), out(pixels);
            for (std::size_t p = first; p < last; ++p) {
                const std::size_t top = (first_line + p / across()) * settings.step;
                const std::size_t left = p % across() * settings.step;
                for (std::size_t k = 0; k < pixels; ++k) {
                    row[k] = plane(top + k / settings.width, left + k % settings.width);
                }
                if (settings.contrast) {
                    contrast(row, out);
                    row.swap(out);
                }
                for (std::size_t k = 0; k < pixels; ++k) {
                    values[p * pixels + k] = static_cast<float>(row[k]);
                }
            }
        });
        return Rows::dense(std::move(values), pixels);
    }
};

/// Evaluates rows by the cascade, or by the whole expansion.
CascadeRun evaluate(const Predictor& predictor, const Rows& rows) {
    const Model& model = predictor.model();
    if (is_cascade(model)) return run_cascade(model, rows);
    CascadeRun run;
    run.decisions = predictor.decision(rows);
    run.kernels.assign(rows.size(), model.expansion().size());
    run.stages = {model.expansion().size()};
    run.left = {rows.size()};
    return run;
}

double shared_part(const Detection& a, const Detection& b) {
    const double down = std::min(a.top + a.height, b.top + b.height) - std::max(a.top, b.top);
    const double across = std::min(a.left + a.width, b.left + b.width) - std::max(a.left, b.left);
    if (down <= 0 || across <= 0) return 0;
    const double both = down * across;
    return both / (a.height * a.width + b.height * b.width - both);
}

void leave_out_overlaps(std::vector<Detection>& found, double overlap) {
    std::ranges::stable_sort(
        found, [](const Detection& a, const Detection& b) { return a.value > b.value; });
    std::vector<Detection> kept;
    for (const Detection& d : found) {
        if (std::ranges::none_of(kept,
                                 [&](const Detection& k) { return shared_part(d, k) > overlap; })) {
            kept.push_back(d);
        }
    }
    found = std::move(kept);
}

}  // namespace

DetectRun detect(const Model& model, const Image& image, const DetectSettings& settings) {
    check_settings(settings, model);
    const double sign = sign_of(model, settings.keep);
    const Plane whole = plane_of(grey_image(image));
    const auto fits = [&](double size) {
        return static_cast<double>(whole.rows()) * size >= static_cast<double>(settings.height) &&
               static_cast<double>(whole.columns()) * size >= static_cast<double>(settings.width);
    };
    if (!fits(settings.largest)) {
        throw InvalidInput("the picture is smaller than a patch of " +
                           std::to_string(settings.height) + " x " +
                           std::to_string(settings.width) + " pixels");
    }
    const Predictor predictor(model);
    DetectRun result;
    double kernels = 0;
    const double last =
        std::max(static_cast<double>(settings.height) / static_cast<double>(whole.rows()),
                 static_cast<double>(settings.width) / static_cast<double>(whole.columns()));
    for (double size = settings.largest; fits(size); size /= settings.scale) {
        const double done =
            std::log(settings.largest / size) / std::max(1e-9, std::log(settings.largest / last));
        if (!keep_going(settings.progress, {"searching", std::clamp(done, 0.0, 1.0)})) {
            throw Cancelled();
        }
        const Plane plane =
            resampled(whole, static_cast<std::size_t>(static_cast<double>(whole.rows()) * size),
                      static_cast<std::size_t>(static_cast<double>(whole.columns()) * size));
        const double pixel = static_cast<double>(whole.rows()) / static_cast<double>(plane.rows());
        const Scale scale{plane, settings};
        ++result.scales;
        const std::size_t lines = std::max<std::size_t>(1, 65536 / scale.across());
        for (std::size_t line = 0; line < scale.down(); line += lines) {
            const CascadeRun run =
                evaluate(predictor, scale.patches(line, std::min(scale.down(), line + lines)));
            result.stages = run.stages;
            result.left.resize(run.left.size(), 0);
            for (std::size_t s = 0; s < run.left.size(); ++s) result.left[s] += run.left[s];
            for (std::size_t p = 0; p < run.kernels.size(); ++p) {
                kernels += static_cast<double>(run.kernels[p]);
                const double value = sign * run.decisions(p, 0);
                if (value <= settings.threshold) continue;
                result.found.push_back(
                    {.top =
                         pixel * static_cast<double>((line + p / scale.across()) * settings.step),
                     .left = pixel * static_cast<double>(p % scale.across() * settings.step),
                     .height = pixel * static_cast<double>(settings.height),
                     .width = pixel * static_cast<double>(settings.width),
                     .value = value});
            }
            result.patches += run.kernels.size();
        }
    }
    result.accepted = result.found.size();
    result.average_kernels =
        kernels / static_cast<double>(std::max<std::size_t>(1, result.patches));
    leave_out_overlaps(result.found, settings.overlap);
    return result;
}

Image with_boxes(const Image& image, std::span<const Detection> boxes) {
    image.check();
    Image out = Image::filled(image.height, image.width, 3, 0);
    for (std::size_t i = 0; i < image.height; ++i) {
        for (std::size_t j = 0; j < image.width; ++j) {
            for (std::size_t c = 0; c < 3; ++c) {
                out.at(i, j, c) = image.at(i, j, image.channels == 3 ? c : 0);
            }
        }
    }
    const auto paint = [&](double y, double x) {
        if (!(y >= 0 && x >= 0) || y >= static_cast<double>(image.height) ||
            x >= static_cast<double>(image.width)) {
            return;
        }
        const auto i = static_cast<std::size_t>(y), j = static_cast<std::size_t>(x);
        out.at(i, j, 0) = 255;
        out.at(i, j, 1) = 220;
        out.at(i, j, 2) = 0;
    };
    for (const Detection& b : boxes) {
        for (double t = 0; t <= b.width; ++t) {
            for (const double edge : {0.0, 1.0}) {
                paint(b.top + edge, b.left + t);
                paint(b.top + b.height - edge, b.left + t);
            }
        }
        for (double t = 0; t <= b.height; ++t) {
            for (const double edge : {0.0, 1.0}) {
                paint(b.top + t, b.left + edge);
                paint(b.top + t, b.left + b.width - edge);
            }
        }
    }
    return out;
}

}  // namespace mercer
