// Things found in pictures (001, "Face Detection"): every patch of the picture, at several scales,
// is a row for a machine of two classes; a cascade (learn/compress/cascade.hpp) rejects most of
// them after few kernels.
//
//   DetectRun run = detect(quick, photo, {.height = 19, .width = 19, .keep = "1"});
//   for (const Detection& d : run.found) d.value;
//   write_image(with_boxes(photo, run.found), "found.png");
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/picture/image.hpp"

namespace mercer MERCER_API {

struct DetectSettings {
    std::size_t height = 19;  ///< of a patch
    std::size_t width = 19;
    std::string keep{};    ///< the class sought; empty: the one a cascade keeps, else the first
    double scale = 1.2;    ///< each scale so many times smaller than the one before
    double largest = 1;    ///< of the scales: 1 is the picture as it is, 0.5 half as large
    std::size_t step = 1;  ///< pixels between patches, at each scale
    double threshold = 0;  ///< accept above this decision value (towards the class sought)
    double overlap = 0.3;  ///< of two boxes that share more of their union the weaker goes
    bool contrast = true;  ///< patches are brought to mean 0 and deviation 1, as `contrast` does
    Progress progress{};
};

struct Detection {
    double top = 0, left = 0, height = 0, width = 0;  ///< in pixels of the picture
    double value = 0;                                 ///< decision towards the class sought
};

struct DetectRun {
    std::vector<Detection> found{};  ///< strongest first
    std::size_t scales = 0;
    std::size_t patches = 0;
    std::size_t accepted = 0;           ///< before overlapping ones were left out
    std::vector<std::size_t> stages{};  ///< numbers of kernels; of a plain machine one: all
    std::vector<std::size_t> left{};    ///< patches left after each
    double average_kernels = 0;         ///< a patch
};

/// Throws InvalidInput for a model that is no classifier of two classes or has other columns than a
/// patch has pixels, and for a picture smaller than a patch; Cancelled.
DetectRun detect(const Model& model, const Image& image, const DetectSettings& settings);

/// The picture in colour with a frame around each.
Image with_boxes(const Image& image, std::span<const Detection> boxes);

}  // namespace mercer
