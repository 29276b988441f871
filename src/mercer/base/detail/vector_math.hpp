// Functions of many numbers at once, by the vector instructions of the processor. Each is exact to
// a few units in the last place.
#pragma once

#include <span>

namespace mercer {

/// v ← exp(v); 0 and infinity beyond the range of double.
void vector_exp(std::span<double> v);
/// v ← log(v) for v > 0; the logarithm of the smallest normal number for anything below it, so that
/// v log v tends to 0 as it should.
void vector_log(std::span<double> v);
/// v ← sin(v) for |v| <= 2π or so.
void vector_sin(std::span<double> v);

}  // namespace mercer
