// Which vector instructions the library uses. Chosen once a block from what the processor has; no
// build flag ties a binary to one machine.
#pragma once

#include <string>
#include <vector>

namespace mercer {

/// The levels compiled in that this processor can run, best first: "AVX3", "AVX2", "SSE4", …
std::vector<std::string> simd_levels();

/// Uses only the named level from now on; "" goes back to the best. For tests and for looking into
/// differences between machines. Throws InvalidInput for a level that is not in `simd_levels()`.
void use_simd_level(const std::string& level);

}  // namespace mercer
