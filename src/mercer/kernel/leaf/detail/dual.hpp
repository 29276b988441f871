// A number with its slope in one parameter: derivatives of recursions, carried along.
#pragma once

namespace mercer::leaves {

struct Dual {
    double value = 0;
    double slope = 0;

    friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
    friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
    friend Dual operator*(Dual a, Dual b) {
        return {a.value * b.value, a.slope * b.value + a.value * b.slope};
    }
};

}  // namespace mercer::leaves
