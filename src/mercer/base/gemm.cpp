#include "mercer/base/gemm.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <dnnl.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"

// The two calls of GCC's OpenMP runtime that we make; its header does not compile with clang.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int);
}

namespace mercer {
namespace {

/// oneDNN runs on OpenMP threads; this keeps one call on the calling thread and leaves the setting
/// of the program we live in as it was.
class OneOpenMpThread {
   public:
    OneOpenMpThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
    ~OneOpenMpThread() { omp_set_num_threads(before_); }
    OneOpenMpThread(const OneOpenMpThread&) = delete;
    OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

   private:
    int before_;
};

/// The OpenBLAS kernels worth having on this processor, or nothing when any choice is as good.
const char* best_openblas_core() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        return "SkylakeX";
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
    return nullptr;
}

bool is_old_core(std::string_view name) {
    for (const std::string_view old :
         {"Prescott", "Core2", "Katmai", "Coppermine", "Northwood", "Banias", "Penryn",
          "Dunnington", "Nehalem", "Atom", "Athlon", "Opteron", "Opteron_SSE3", "Barcelona",
          "Bobcat", "Nano"}) {
        if (name == old) return true;
    }
    return false;
}

/// OpenBLAS picks its kernels when it is loaded, by a list of processors it knows; on a newer one
/// it falls back to SSE kernels, three to five times slower, without a word. So compare what it
/// chose with what the processor can do, and have it choose again when it chose badly. A choice the
/// user made in the environment stands.
void route_openblas() {
    openblas_set_num_threads(1);
    const char* best = best_openblas_core();
    if (best == nullptr || !is_old_core(openblas_get_corename())) return;
    if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
    using Hook = void (*)();
    const auto quit = reinterpret_cast<Hook>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_quit"));
    const auto init = reinterpret_cast<Hook>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init"));
    if (quit == nullptr || init == nullptr) return;
    setenv("OPENBLAS_CORETYPE", best, 1);
    quit();
    init();
    unsetenv("OPENBLAS_CORETYPE");
}

void prepare_blas() {
    static std::once_flag once;
    std::call_once(once, route_openblas);
}

void require(dnnl_status_t status, const char* what) {
    if (status != dnnl_success) {
        throw std::runtime_error(std::string(what) + " failed with oneDNN status " +
                                 std::to_string(static_cast<int>(status)));
    }
}

template <class T>
dnnl_dim_t dim(T value) {
    return static_cast<dnnl_dim_t>(value);
}

}  // namespace

void multiply_transposed(MatrixView<const float> a, MatrixView<const float> b,
                         MatrixView<float> c) {
    if (c.rows == 0 || c.columns == 0) return;
    const OneOpenMpThread one_thread;
    require(dnnl_sgemm('N', 'T', dim(c.rows), dim(c.columns), dim(a.columns), 1.0F, a.data,
                       dim(a.stride), b.data, dim(b.stride), 0.0F, c.data, dim(c.stride)),
            "a float32 matrix product");
}

void multiply_transposed(MatrixView<const double> a, MatrixView<const double> b,
                         MatrixView<double> c) {
    if (c.rows == 0 || c.columns == 0) return;
    prepare_blas();
    const auto length = [](std::size_t value) { return static_cast<blasint>(value); };
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, length(c.rows), length(c.columns),
                length(a.columns), 1.0, a.data, length(a.stride), b.data, length(b.stride), 0.0,
                c.data, length(c.stride));
}

void multiply_transposed(MatrixView<const std::uint8_t> a, MatrixView<const std::int8_t> b,
                         MatrixView<std::int32_t> c) {
    if (c.rows == 0 || c.columns == 0) return;
    const OneOpenMpThread one_thread;
    const std::int32_t no_offset = 0;
    require(dnnl_gemm_u8s8s32('N', 'T', 'F', dim(c.rows), dim(c.columns), dim(a.columns), 1.0F,
                              a.data, dim(a.stride), 0, b.data, dim(b.stride), 0, 0.0F, c.data,
                              dim(c.stride), &no_offset),
            "a byte matrix product");
}

bool exact_byte_products() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

bool products_fit_processor() {
    prepare_blas();
    return best_openblas_core() == nullptr || !is_old_core(openblas_get_corename());
}

std::string product_libraries() {
    prepare_blas();
    const dnnl_version_t* version = dnnl_version();
    std::string text = "oneDNN " + std::to_string(version->major) + '.' +
                       std::to_string(version->minor) + '.' + std::to_string(version->patch);
    text += exact_byte_products() ? " with byte products, " : ", ";
    std::string_view blas = openblas_get_config();
    blas = blas.substr(0, blas.find(' ', blas.find(' ') + 1));
    return text + std::string(blas) + " " + openblas_get_corename();
}

BlasThreads::BlasThreads() {
    prepare_blas();
    openblas_set_num_threads(static_cast<int>(threads()));
}
BlasThreads::~BlasThreads() {
    openblas_set_num_threads(1);
}

}  // namespace mercer
