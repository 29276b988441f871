# mercer_embed(FILE NAME OUTPUT): writes a C++ file that defines
#     mercer::embedded_bytes::NAME, the bytes of FILE as a std::span<const unsigned char>.
# It runs when CMake configures, and again when FILE changes.
function(mercer_embed file name output)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    # One line of a megabyte helps nobody: break after every 20 bytes ("0x00," is five characters).
    string(REPEAT "....." 20 twenty)
    string(REGEX REPLACE "(${twenty})" "\\1\n" bytes "${bytes}")
    get_filename_component(source "${file}" NAME)
    file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
"// Made from data/@source@ when the project was configured.
#include <span>

namespace mercer::embedded_bytes {

static const unsigned char bytes[] = {
@bytes@};
extern const std::span<const unsigned char> @name@;
const std::span<const unsigned char> @name@(bytes);

}  // namespace mercer::embedded_bytes
")
endfunction()
