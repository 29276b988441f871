// Data to begin with: two small real sets carried inside the library, and point sets made by
// formula for teaching, tests and pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/dataset.hpp"

namespace mercer MERCER_API {

/// A real data set that needs no file: "digits" (1797 handwritten digits of 8 × 8 pixels, entries
/// 0 … 16) or "iris" (150 flowers, 4 measurements in cm, 3 species). data/README.md credits them.
/// Throws InvalidInput for another name.
Dataset embedded(std::string_view name);

/// What is known of a named set or generator, for help texts and messages.
struct SampleEntry {
    std::string name;
    std::string about;
};
const std::vector<SampleEntry>& embedded_table();

/// How `make` draws its points.
struct SampleOptions {
    std::size_t n = 200;            ///< rows, 1 … 100 million
    std::optional<double> noise{};  ///< standard deviation; each kind has its own default
    std::uint64_t seed = 1;
    std::size_t classes = 3;  ///< blobs only: how many, 1 … n
    std::size_t columns = 2;  ///< blobs only: dimension, 1 … 10000
    double turns = 1.5;       ///< spirals only: how often an arm winds round the origin, > 0
    std::size_t cells = 4;    ///< checkerboard only: squares along each side, 2 … 1000
};

/// Points drawn by a formula; the same options give the same points on every machine. With ε a
/// normal deviate of deviation `noise` (added to each coordinate unless said otherwise), and the
/// classes taken in turn so that they have equal size:
///
///   sinc          x uniform in [−3, 3], y = sin(πx)/(πx) + ε; noise 0.2  (001, "noisy sinc")
///   moons         −1: (cos t, sin t); 1: (1 − cos t, ½ − sin t); t uniform in [0, π]; noise 0.1
///   rings         −1: radius 1; 1: radius 2; any angle; noise 0.1
///   spirals       ±(r cos 2π·turns·r, r sin 2π·turns·r), r = √u, u uniform in [0, 1]; noise 0.02
///   checkerboard  uniform in [0, cells]², y = ±1 by the parity of ⌊x₀⌋ + ⌊x₁⌋; noise 0, which
///                 moves the points after they have been labelled
///   xor           (±1, ±1) + ε, y = sign of the product of the two signs; noise 0.3
///   blobs         class c: centre + ε, centres uniform in [−5, 5]^columns; noise 1; labels 0, 1, …
///
/// Throws InvalidInput for an unknown kind or an option out of range.
Dataset make(std::string_view kind, const SampleOptions& options = {});

const std::vector<SampleEntry>& sample_table();

}  // namespace mercer
