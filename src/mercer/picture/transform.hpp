// Small changes of rows that leave their meaning as it is: of pictures moved, turned, stretched,
// made bolder or crumpled a little, and whatever a user's function does to a row. They make virtual
// examples (below) and tangents (picture/tangent.hpp).
//
//   const ImageShape digits{28, 28};
//   RowTransform left = shift_image(digits, 0, -1);
//   Rows moved = transformed(rows, left);
//   for (const NamedTransform& t : parse_transforms("shift(1), rotate(10)", digits)) t.name;
//
// Virtual support vectors (001, MNIST "Translation invariant SVM"; DeCoste and Schölkopf 2002):
// what is known of the rows, that a digit moved by a pixel is the same digit, is put in by
// examples. A machine is trained, its support vectors are changed in the known ways, and the
// machine is trained again on them and their images: the other rows would not have counted.
//
//   const auto ways = parse_transforms("shift(1)", {28, 28});
//   VirtualFit fit = fit_virtual(svm({.common = {.kernel = k}, .C = 2}), data, ways);
//   fit.plain; fit.model;                             // before and after
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

/// Writes the changed row; both have the same length.
using RowTransform = std::function<void(std::span<const double> row, std::span<double> out)>;

/// A row as a picture of one channel, row by row, with the value that stands around it.
struct ImageShape {
    std::size_t height = 0;
    std::size_t width = 0;
    double background = 0;

    std::size_t pixels() const { return height * width; }
};

/// Moved down and to the right by so many pixels, which need not be whole: between pixels the four
/// neighbours are weighed.
RowTransform shift_image(const ImageShape& shape, double down, double right);
/// Turned about its middle, anticlockwise.
RowTransform rotate_image(const ImageShape& shape, double degrees);
/// Larger (or smaller, below 1) about its middle.
RowTransform scale_image(const ImageShape& shape, double factor_down, double factor_right);
/// Sheared: each line moved to the right by slant pixels for each pixel that it lies below the
/// middle.
RowTransform shear_image(const ImageShape& shape, double slant);
/// Strokes bolder, or thinner when `amount` is below 0: that share of the way to the largest, or
/// smallest, of a pixel and its four neighbours. For bright strokes on a dark ground.
RowTransform thicken_image(const ImageShape& shape, double amount);
/// Each pixel moved by a smooth random field of displacements of about `amount` pixels, smooth over
/// `width` of them (Simard, Steinkraus and Platt 2003). One field a seed.
RowTransform elastic_image(const ImageShape& shape, double amount, double width,
                           std::uint64_t seed);
/// Each row by a field of its own, smooth over four pixels, and a small turn, stretch and slant of
/// its own, all of about `amount` pixels: what makes a set of pictures many times as large. Which
/// those are is settled by the row's numbers and the seed alone.
RowTransform deform_image(const ImageShape& shape, double amount, std::uint64_t seed);
/// Its centre of mass brought to the middle and its slant taken out: sheared so that rows and
/// columns of ink are uncorrelated. Ink is what differs from the background.
RowTransform deskew_image(const ImageShape& shape);

/// Mean 0 and deviation 1 over the row, whatever it is: light and contrast taken out. A row of one
/// value becomes 0.
RowTransform contrast_row();

struct NamedTransform {
    std::string name;
    RowTransform transform;
};

/// A list such as "shift(1), shift(2), rotate(10), scale(1.1), shear(0.2), thicken(0.5),
/// elastic(2), deskew":
///   shift(n)     by n pixels: n = 1 eight ways, other n four ways (left, right, up, down)
///   rotate(d)    by d degrees both ways
///   scale(f)     by f and 1/f
///   shear(s)     by s and −s
///   thicken(a)   by a and −a
///   elastic(a)   two fields of that amount, smooth over four pixels
///   16*deform(a) sixteen ways, in each of which every row is deformed by that amount in its own
///   way deskew, contrast   one each
/// Throws InvalidInput that names the part it does not know.
std::vector<NamedTransform> parse_transforms(std::string_view text, const ImageShape& shape);

/// The shape that "28x28" says, height first; the square that `columns` numbers are when the text
/// is empty. Throws InvalidInput when it is no shape, or not one of so many pixels.
ImageShape parse_shape(std::string_view text, std::size_t columns, double background = 0);

/// Every row changed, dense. Throws InvalidInput when the rows have another length than the
/// transform's picture, or what it makes is not finite; Cancelled.
Rows transformed(const Rows& rows, const RowTransform& transform, const Progress& progress = {});

/// The rows and, after them, all of them changed in the first way, in the second, …; labels and
/// weights go with their rows.
Dataset with_virtual_examples(const Dataset& data, std::span<const NamedTransform> ways,
                              const Progress& progress = {});

/// The rows of the data that a model's expansion uses. Throws InvalidInput when the model does not
/// know where its points came from, or from other data.
Dataset support_rows(const Model& model, const Dataset& data);

struct VirtualFit {
    Model plain{};             ///< of the rows as they are
    Model model{};             ///< of its support vectors and their images
    std::size_t support = 0;   ///< support vectors of the first
    std::size_t examples = 0;  ///< rows of the second training
};

/// Trains, makes the examples, trains again. The machine may be any whose model knows the rows it
/// uses. A first training that was stopped early is handed back with an empty second model.
VirtualFit fit_virtual(const Machine& machine, const Dataset& data,
                       std::span<const NamedTransform> ways, const Progress& progress = {});

}  // namespace mercer
