// Made-up bytes as a picture, PNG or PNM, and what is read written and read again.
#include "mercer/picture/detail/image_format.hpp"
#include "mercer/picture/image.hpp"
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const mercer::Image image = mercer::decode_image(mercer::fuzz::view_of(data, size), "fuzz");
        image.check();
        if (image.pixels.size() > 100'000) return 0;  // writing it takes long and says nothing new
        for (const std::string& bytes : {mercer::encode_png(image), mercer::encode_pnm(image)}) {
            if (mercer::decode_image(bytes, "again").pixels != image.pixels) std::abort();
        }
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    return 0;
}
