# A Debian package of what gets installed: cpack -G DEB in the build folder. What is linked is found by
# dpkg-shlibdeps; what is opened at run time is named here, as OpenBLAS must be there and the others are
# for one thing each (docs/dependencies.md).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mercer)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "the authors of Mercer")
set(CPACK_PACKAGE_CONTACT "the authors of Mercer <mercer@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libopenblas0")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "libpng16-16 | libpng16-16t64, libarchive13 | libarchive13t64, libdnnl2 | libdnnl3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "coinor-libclp1, libmicrohttpd12 | libmicrohttpd12t64, python3-numpy")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mercer
        RENAME copyright)
include(CPack)
