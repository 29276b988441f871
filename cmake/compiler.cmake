# Flags of our own code. Nothing here reaches an installed consumer, and there is no -march: the
# same binary picks its vector instructions when it runs.
add_library(mercer_compiler INTERFACE)
target_compile_options(mercer_compiler INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(MERCER_WERROR)
    target_compile_options(mercer_compiler INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees overlapping copies in "text" + std::string where there are none (GCC bug 105651).
    target_compile_options(mercer_compiler INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    # Notes on how GCC before 10 passed pairs of numbers concern nobody who compiles all with one.
    target_compile_options(mercer_compiler INTERFACE -Wno-psabi)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The compiler collects its garbage less often: a twentieth of the time for 200 MB more memory.
    target_compile_options(mercer_compiler INTERFACE --param=ggc-min-heapsize=400000)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND BUILD_SHARED_LIBS)
    # Calls inside the shared library may be inlined as they are in a static one.
    target_compile_options(mercer_compiler INTERFACE -fno-semantic-interposition)
endif()

if(MERCER_SANITIZE)
    add_compile_options(-fsanitize=${MERCER_SANITIZE} -fno-omit-frame-pointer
                        -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${MERCER_SANITIZE})
endif()

# A faster linker where there is one.
include(CheckLinkerFlag)
foreach(linker IN ITEMS mold lld)
    check_linker_flag(CXX -fuse-ld=${linker} MERCER_HAS_${linker})
    if(MERCER_HAS_${linker})
        add_link_options(-fuse-ld=${linker})
        break()
    endif()
endforeach()
