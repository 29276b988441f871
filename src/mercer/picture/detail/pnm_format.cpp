// PGM and PPM, plain (P2, P3) and binary (P5, P6): "P5 width height maximum" and one white space
// character, then the samples, most significant byte first when the maximum is above 255.
#include <algorithm>
#include <charconv>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/picture/detail/image_format.hpp"

namespace mercer {
namespace {

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

class PnmReader {
   public:
    PnmReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

    Image read() {
        const char kind = bytes_[1];
        at_ = 2;
        const std::size_t width = number("the width");
        const std::size_t height = number("the height");
        Image image{
            .height = height, .width = width, .channels = kind == '3' || kind == '6' ? 3U : 1U};
        check_image_shape(height, width, image.channels, name_);
        maximum_ = number("the largest sample");
        if (maximum_ == 0 || maximum_ > 65535) {
            fail("the largest sample is " + std::to_string(maximum_) + ", expected 1 to 65535");
        }
        const std::size_t samples = height * width * image.channels;
        if (kind == '2' || kind == '3') {
            read_plain(image, samples);
        } else {
            read_binary(image, samples);
        }
        return image;
    }

   private:
    [[noreturn]] void fail(const std::string& message) const {
        throw InvalidInput(Location{.file = name_}, message);
    }

    void skip_space() {
        while (at_ < bytes_.size() && (is_space(bytes_[at_]) || bytes_[at_] == '#')) {
            if (bytes_[at_] == '#') at_ = std::min(bytes_.find('\n', at_), bytes_.size() - 1);
            ++at_;
        }
    }

    std::size_t number(const char* what) {
        skip_space();
        std::size_t value = 0;
        const char* const first = bytes_.data() + at_;
        const char* const end = bytes_.data() + bytes_.size();
        const auto [last, error] = std::from_chars(first, end, value);
        if (error != std::errc{} || (last != end && !is_space(*last) && *last != '#')) {
            if (at_ >= bytes_.size()) fail("the PNM picture ends before " + std::string(what));
            const std::string_view word = bytes_.substr(at_, 20);
            fail("found " + quoted(word.substr(0, word.find_first_of(" \t\r\n"))) + " where " +
                 what + " should stand, expected a number");
        }
        at_ += static_cast<std::size_t>(last - first);
        return value;
    }

    std::uint8_t level(std::size_t sample) const {
        if (sample > maximum_) {
            fail("found a sample of " + std::to_string(sample) + ", expected at most " +
                 std::to_string(maximum_) + " as the head says");
        }
        return static_cast<std::uint8_t>((sample * 255 + maximum_ / 2) / maximum_);
    }

    void read_plain(Image& image, std::size_t samples) {
        // Each sample takes a digit and a space before the next.
        if (samples > (bytes_.size() - at_ + 1) / 2 + 1) fail_short(samples);
        image.pixels.resize(samples);
        for (std::uint8_t& pixel : image.pixels) pixel = level(number("a sample"));
    }

    void read_binary(Image& image, std::size_t samples) {
        const std::size_t width = maximum_ > 255 ? 2 : 1;
        if (at_ < bytes_.size() && is_space(bytes_[at_])) ++at_;
        if (bytes_.size() - at_ < samples * width) fail_short(samples);
        image.pixels.resize(samples);
        const auto byte = [&](std::size_t k) {
            return static_cast<std::size_t>(static_cast<unsigned char>(bytes_[at_ + k]));
        };
        for (std::size_t k = 0; k < samples; ++k) {
            image.pixels[k] = level(width == 1 ? byte(k) : 256 * byte(2 * k) + byte(2 * k + 1));
        }
    }

    [[noreturn]] void fail_short(std::size_t samples) const {
        fail("the PNM picture is cut short: its head promises " + std::to_string(samples) +
             " samples, and only " + std::to_string(bytes_.size() - std::min(at_, bytes_.size())) +
             " bytes follow");
    }

    std::string_view bytes_;
    const std::string& name_;
    std::size_t at_ = 0;
    std::size_t maximum_ = 255;
};

}  // namespace

Image decode_pnm(std::string_view bytes, const std::string& name) {
    return PnmReader(bytes, name).read();
}

std::string encode_pnm(const Image& image) {
    std::string bytes = (image.channels == 3 ? "P6\n" : "P5\n") + std::to_string(image.width) +
                        " " + std::to_string(image.height) + "\n255\n";
    bytes.append(reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size());
    return bytes;
}

}  // namespace mercer
