#include "mercer/base/lapack.hpp"

#include <cstddef>
#include <vector>

#include "mercer/base/gemm.hpp"
#include "mercer/base/library.hpp"

namespace mercer::lapack {
namespace {

// Fortran passes the lengths of its texts behind all other arguments.
using Length = std::size_t;
using Dsyevd = void (*)(const char*, const char*, const int*, double*, const int*, double*, double*,
                        const int*, int*, const int*, int*, Length, Length);

using Dpotrf = void (*)(const char*, const int*, double*, const int*, int*, Length);
using Dpotrs = void (*)(const char*, const int*, const int*, const double*, const int*, double*,
                        const int*, int*, Length);
using Dtrtri = void (*)(const char*, const char*, const int*, double*, const int*, int*, Length,
                        Length);

}  // namespace

int dpotrf(char triangle, int n, double* a, int lda) {
    static const auto routine = blas_library().function<Dpotrf>("dpotrf_");
    int info = 0;
    routine(&triangle, &n, a, &lda, &info, 1);
    return info;
}

int spotrf(char triangle, int n, float* a, int lda) {
    using Spotrf = void (*)(const char*, const int*, float*, const int*, int*, Length);
    static const auto routine = blas_library().function<Spotrf>("spotrf_");
    int info = 0;
    routine(&triangle, &n, a, &lda, &info, 1);
    return info;
}

int dpotrs(char triangle, int n, int sides, const double* a, int lda, double* b, int ldb) {
    static const auto routine = blas_library().function<Dpotrs>("dpotrs_");
    int info = 0;
    routine(&triangle, &n, &sides, a, &lda, b, &ldb, &info, 1);
    return info;
}

int dtrtri(char triangle, char diagonal, int n, double* a, int lda) {
    static const auto routine = blas_library().function<Dtrtri>("dtrtri_");
    int info = 0;
    routine(&triangle, &diagonal, &n, a, &lda, &info, 1, 1);
    return info;
}

int dsyevd(char job, char triangle, int n, double* a, int lda, double* w) {
    static const auto routine = blas_library().function<Dsyevd>("dsyevd_");
    int info = 0;
    double work_size = 0;
    int integer_size = 0;
    const int ask = -1;
    routine(&job, &triangle, &n, a, &lda, w, &work_size, &ask, &integer_size, &ask, &info, 1, 1);
    if (info != 0) return info;
    const auto doubles = static_cast<int>(work_size);
    std::vector<double> work(static_cast<std::size_t>(doubles));
    std::vector<int> integers(static_cast<std::size_t>(integer_size));
    routine(&job, &triangle, &n, a, &lda, w, work.data(), &doubles, integers.data(), &integer_size,
            &info, 1, 1);
    return info;
}

}  // namespace mercer::lapack
