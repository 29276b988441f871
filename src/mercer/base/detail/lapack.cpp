#include "mercer/base/detail/lapack.hpp"

#include <cstddef>
#include <vector>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/detail/library.hpp"

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

void dlatrd_upper(int n, int panel, double* a, int lda, double* e, double* tau, double* w,
                  int ldw) {
    using Dlatrd = void (*)(const char*, const int*, const int*, double*, const int*, double*,
                            double*, double*, const int*, Length);
    static const auto routine = blas_library().function<Dlatrd>("dlatrd_");
    routine("U", &n, &panel, a, &lda, e, tau, w, &ldw, 1);
}

int dsytd2_upper(int n, double* a, int lda, double* d, double* e, double* tau) {
    using Dsytd2 = void (*)(const char*, const int*, double*, const int*, double*, double*, double*,
                            int*, Length);
    static const auto routine = blas_library().function<Dsytd2>("dsytd2_");
    int info = 0;
    routine("U", &n, a, &lda, d, e, tau, &info, 1);
    return info;
}

int dsterf(int n, double* d, double* e) {
    using Dsterf = void (*)(const int*, double*, double*, int*);
    static const auto routine = blas_library().function<Dsterf>("dsterf_");
    int info = 0;
    routine(&n, d, e, &info);
    return info;
}

int dstedc(int n, double* d, double* e, double* z, int ldz) {
    using Dstedc = void (*)(const char*, const int*, double*, double*, double*, const int*, double*,
                            const int*, int*, const int*, int*, Length);
    static const auto routine = blas_library().function<Dstedc>("dstedc_");
    int info = 0;
    double work_size = 0;
    int integer_size = 0;
    const int ask = -1;
    routine("I", &n, d, e, z, &ldz, &work_size, &ask, &integer_size, &ask, &info, 1);
    if (info != 0) return info;
    const auto doubles = static_cast<int>(work_size);
    std::vector<double> work(static_cast<std::size_t>(doubles));
    std::vector<int> integers(static_cast<std::size_t>(integer_size));
    routine("I", &n, d, e, z, &ldz, work.data(), &doubles, integers.data(), &integer_size, &info,
            1);
    return info;
}

int dormtr_upper(int n, int columns, const double* a, int lda, const double* tau, double* c,
                 int ldc) {
    using Dormtr = void (*)(const char*, const char*, const char*, const int*, const int*,
                            const double*, const int*, const double*, double*, const int*, double*,
                            const int*, int*, Length, Length, Length);
    static const auto routine = blas_library().function<Dormtr>("dormtr_");
    int info = 0;
    double work_size = 0;
    const int ask = -1;
    routine("L", "U", "N", &n, &columns, a, &lda, tau, c, &ldc, &work_size, &ask, &info, 1, 1, 1);
    if (info != 0) return info;
    const auto doubles = static_cast<int>(work_size);
    std::vector<double> work(static_cast<std::size_t>(doubles));
    routine("L", "U", "N", &n, &columns, a, &lda, tau, c, &ldc, work.data(), &doubles, &info, 1, 1,
            1);
    return info;
}

}  // namespace mercer::lapack
