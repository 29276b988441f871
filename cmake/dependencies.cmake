# Everything the library stands on, gathered in one private target. docs/dependencies.md says what
# each is for; the Debian packages are listed once, in ./dev.
#
# Some of these have no CMake package everywhere (LAPACKE), or one that asks for more than we use
# (oneDNN's wants OpenCL), so these two are found by header and library.
function(mercer_find_plain name header library)
    find_path(${name}_INCLUDE_DIR ${header} ${ARGN})
    find_library(${name}_LIBRARY NAMES ${library})
    mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
    if(NOT ${name}_INCLUDE_DIR OR NOT ${name}_LIBRARY)
        message(FATAL_ERROR "${name}: ${header} or lib${library} not found. "
                            "'./dev help' names the packages to install.")
    endif()
    add_library(mercer_${name} INTERFACE)
    target_include_directories(mercer_${name} SYSTEM INTERFACE ${${name}_INCLUDE_DIR})
    target_link_libraries(mercer_${name} INTERFACE ${${name}_LIBRARY})
endfunction()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(LibArchive REQUIRED)
find_package(FastFloat REQUIRED)
find_package(Eigen3 REQUIRED)
find_package(Spectra REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(hwy REQUIRED libhwy)
# Its headers only: base/simd-inl.hpp says why.
add_library(mercer_hwy INTERFACE)
target_include_directories(mercer_hwy SYSTEM INTERFACE ${hwy_INCLUDE_DIRS})
mercer_find_plain(dnnl dnnl.h dnnl)
mercer_find_plain(lapacke lapacke.h lapacke)

# oneDNN runs on GCC's OpenMP; we link that very runtime, whatever the compiler, because its thread
# count is the one that has to be set. No code of ours is compiled with -fopenmp.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.so
                OUTPUT_VARIABLE mercer_gomp_hint OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
get_filename_component(mercer_gomp_directory "${mercer_gomp_hint}" DIRECTORY)
find_library(gomp_LIBRARY NAMES gomp libgomp.so.1 HINTS ${mercer_gomp_directory})
mark_as_advanced(gomp_LIBRARY)
if(NOT gomp_LIBRARY)
    message(FATAL_ERROR "libgomp (GCC's OpenMP runtime) not found. "
                        "'./dev help' names the packages to install.")
endif()

add_library(mercer_dependencies INTERFACE)
target_link_libraries(mercer_dependencies INTERFACE
    mercer_dnnl mercer_lapacke PkgConfig::openblas mercer_hwy ${gomp_LIBRARY}
    Eigen3::Eigen Spectra::Spectra LibArchive::LibArchive FastFloat::fast_float
    nlohmann_json::nlohmann_json Threads::Threads ${CMAKE_DL_LIBS})
