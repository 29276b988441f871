// What a program that links libmercer can see of it: whatever stands in `namespace mercer
// MERCER_API`, as all public headers write it. Everything else stays inside the library.
#pragma once

#if defined(__GNUC__)
#define MERCER_API __attribute__((visibility("default")))
#else
#define MERCER_API
#endif
