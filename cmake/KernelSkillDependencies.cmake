# Third-party libraries. Everything here is required; CUDA and LibTorch are looked for where they are used.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(Minizip REQUIRED IMPORTED_TARGET minizip)
find_package(ZLIB REQUIRED)
if(KERNELSKILL_TORCH_ALONE)
    return()
endif()
find_package(Boost 1.81 REQUIRED COMPONENTS context)
find_package(CLI11 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CURL REQUIRED)
pkg_check_modules(LibSeccomp REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(Isl REQUIRED IMPORTED_TARGET isl)
pkg_check_modules(Z3 REQUIRED IMPORTED_TARGET z3)

# libclang 22. Its built-in headers are found at run time, see analysis/command/toolchain.h.
find_path(LIBCLANG_INCLUDE_DIR clang-c/Index.h
    PATHS /usr/lib/llvm-22/include NO_DEFAULT_PATH REQUIRED)
find_library(LIBCLANG_LIBRARY NAMES clang-22 clang PATHS /usr/lib/llvm-22/lib NO_DEFAULT_PATH REQUIRED)
add_library(LibClang::LibClang UNKNOWN IMPORTED)
set_target_properties(LibClang::LibClang PROPERTIES
    IMPORTED_LOCATION ${LIBCLANG_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${LIBCLANG_INCLUDE_DIR})

# CUDA's headers, for the GPU runner. Without them, or with those of CUDA 12.5 and older, it is not built.
find_path(KERNELSKILL_CUDA_INCLUDE_DIR cupti_range_profiler.h
    HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
    PATH_SUFFIXES include targets/x86_64-linux/include targets/sbsa-linux/include extras/CUPTI/include)
