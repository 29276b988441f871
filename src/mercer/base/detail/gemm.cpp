#include "mercer/base/detail/gemm.hpp"

#include <cblas.h>
#include <dnnl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/detail/library.hpp"
#include "mercer/base/detail/products/byte_products.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

/// oneDNN, and the OpenMP runtime it runs on, whichever that is.
struct OneDnn {
    Library library{{MERCER_ONEDNN_LIBRARY}, "products of bytes"};
    decltype(&dnnl_sgemm) sgemm = library.function<decltype(sgemm)>("dnnl_sgemm");
    decltype(&dnnl_gemm_u8s8s32) byte_gemm =
        library.function<decltype(byte_gemm)>("dnnl_gemm_u8s8s32");
    decltype(&dnnl_version) version = library.function<decltype(version)>("dnnl_version");
    int (*max_threads)() = library.function<int (*)()>("omp_get_max_threads");
    void (*set_threads)(int) = library.function<void (*)(int)>("omp_set_num_threads");
};

/// Null where it is not installed: products of bytes are then own code's, and products of
/// floats by OpenBLAS.
const OneDnn* onednn() {
    static const std::unique_ptr<const OneDnn> functions = []() -> std::unique_ptr<const OneDnn> {
        try {
            return std::make_unique<const OneDnn>();
        } catch (const std::runtime_error&) {
            return nullptr;
        }
    }();
    return functions.get();
}

/// A stack for the handlers of signals. oneDNN's products keep numbers further below the end of
/// the stack than the 128 bytes that the system leaves alone there: a handler that runs on the same
/// stack overwrites them, and the product then writes anywhere (seen with 2.6.3 as corrupted heaps
/// after Ctrl-C). Handlers have to ask for it by SA_ONSTACK, as ours and Python's do.
class SignalStack {
   public:
    SignalStack() {
        stack_t present{};
        if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
        memory_ = std::make_unique<std::byte[]>(size);
        stack_t own{};
        own.ss_sp = memory_.get();
        own.ss_size = size;
        if (sigaltstack(&own, nullptr) != 0) memory_.reset();
    }
    ~SignalStack() {
        if (!memory_) return;
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
    }
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;

   private:
    static constexpr std::size_t size = std::size_t{1} << 16;
    std::unique_ptr<std::byte[]> memory_{};  ///< none: the thread has one already
};

/// oneDNN runs on OpenMP threads; this keeps one call on the calling thread and leaves the setting
/// of the program we live in as it was.
class OneOpenMpThread {
   public:
    explicit OneOpenMpThread(const OneDnn& dnn) : dnn_(dnn), before_(dnn.max_threads()) {
        [[maybe_unused]] static thread_local const SignalStack stack_for_handlers;
        dnn_.set_threads(1);
    }
    ~OneOpenMpThread() { dnn_.set_threads(before_); }
    OneOpenMpThread(const OneOpenMpThread&) = delete;
    OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

   private:
    const OneDnn& dnn_;
    int before_;
};

/// OpenBLAS 0.3.34, as PyPI has it, takes 64-bit ARM with SME for a core whose products are wrong
/// ("empty sgemm_alpha_beta2x2 should never get called"). It is told another before it is loaded; a
/// choice the user made in the environment stands.
bool kept_from_wrong_core() {
#if defined(__aarch64__)
    constexpr unsigned long sme = 1UL << 23;  // HWCAP2_SME
    if ((getauxval(AT_HWCAP2) & sme) != 0) setenv("OPENBLAS_CORETYPE", "ARMV8", 0);
#endif
    return true;
}

struct MemoryLimit {
    char option;  ///< of ulimit
    rlim_t bytes;
};

/// The limit of the address space or of data (ulimit -v, -d), the smaller one.
std::optional<MemoryLimit> limited_memory() {
    rlimit space{}, data{};
    if (getrlimit(RLIMIT_AS, &space) != 0 || getrlimit(RLIMIT_DATA, &data) != 0) return {};
    const bool first = space.rlim_cur <= data.rlim_cur;
    const MemoryLimit least{first ? 'v' : 'd', first ? space.rlim_cur : data.rlim_cur};
    return least.bytes == RLIM_INFINITY ? std::nullopt : std::optional(least);
}

/// OpenBLAS takes a buffer for each of its threads, newer ones as they are loaded, and where the
/// system has none to give it asks again for ever. So there is a look first whether they can be
/// had.
bool has_room() {
    const auto limit = limited_memory();
    if (!limit) return true;
    setenv("OPENBLAS_NUM_THREADS", std::to_string(threads()).c_str(), 0);
    constexpr std::size_t buffer_bytes = std::size_t{160} << 20;  // 128 MiB, and what goes with it
    const std::size_t bytes = (threads() + 1) * buffer_bytes;
    // Data are what can be written to.
    void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        throw std::runtime_error(
            "the memory allowed (ulimit -" + std::string(1, limit->option) + " " +
            std::to_string(limit->bytes >> 10) + ") has no room for the buffers of OpenBLAS, " +
            std::to_string(bytes >> 20) + " MiB for " + std::to_string(threads()) +
            " threads: allow more, or use fewer threads");
    }
    munmap(room, bytes);
    return true;
}

struct OpenBlas {
    const bool prepared = kept_from_wrong_core() && has_room();
    // The one that a Python package carries comes first: it is there for no other reason.
    Library library{{"libscipy_openblas.so", MERCER_OPENBLAS_LIBRARY, "libopenblas.so.0"},
                    "matrix products; install OpenBLAS (Debian: libopenblas0)"};
    decltype(&cblas_sgemm) sgemm = library.function<decltype(sgemm)>("cblas_sgemm");
    decltype(&cblas_dgemm) dgemm = library.function<decltype(dgemm)>("cblas_dgemm");
    decltype(&openblas_set_num_threads) set_threads =
        library.function<decltype(set_threads)>("openblas_set_num_threads");
    decltype(&openblas_get_corename) core_name =
        library.function<decltype(core_name)>("openblas_get_corename");
    decltype(&openblas_get_config) configuration =
        library.function<decltype(configuration)>("openblas_get_config");
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
void route(const OpenBlas& blas) {
    blas.set_threads(1);
    const char* best = best_openblas_core();
    if (best == nullptr || !is_old_core(blas.core_name())) return;
    if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
    using Hook = void (*)();
    const auto quit = blas.library.optional_function<Hook>("gotoblas_dynamic_quit");
    const auto init = blas.library.optional_function<Hook>("gotoblas_dynamic_init");
    if (quit == nullptr || init == nullptr) return;
    setenv("OPENBLAS_CORETYPE", best, 1);
    quit();
    init();
    unsetenv("OPENBLAS_CORETYPE");
}

/// With a limit of memory all buffers are taken at once; afterwards it goes round with those.
void take_buffers(const OpenBlas& blas) {
    if (!limited_memory()) return;
    const auto take = blas.library.optional_function<void* (*)(int)>("blas_memory_alloc");
    const auto give_back = blas.library.optional_function<void (*)(void*)>("blas_memory_free");
    if (take == nullptr || give_back == nullptr) return;
    std::vector<void*> buffers(threads() + 1);
    for (void*& buffer : buffers) buffer = take(0);
    for (void* buffer : buffers) give_back(buffer);
}

const OpenBlas& openblas() {
    static const OpenBlas functions = [] {
        OpenBlas blas;
        route(blas);
        take_buffers(blas);
        return blas;
    }();
    return functions;
}

/// OpenBLAS has one number of threads for the whole process: the first who wants several sets it,
/// the last puts it back.
std::atomic<int> users_of_blas_threads{0};

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

/// c = alpha a bᵀ + beta c
void float_product(float alpha, MatrixView<const float> a, MatrixView<const float> b, float beta,
                   MatrixView<float> c) {
    if (c.rows == 0 || c.columns == 0) return;
    const OneDnn* dnn = onednn();
    if (dnn == nullptr) {
        const auto length = [](std::size_t value) { return static_cast<blasint>(value); };
        openblas().sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, length(c.rows), length(c.columns),
                         length(a.columns), alpha, a.data, length(a.stride), b.data,
                         length(b.stride), beta, c.data, length(c.stride));
        return;
    }
    const OneOpenMpThread one_thread(*dnn);
    require(dnn->sgemm('N', 'T', dim(c.rows), dim(c.columns), dim(a.columns), alpha, a.data,
                       dim(a.stride), b.data, dim(b.stride), beta, c.data, dim(c.stride)),
            "a float32 matrix product");
}

}  // namespace

void multiply_transposed(MatrixView<const float> a, MatrixView<const float> b,
                         MatrixView<float> c) {
    float_product(1, a, b, 0, c);
}

void subtract_product_transposed(MatrixView<const float> a, MatrixView<const float> b,
                                 MatrixView<float> c) {
    float_product(-1, a, b, 1, c);
}

void multiply_transposed(MatrixView<const double> a, MatrixView<const double> b,
                         MatrixView<double> c) {
    if (c.rows == 0 || c.columns == 0) return;
    const auto length = [](std::size_t value) { return static_cast<blasint>(value); };
    openblas().dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, length(c.rows), length(c.columns),
                     length(a.columns), 1.0, a.data, length(a.stride), b.data, length(b.stride),
                     0.0, c.data, length(c.stride));
}

void multiply(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
    if (c.rows == 0 || c.columns == 0) return;
    const auto length = [](std::size_t value) { return static_cast<blasint>(value); };
    openblas().dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, length(c.rows), length(c.columns),
                     length(a.columns), 1.0, a.data, length(a.stride), b.data, length(b.stride),
                     0.0, c.data, length(c.stride));
}

#if defined(__x86_64__)
namespace {

/// Without it the 16-bit intermediate sums of oneDNN's product would saturate.
bool has_byte_dot_product() {
    return __builtin_cpu_supports("avx512vnni");
}

}  // namespace
#endif

void multiply_transposed(MatrixView<const std::uint8_t> a, MatrixView<const std::int8_t> b,
                         MatrixView<std::int32_t> c) {
    if (c.rows == 0 || c.columns == 0) return;
#if defined(__x86_64__)
    if (!has_byte_dot_product() || onednn() == nullptr) return multiply_widened(a, b, c);
#endif
    const OneDnn* dnn = onednn();
    if (dnn == nullptr) throw std::runtime_error("products of bytes need oneDNN");
    const OneOpenMpThread one_thread(*dnn);
    const std::int32_t no_offset = 0;
    require(dnn->byte_gemm('N', 'T', 'F', dim(c.rows), dim(c.columns), dim(a.columns), 1.0F, a.data,
                           dim(a.stride), 0, b.data, dim(b.stride), 0, 0.0F, c.data, dim(c.stride),
                           &no_offset),
            "a byte matrix product");
}

bool byte_products_pay([[maybe_unused]] std::size_t width) {
#if defined(__x86_64__)
    // Own code sums up the lanes of each product at its end, which short rows do not make up for.
    constexpr std::size_t long_enough = 512;
    return width >= long_enough || (has_byte_dot_product() && onednn() != nullptr);
#else
    return false;
#endif
}

bool products_fit_processor() {
    return best_openblas_core() == nullptr || !is_old_core(openblas().core_name());
}

std::string product_libraries() {
    std::string text;
    if (const OneDnn* dnn = onednn()) {
        const dnnl_version_t* version = dnn->version();
        text = "oneDNN " + std::to_string(version->major) + '.' + std::to_string(version->minor) +
               '.' + std::to_string(version->patch);
        text += ", ";
    }
    std::string_view blas = openblas().configuration();
    blas = blas.substr(0, blas.find(' ', blas.find(' ') + 1));
    return text + std::string(blas) + " " + openblas().core_name();
}

BlasThreads::BlasThreads() : threads_(threads()) {
    if (threads_ > 1 && users_of_blas_threads.fetch_add(1) == 0) {
        openblas().set_threads(static_cast<int>(threads_));
    }
}
BlasThreads::~BlasThreads() {
    if (threads_ > 1 && users_of_blas_threads.fetch_sub(1) == 1) openblas().set_threads(1);
}

const Library& blas_library() {
    return openblas().library;
}

}  // namespace mercer
