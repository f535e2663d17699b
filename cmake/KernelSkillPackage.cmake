# Tells CPack what the Debian package is; script/package lays its files and calls cpack.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kernelskill)
set(CPACK_PACKAGE_CONTACT "The KernelSkill authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Language server for CUDA C++ that finds and verifies optimisations")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"KernelSkill says what holds each CUDA kernel back and why, and offers
optimisations and compile fixes that it has checked against the original kernel.
It needs no GPU and no CUDA toolkit; it uses both where it finds them.")
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "https://github.com/kernelskill/kernelskill")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Debian 12's; each later release of Debian and Ubuntu has newer ones. Every other library is in the package.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36), libgcc-s1 (>= 12), libstdc++6 (>= 12)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ | clang") # compiles the kernels that the emulator runs
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# Seconds instead of a minute, for a package that is a quarter larger. dpkg of Debian 12 and Ubuntu 24.04 reads it.
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_INSTALL_CMAKE_PROJECTS "")
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
