# What `cmake --install` leaves behind: headers, library, program, and the two ways other builds
# find them: find_package(mercer) and pkg-config.
include(CMakePackageConfigHelpers)
set(mercer_package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/mercer")

install(TARGETS mercer EXPORT mercer-targets FILE_SET HEADERS)
if(NOT BUILD_SHARED_LIBS)
    # A static library passes its needs on to whoever links it.
    target_link_libraries(mercer INTERFACE
        "$<INSTALL_INTERFACE:pthread;dl;z>")
    set(MERCER_PC_LIBS_PRIVATE "-lpthread -ldl -lz -lstdc++ -lm")
endif()
install(EXPORT mercer-targets NAMESPACE mercer:: DESTINATION ${mercer_package_directory})

file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/mercer-config.cmake"
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/mercer-targets.cmake\")\n")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/mercer-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/mercer-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/mercer-config-version.cmake"
        DESTINATION ${mercer_package_directory})

# The prefix is worked out from where the .pc file lies, so that an installed tree can be moved.
file(RELATIVE_PATH MERCER_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(${PROJECT_SOURCE_DIR}/cmake/mercer.pc.in
               ${CMAKE_CURRENT_BINARY_DIR}/mercer.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mercer.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
