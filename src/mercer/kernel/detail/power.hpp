// k(x, z)^p where it exists.
#pragma once

namespace mercer {

/// base^exponent of a kernel's value. Throws InvalidInput outside the domain: a fractional power of
/// a negative value, a negative one of 0.
double kernel_power(double base, double exponent);

}  // namespace mercer
