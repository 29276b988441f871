// For wheels on x86-64: the hypot that every C library since 2.2.5 has, in the place of the one that
// came with 2.35 and differs in how it reports errors alone. It would be the one symbol that keeps a
// wheel from systems of 2.34 (--wrap=hypot, src/CMakeLists.txt).
extern "C" {
double mercer_old_hypot(double a, double b);
__asm__(".symver mercer_old_hypot, hypot@GLIBC_2.2.5");
__attribute__((visibility("hidden"))) double __wrap_hypot(double a, double b);
double __wrap_hypot(double a, double b) {
    return mercer_old_hypot(a, b);
}
}
