// BLAS of the library that is opened when first needed (base/detail/gemm.hpp), for .cpp files:
//
//     MERCER_BLAS(cblas_dtrsm)(CblasRowMajor, …);
#pragma once

#include <cblas.h>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/detail/library.hpp"

#define MERCER_BLAS(name) MERCER_LIBRARY_FUNCTION(::mercer::blas_library(), name)
