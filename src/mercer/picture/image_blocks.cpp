#include "mercer/picture/image.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

std::size_t across(std::size_t length, std::size_t side) {
    return (length + side - 1) / side;
}

void check_side(std::size_t side) {
    if (side >= 1 && side <= 256) return;
    throw InvalidInput("the side of a block is " + std::to_string(side) +
                       " pixels; it must be between 1 and 256");
}

}  // namespace

Rows image_blocks(const Image& image, std::size_t side) {
    check_side(side);
    image.check();
    const std::size_t down = across(image.height, side), wide = across(image.width, side);
    const std::size_t columns = side * side * image.channels;
    std::vector<float> values;
    values.reserve(down * wide * columns);
    for (std::size_t block = 0; block < down * wide; ++block) {
        for (std::size_t pixel = 0; pixel < side * side; ++pixel) {
            const std::size_t row = std::min(block / wide * side + pixel / side, image.height - 1);
            const std::size_t column =
                std::min(block % wide * side + pixel % side, image.width - 1);
            for (std::size_t c = 0; c < image.channels; ++c) {
                values.push_back(static_cast<float>(image.at(row, column, c)));
            }
        }
    }
    return Rows::dense(std::move(values), columns);
}

Image image_from_blocks(const Rows& blocks, std::size_t height, std::size_t width,
                        std::size_t channels, std::size_t side) {
    check_side(side);
    const bool possible = height > 0 && width > 0 && (channels == 1 || channels == 3) &&
                          height <= largest_image && width <= largest_image / height / channels;
    const std::size_t wide = possible ? across(width, side) : 0;
    if (!possible || blocks.size() != across(height, side) * wide ||
        blocks.columns() != side * side * channels) {
        throw InvalidInput(std::to_string(blocks.size()) + " blocks of " +
                           std::to_string(blocks.columns()) + " numbers do not make a picture of " +
                           std::to_string(width) + " x " + std::to_string(height) + " pixels, " +
                           std::to_string(channels) + " channels, in squares of " +
                           std::to_string(side));
    }
    Image image = Image::filled(height, width, channels, 0);
    std::vector<double> row(blocks.columns());
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        blocks.copy_row(block, row);
        for (std::size_t pixel = 0; pixel < side * side; ++pixel) {
            const std::size_t i = block / wide * side + pixel / side;
            const std::size_t j = block % wide * side + pixel % side;
            if (i >= height || j >= width) continue;
            for (std::size_t c = 0; c < channels; ++c) {
                const double value = std::clamp(row[pixel * channels + c], 0.0, 255.0);
                image.at(i, j, c) = static_cast<std::uint8_t>(std::lround(value));
            }
        }
    }
    return image;
}

}  // namespace mercer
