// Products with rows that can be written down (ExplicitRows), each one pass over them. The results
// do not depend on the number of threads.
#pragma once

#include <span>

#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"

namespace mercer {

/// out[r] = φ_r·w.
template <class T>
void multiply_rows(const ExplicitRows<T>& rows, std::span<const double> w, std::span<double> out);

/// w = Σ_r c_r φ_r.
template <class T>
void sum_rows(const ExplicitRows<T>& rows, std::span<const double> c, std::span<double> w);

/// The lower triangle of g = Σ_r h_r φ_r φ_r', all h_r >= 0. What is above the diagonal is lost.
template <class T>
void weigh_rows(const ExplicitRows<T>& rows, std::span<const double> h, MatrixView<double> g);

/// squares[r] = φ_r·φ_r.
template <class T>
void square_rows(const ExplicitRows<T>& rows, std::span<double> squares);

}  // namespace mercer
