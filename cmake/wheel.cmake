# What goes into a wheel (MERCER_WHEEL, ./dev wheel) runs on every Linux system of the C library 2.28 or
# later: the C++ library is linked in, as the one of an older system would not do, and calls of the C
# library go to functions that it has always had. mercer_for_wheels(TARGET [START]) does nothing in other
# builds; START is for programs.
set(mercer_old_symbols exp exp2 log log2 pow hypot pthread_create pthread_join pthread_detach
    pthread_once pthread_key_create pthread_key_delete pthread_getspecific pthread_setspecific
    pthread_mutex_trylock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock
    pthread_sigmask pthread_cond_clockwait dlopen dlsym dlerror dladdr stat lstat fstat fstat64 fstatat
    arc4random)

function(mercer_for_wheels target)
    if(NOT MERCER_WHEEL)
        return()
    endif()
    set(folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
    set(sources "${folder}/old_symbols.cpp")
    list(TRANSFORM mercer_old_symbols PREPEND "-Wl,--wrap=" OUTPUT_VARIABLE wraps)
    if("START" IN_LIST ARGN)
        list(APPEND sources "${folder}/old_start.cpp")
        list(APPEND wraps -Wl,--wrap=__libc_start_main)
    endif()
    target_sources(${target} PRIVATE ${sources})
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES
        SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
    # lld leaves the newer symbols among what is wanted. Names of the C++ library stay inside: another
    # one may be in the same process.
    target_link_options(${target} PRIVATE ${wraps} -fuse-ld=bfd -static-libstdc++
                        -Wl,--exclude-libs,libstdc++.a)
    # Where these are no longer needed they are empty, and must still be asked for by name.
    target_link_libraries(${target} PRIVATE -Wl,--push-state,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2
                          -Wl,--pop-state)
endfunction()
