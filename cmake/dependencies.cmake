# Everything the library stands on, gathered in one private target. docs/dependencies.md says what
# each is for; the Debian packages are listed once, in ./dev.
#
# Some of these have no CMake package everywhere (OpenBLAS), or one that asks for more than we use
# (oneDNN's wants OpenCL), so they are found by header and library.
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
endfunction()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(FastFloat REQUIRED)
find_package(Eigen3 REQUIRED)
find_package(Spectra REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(hwy REQUIRED libhwy)
# Its headers only: base/detail/simd_targets.hpp says why.
add_library(mercer_hwy INTERFACE)
target_include_directories(mercer_hwy SYSTEM INTERFACE ${hwy_INCLUDE_DIRS})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    # NEON alone: the vectors of SVE have no size that a compiler knows and cannot stand in arrays.
    target_compile_definitions(mercer_hwy INTERFACE
        "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
endif()
mercer_find_plain(dnnl dnnl.h dnnl)
mercer_find_plain(archive archive.h archive)
mercer_find_plain(png png.h png)
mercer_find_plain(microhttpd microhttpd.h microhttpd)
mercer_find_plain(clp coin/Clp_C_Interface.h Clp)
pkg_check_modules(openblas_hint openblas)
mercer_find_plain(openblas cblas.h openblas HINTS ${openblas_hint_INCLUDE_DIRS})

# oneDNN, OpenBLAS (with the LAPACK in it), libarchive, libpng and CLP are opened at run time, when
# first needed (base/detail/library.hpp): what the library needs of them here are their headers, and the names the
# loader knows them by.
function(mercer_loader_name file result)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file} OUTPUT_VARIABLE text ERROR_QUIET)
    if(NOT text MATCHES "SONAME +([^ \n]+)")
        message(FATAL_ERROR "${file} is no shared library; Mercer opens it when it runs.")
    endif()
    set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
mercer_loader_name(${dnnl_LIBRARY} mercer_dnnl_name)
mercer_loader_name(${openblas_LIBRARY} mercer_openblas_name)
mercer_loader_name(${archive_LIBRARY} mercer_archive_name)
mercer_loader_name(${png_LIBRARY} mercer_png_name)
mercer_loader_name(${clp_LIBRARY} mercer_clp_name)
# The page of mercer studio, which the command line serves.
mercer_loader_name(${microhttpd_LIBRARY} mercer_microhttpd_name)

add_library(mercer_dependencies INTERFACE)
target_link_libraries(mercer_dependencies INTERFACE
    mercer_dnnl mercer_openblas mercer_archive mercer_png mercer_clp mercer_hwy
    Eigen3::Eigen Spectra::Spectra FastFloat::fast_float
    nlohmann_json::nlohmann_json ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
