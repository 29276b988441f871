// Matrix products for Gram-shaped work, C = A Bᵀ with both factors row-major, on the calling thread
// alone: the caller cuts its work into blocks and runs those in parallel (base/parallel.hpp), so
// two thread pools never fight over the same cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "mercer/base/matrix.hpp"

namespace mercer {

class Library;

/// c = a bᵀ; c.rows == a.rows, c.columns == b.rows, a.columns == b.columns.
void multiply_transposed(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
void multiply_transposed(MatrixView<const double> a, MatrixView<const double> b,
                         MatrixView<double> c);

/// c = a b; c.rows == a.rows, c.columns == b.columns, a.columns == b.rows.
void multiply(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);

/// c −= a bᵀ, of the same shapes.
void subtract_product_transposed(MatrixView<const float> a, MatrixView<const float> b,
                                 MatrixView<float> c);

/// The product again, on bytes: by oneDNN where the processor has a byte dot product, else
/// by own vector code (base/detail/products/byte_products.hpp). Exact.
void multiply_transposed(MatrixView<const std::uint8_t> a, MatrixView<const std::int8_t> b,
                         MatrixView<std::int32_t> c);
/// Whether that is quicker than a product of floats for rows of this width.
bool byte_products_pay(std::size_t width);

/// What the products run on: "oneDNN 2.6.3, OpenBLAS 0.3.21 SkylakeX".
std::string product_libraries();

/// True when the double-precision library uses the vector instructions this processor has; false
/// means products several times slower than need be (an old library on a new processor that we
/// could not talk out of it, or a choice made in the environment).
bool products_fit_processor();

/// While it lives, BLAS and LAPACK calls of this process may use `threads()` threads. For the few
/// big factorisations made outside parallel_for; everywhere else BLAS stays on the calling thread.
class BlasThreads {
   public:
    BlasThreads();
    ~BlasThreads();
    BlasThreads(const BlasThreads&) = delete;
    BlasThreads& operator=(const BlasThreads&) = delete;

   private:
    std::size_t threads_;
};

/// OpenBLAS, which has LAPACK in it, with the vector instructions it should use:
/// base/detail/lapack.hpp.
const Library& blas_library();

}  // namespace mercer
