// For the program in a wheel: since 2.34 the C library itself runs the constructors of a program,
// and before that the program's own start did. This start does, so that the oldest function can be
// called (see old_symbols.cpp; --wrap, cmake/wheel.cmake).
extern "C" {

using Constructor = void (*)(int, char**, char**);
__attribute__((visibility("hidden"))) extern Constructor __init_array_start[];
__attribute__((visibility("hidden"))) extern Constructor __init_array_end[];
__attribute__((visibility("hidden"))) void _init();

int mercer_old_start(int (*)(int, char**, char**), int, char**, Constructor, void (*)(), void (*)(),
                     void*);
#if defined(__x86_64__)
__asm__(".symver mercer_old_start,__libc_start_main@GLIBC_2.2.5");
#else
__asm__(".symver mercer_old_start,__libc_start_main@GLIBC_2.17");
#endif

static void run_constructors(int count, char** words, char** environment) {
    _init();
    for (Constructor* one = __init_array_start; one != __init_array_end; ++one) {
        (*one)(count, words, environment);
    }
}

__attribute__((visibility("hidden"))) int __wrap___libc_start_main(int (*main)(int, char**, char**),
                                                                   int count, char** words,
                                                                   Constructor, void (*)(),
                                                                   void (*end_of_loader)(),
                                                                   void* stack);
int __wrap___libc_start_main(int (*main)(int, char**, char**), int count, char** words, Constructor,
                             void (*)(), void (*end_of_loader)(), void* stack) {
    return mercer_old_start(main, count, words, run_constructors, nullptr, end_of_loader, stack);
}

}  // extern "C"
