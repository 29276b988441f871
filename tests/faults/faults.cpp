// A library to be loaded before all others (LD_PRELOAD), under which the system fails as told by
// the environment:
//
//   MERCER_FAULT=malloc:1234        the 1234th request for memory is refused
//   MERCER_FAULT=malloc:1234+       that one and all later ones
//   MERCER_FAULT=write:3:ENOSPC     the 3rd call of write() fails so; likewise fsync, rename, link,
//                                   mmap, read
//   MERCER_FAULT_WITHOUT=libpng     libraries of such a name are not there to be opened
//   MERCER_FAULT_COUNT=FILE         how many calls of each kind there were, at the end
//   MERCER_FAULT_LOG=FILE           writes to files, fsync, link and rename as they came, one a
//   line
//
// tests/cli/faults_test.cpp and tools/check_faults use it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum Kind {
    malloc_call,
    write_call,
    fsync_call,
    rename_call,
    link_call,
    mmap_call,
    read_call,
    kinds
};
constexpr const char* names[kinds] = {"malloc", "write", "fsync", "rename", "link", "mmap", "read"};

std::atomic<long> counts[kinds];
int failing = -1;
long failing_at = 0;
bool for_good = false;
int failing_with = ENOMEM;
int log_descriptor = -1;

int error_of(const char* text) {
    if (std::strcmp(text, "ENOSPC") == 0) return ENOSPC;
    if (std::strcmp(text, "EACCES") == 0) return EACCES;
    if (std::strcmp(text, "ENOMEM") == 0) return ENOMEM;
    return EIO;
}

/// Before main and before any other library: reads the orders.
__attribute__((constructor(101))) void read_orders() {
    if (const char* path = getenv("MERCER_FAULT_LOG")) {
        log_descriptor = static_cast<int>(
            openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    }
    const char* order = getenv("MERCER_FAULT");
    if (order == nullptr) return;
    for (int kind = 0; kind < kinds; ++kind) {
        const std::size_t length = std::strlen(names[kind]);
        if (std::strncmp(order, names[kind], length) != 0 || order[length] != ':') continue;
        char* end = nullptr;
        failing_at = std::strtol(order + length + 1, &end, 10);
        for_good = *end == '+';
        if (for_good) ++end;
        if (*end == ':') failing_with = error_of(end + 1);
        failing = kind;
    }
}

__attribute__((destructor)) void tell_counts() {
    const char* path = getenv("MERCER_FAULT_COUNT");
    if (path == nullptr) return;
    failing = -1;
    char text[512];
    int length = 0;
    for (int kind = 0; kind < kinds; ++kind) {
        length += std::snprintf(text + length, sizeof text - static_cast<std::size_t>(length),
                                "%s %ld\n", names[kind], counts[kind].load());
    }
    const int file = openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0 && ::write(file, text, static_cast<std::size_t>(length)) < 0) std::abort();
}

bool fails(Kind kind) {
    const long number = ++counts[kind];
    if (kind != failing) return false;
    if (number != failing_at && !(for_good && number > failing_at)) return false;
    errno = failing_with;
    return true;
}

void log_call(const char* what, int descriptor, const char* name) {
    if (log_descriptor < 0 || descriptor == log_descriptor) return;
    char text[600];
    const int length = std::snprintf(text, sizeof text, "%s %d %s\n", what, descriptor, name);
    static const auto real =
        reinterpret_cast<ssize_t (*)(int, const void*, std::size_t)>(dlsym(RTLD_NEXT, "write"));
    if (real(log_descriptor, text, static_cast<std::size_t>(length)) < 0) std::abort();
}

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
    return fails(malloc_call) ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    return fails(malloc_call) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
    return fails(malloc_call) ? nullptr : __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
    return fails(malloc_call) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return fails(malloc_call) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    if (fails(malloc_call)) return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out == nullptr ? ENOMEM : 0;
}

ssize_t write(int descriptor, const void* bytes, std::size_t size) {
    static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
    if (descriptor > 2) {
        if (fails(write_call)) return -1;
        log_call("write", descriptor, "");
    }
    return real(descriptor, bytes, size);
}
ssize_t read(int descriptor, void* bytes, std::size_t size) {
    static const auto real = next<ssize_t (*)(int, void*, std::size_t)>("read");
    return fails(read_call) ? -1 : real(descriptor, bytes, size);
}
int fsync(int descriptor) {
    static const auto real = next<int (*)(int)>("fsync");
    if (fails(fsync_call)) return -1;
    log_call("fsync", descriptor, "");
    return real(descriptor);
}
int fdatasync(int descriptor) {
    static const auto real = next<int (*)(int)>("fdatasync");
    if (fails(fsync_call)) return -1;
    log_call("fsync", descriptor, "");
    return real(descriptor);
}
int rename(const char* from, const char* to) {
    static const auto real = next<int (*)(const char*, const char*)>("rename");
    if (fails(rename_call)) return -1;
    log_call("rename", 0, to);
    return real(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
    static const auto real =
        next<int (*)(int, const char*, int, const char*, unsigned)>("renameat2");
    if (fails(rename_call)) return -1;
    log_call("rename", 0, to);
    return real(from_folder, from, to_folder, to, flags);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
    static const auto real = next<int (*)(int, const char*, int, const char*, int)>("linkat");
    if (fails(link_call)) return -1;
    log_call("link", 0, to);
    return real(from_folder, from, to_folder, to, flags);
}
void* mmap(void* at, std::size_t size, int protection, int flags, int descriptor, off_t offset) {
    static const auto real = next<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap");
    return fails(mmap_call) ? MAP_FAILED : real(at, size, protection, flags, descriptor, offset);
}

void* dlopen(const char* name, int flags) {
    static const auto real = next<void* (*)(const char*, int)>("dlopen");
    const char* absent = getenv("MERCER_FAULT_WITHOUT");
    const bool hidden =
        name != nullptr && absent != nullptr && *absent != 0 && std::strstr(name, absent);
    return real(hidden ? "/without/it" : name, flags);
}

}  // extern "C"
