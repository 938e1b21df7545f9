# The .deb: `./dev package`.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME plumb-leaks)
set(CPACK_PACKAGE_VENDOR "The Plumb authors")
set(CPACK_PACKAGE_CONTACT "The Plumb authors <plumb@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds where C and C++ programs lose their memory")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Plumb says where leaked memory was allocated, last used and lost, and the
window in which a free belongs: in source code without running it (plumb check),
in unmodified programs (plumb run), in programs compiled once more (plumb cc) and
in production (plumb watch), with one report for terminals, editors, browsers and
continuous integration.")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libc6-dbg, clang-19")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/package/copyright
        DESTINATION share/doc/${CPACK_PACKAGE_NAME})
include(CPack)
