# Installs the build tree into WORK, then builds the examples against that tree as a stranger would
# and runs them: all by find_package, one by pkg-config. Expects BUILD, EXAMPLES, WORK, COMPILER,
# SANITIZE.
function(must)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                    ERROR_VARIABLE output)
    if(NOT status EQUAL 0)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "failed (${status}): ${command}\n${output}")
    endif()
endfunction()

set(flags)
if(SANITIZE)
    set(flags "-fsanitize=${SANITIZE}")
endif()

file(REMOVE_RECURSE "${WORK}")
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
# A tree that has been moved must still work.
file(RENAME "${WORK}/prefix" "${WORK}/moved")
set(prefix "${WORK}/moved")

must(${CMAKE_COMMAND} -S ${EXAMPLES} -B ${WORK}/cmake -G Ninja
     -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${flags}" -DCMAKE_PREFIX_PATH=${prefix})
must(${CMAKE_COMMAND} --build ${WORK}/cmake)
must(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/cmake --output-on-failure)

file(GLOB_RECURSE pc "${prefix}/mercer.pc")
get_filename_component(pc_directory "${pc}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} "${pc_directory}")
execute_process(COMMAND pkg-config --cflags --libs mercer
                OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(options UNIX_COMMAND "${options}")
must(${COMPILER} -std=c++20 ${flags} ${EXAMPLES}/own_operator.cpp -o ${WORK}/own_operator ${options})
get_filename_component(library_directory "${pc_directory}" DIRECTORY)
set(ENV{LD_LIBRARY_PATH} "${library_directory}")
must(${WORK}/own_operator)
must(${prefix}/bin/mercer --version)
# A program in C, which knows nothing of C++.
find_program(C_COMPILER NAMES cc gcc clang)
if(C_COMPILER)
    must(${C_COMPILER} -std=c99 -pedantic -Wall -Wextra -Werror ${flags} ${EXAMPLES}/predict.c
         -o ${WORK}/predict ${options})
    must(${prefix}/bin/mercer train @iris ${WORK}/iris.mercer --quiet)
    execute_process(COMMAND ${WORK}/predict ${WORK}/iris.mercer 5.1 3.5 1.4 0.2
                    OUTPUT_VARIABLE answer COMMAND_ERROR_IS_FATAL ANY)
    if(NOT answer STREQUAL "setosa\n")
        message(FATAL_ERROR "predict.c says ${answer} of a row of setosa")
    endif()
endif()
foreach(page IN ITEMS man/man1/mercer.1 man/man1/mercer-train.1 zsh/site-functions/_mercer
        fish/vendor_completions.d/mercer.fish bash-completion/completions/mercer)
    if(NOT EXISTS "${prefix}/share/${page}")
        message(FATAL_ERROR "${page} was not installed")
    endif()
endforeach()
