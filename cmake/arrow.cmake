# Arrow with Parquet, for the plugin that reads such files: with CMake files of its own, or in the folder of
# Python's pyarrow, which carries headers and libraries. Sets mercer_arrow_include and mercer_arrow_libraries;
# without Arrow, or with one that the plugin does not compile with, both stay empty.
set(MERCER_ARROW "" CACHE PATH "Folder with include/ and the libraries of Arrow, such as that of pyarrow")
set(mercer_arrow_include)
set(mercer_arrow_libraries)

find_package(Arrow CONFIG QUIET)
find_package(Parquet CONFIG QUIET)
if(TARGET Parquet::parquet_shared AND TARGET Arrow::arrow_shared AND NOT MERCER_ARROW)
    set(mercer_arrow_libraries Parquet::parquet_shared Arrow::arrow_shared)
else()
    set(folder "${MERCER_ARROW}")
    if(NOT folder)
        execute_process(COMMAND python3 -c "import pyarrow; print(pyarrow.__path__[0])"
                        OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
    # The libraries of a wheel are called by their versions alone.
    file(GLOB parquet "${folder}/libparquet.so" "${folder}/libparquet.so.*" "${folder}/lib/libparquet.so")
    file(GLOB arrow "${folder}/libarrow.so" "${folder}/libarrow.so.*" "${folder}/lib/libarrow.so")
    if(folder AND parquet AND arrow AND EXISTS "${folder}/include/parquet/arrow/reader.h")
        list(GET parquet 0 parquet)
        list(GET arrow 0 arrow)
        set(mercer_arrow_include "${folder}/include")
        set(mercer_arrow_libraries "${parquet}" "${arrow}")
    endif()
endif()

if(mercer_arrow_libraries)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    set(includes "${mercer_arrow_include}")
    if(TARGET Arrow::arrow_shared AND NOT includes)
        get_target_property(includes Arrow::arrow_shared INTERFACE_INCLUDE_DIRECTORIES)
    endif()
    try_compile(MERCER_PARQUET_COMPILES "${CMAKE_CURRENT_BINARY_DIR}/parquet"
                "${CMAKE_CURRENT_SOURCE_DIR}/plugins/parquet.cpp"
                CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${includes};${CMAKE_CURRENT_SOURCE_DIR}"
                CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    if(NOT MERCER_PARQUET_COMPILES)
        message(STATUS "Arrow is found, but the plugin does not compile with it: no Parquet")
        set(mercer_arrow_include)
        set(mercer_arrow_libraries)
    endif()
endif()
