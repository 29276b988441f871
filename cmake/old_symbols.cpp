// For wheels: functions of the C library under the names and versions that it has had from the
// start, so that a wheel built on a new system runs on one of 2.28 (manylinux_2_28). The linker
// sends every call of such a function here (--wrap, cmake/wheel.cmake); what calls newer ones by
// mistake is found by tools/make_wheel.py, which reads the versions that its binaries ask for.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MERCER_OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define MERCER_OLDEST "GLIBC_2.17"
#else
#error "the first version of the C library for this processor is not known here"
#endif
#define MERCER_HIDDEN __attribute__((visibility("hidden")))
/// Calls of `name` go to the oldest function of that name.
#define MERCER_OLD(result, name, parameters, arguments)               \
    result mercer_old_##name parameters;                              \
    __asm__(".symver mercer_old_" #name "," #name "@" MERCER_OLDEST); \
    MERCER_HIDDEN result __wrap_##name parameters;                    \
    result __wrap_##name parameters {                                 \
        return mercer_old_##name arguments;                           \
    }

extern "C" {

// 2.29 and 2.35 changed how these report errors, and nothing else.
MERCER_OLD(double, exp, (double x), (x))
MERCER_OLD(double, exp2, (double x), (x))
MERCER_OLD(double, log, (double x), (x))
MERCER_OLD(double, log2, (double x), (x))
MERCER_OLD(double, pow, (double x, double y), (x, y))
MERCER_OLD(double, hypot, (double x, double y), (x, y))

// 2.34 moved these from libpthread and libdl, which the binaries therefore ask for by name.
MERCER_OLD(int, pthread_create,
           (pthread_t * thread, const pthread_attr_t* settings, void* (*work)(void*),
            void* argument),
           (thread, settings, work, argument))
MERCER_OLD(int, pthread_join, (pthread_t thread, void** result), (thread, result))
MERCER_OLD(int, pthread_detach, (pthread_t thread), (thread))
MERCER_OLD(int, pthread_once, (pthread_once_t * once, void (*work)()), (once, work))
MERCER_OLD(int, pthread_key_create, (pthread_key_t * key, void (*end)(void*)), (key, end))
MERCER_OLD(int, pthread_key_delete, (pthread_key_t key), (key))
MERCER_OLD(void*, pthread_getspecific, (pthread_key_t key), (key))
MERCER_OLD(int, pthread_setspecific, (pthread_key_t key, const void* value), (key, value))
MERCER_OLD(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
MERCER_OLD(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
MERCER_OLD(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
MERCER_OLD(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))
MERCER_OLD(int, pthread_sigmask, (int how, const __sigset_t* set, __sigset_t* old), (how, set, old))
MERCER_OLD(void*, dlopen, (const char* name, int flags), (name, flags))
MERCER_OLD(void*, dlsym, (void* library, const char* name), (library, name))
MERCER_OLD(char*, dlerror, (), ())
MERCER_OLD(int, dladdr, (const void* address, Dl_info* information), (address, information))

// Before 2.33 these were macros over calls of another name.
MERCER_HIDDEN int __wrap_fstatat(int folder, const char* path, struct stat* result, int flags);
int __wrap_fstatat(int folder, const char* path, struct stat* result, int flags) {
    return static_cast<int>(syscall(SYS_newfstatat, folder, path, result, flags));
}
MERCER_HIDDEN int __wrap_stat(const char* path, struct stat* result);
int __wrap_stat(const char* path, struct stat* result) {
    return __wrap_fstatat(AT_FDCWD, path, result, 0);
}
MERCER_HIDDEN int __wrap_lstat(const char* path, struct stat* result);
int __wrap_lstat(const char* path, struct stat* result) {
    return __wrap_fstatat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}
MERCER_HIDDEN int __wrap_fstat(int file, struct stat* result);
int __wrap_fstat(int file, struct stat* result) {
    return static_cast<int>(syscall(SYS_fstat, file, result));
}
MERCER_HIDDEN int __wrap_fstat64(int file, struct stat* result);  // the same on these processors
int __wrap_fstat64(int file, struct stat* result) {
    return __wrap_fstat(file, result);
}

// 2.30: waits until a moment of any clock. The older call knows the clock of the day alone.
MERCER_HIDDEN int __wrap_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                clockid_t clock, const timespec* until);
int __wrap_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  clockid_t clock, const timespec* until) {
    constexpr long second = 1'000'000'000;
    timespec there{};
    timespec here{};
    clock_gettime(clock, &there);
    clock_gettime(CLOCK_REALTIME, &here);
    here.tv_sec += until->tv_sec - there.tv_sec;
    here.tv_nsec += until->tv_nsec - there.tv_nsec;
    if (here.tv_nsec < 0) {
        here.tv_nsec += second;
        --here.tv_sec;
    } else if (here.tv_nsec >= second) {
        here.tv_nsec -= second;
        ++here.tv_sec;
    }
    return pthread_cond_timedwait(condition, mutex, &here);
}

// 2.36: what the C++ library's random_device would take.
MERCER_HIDDEN unsigned int __wrap_arc4random();
unsigned int __wrap_arc4random() {
    unsigned int value = 0;
    if (getentropy(&value, sizeof value) != 0) abort();
    return value;
}

// 2.32: whether there is one thread alone, by which the C++ library spares itself atomic counting.
MERCER_HIDDEN extern char __libc_single_threaded;
char __libc_single_threaded = 0;

}  // extern "C"
