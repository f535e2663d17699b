# Warnings and sanitizers shared by every target of the project.
add_library(kernelskill_options INTERFACE)
target_include_directories(kernelskill_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(kernelskill_options INTERFACE -Wall -Wextra -Werror)
# g++ 12, optimising, sees overlapping copies in `"text" + std::string` (GCC bug 105651) and uninitialised members in
# std::expected where there are none. Both are mended in 13.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(kernelskill_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
# libstdc++ 12's stable_sort calls what it has deprecated.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(kernelskill_options INTERFACE -Wno-deprecated-declarations)
endif()
if(KERNELSKILL_SANITIZE)
    target_compile_options(kernelskill_options INTERFACE
        -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(kernelskill_options INTERFACE -fsanitize=address,undefined)
endif()

# kernelskill_precompile(TARGET [LIBRARY HEADERS...]): with KERNELSKILL_PRECOMPILE, the target's sources start from a set
# of library headers, and those of LIBRARY, compiled once per LIBRARY. Reading and instantiating them is most of what an
# unoptimised object costs.
function(kernelskill_precompile target)
    if(NOT KERNELSKILL_PRECOMPILE)
        return()
    endif()
    list(POP_FRONT ARGN library)
    string(MAKE_C_IDENTIFIER "kernelskill_precompiled_${library}" holder)
    if(NOT TARGET ${holder})
        set(source ${PROJECT_BINARY_DIR}/${holder}.cpp)
        file(CONFIGURE OUTPUT ${source} CONTENT "")
        add_library(${holder} OBJECT ${source})
        target_link_libraries(${holder} PRIVATE kernelskill_options spdlog::spdlog nlohmann_json::nlohmann_json
            ${library})
        target_precompile_headers(${holder} PRIVATE <algorithm> <cstdint> <expected> <filesystem> <fstream> <functional>
            <map> <memory> <optional> <set> <span> <string> <string_view> <utility> <vector> <spdlog/fmt/fmt.h>
            <nlohmann/json.hpp> ${ARGN})
    endif()
    target_link_libraries(${target} PRIVATE spdlog::spdlog) # its definitions have to be those of the precompiled headers
    target_precompile_headers(${target} REUSE_FROM ${holder})
endfunction()

# kernelskill_library(NAME SOURCES... ): a static library with the project's options.
function(kernelskill_library name)
    add_library(${name} STATIC ${ARGN})
    target_link_libraries(${name} PUBLIC kernelskill_options)
    kernelskill_precompile(${name})
endfunction()

# kernelskill_test(NAME LIBRARIES a;b SOURCES ... [TIMEOUT seconds] [MANY_CASES]): a GoogleTest program, one CTest test per
# TEST. With sanitizers one CTest test in all: starting an instrumented program costs more than most tests. Of MANY_CASES,
# which take the same code through many texts, it is then every third.
function(kernelskill_test name)
    cmake_parse_arguments(ARG "MANY_CASES" "TIMEOUT" "LIBRARIES;SOURCES" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE kernelskill_options ${ARG_LIBRARIES} GTest::gtest_main GTest::gmock)
    target_compile_definitions(${name} PRIVATE
        KERNELSKILL_SOURCE_DIR="${PROJECT_SOURCE_DIR}" KERNELSKILL_BINARY_DIR="${PROJECT_BINARY_DIR}")
    kernelskill_precompile(${name} GTest::gmock <gtest/gtest.h> <gmock/gmock.h>)
    if(name MATCHES "^gpu_") # script/gpu-test carries these to a machine with a GPU
        kernelskill_packed(${name} tests gpu-tests)
    endif()
    if(KERNELSKILL_SANITIZE)
        add_test(NAME ${name} COMMAND ${name})
        set_tests_properties(${name} PROPERTIES TIMEOUT 1800)
        if(ARG_MANY_CASES)
            set_tests_properties(${name} PROPERTIES ENVIRONMENT "GTEST_TOTAL_SHARDS=3;GTEST_SHARD_INDEX=0")
        endif()
    else()
        gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${ARG_TIMEOUT})
    endif()
endfunction()

# kernelskill_packed(TARGET FOLDER COMPONENT): script/package and script/gpu-test lay the program into FOLDER, where it
# finds its libraries, and these find each other, in ../lib: DT_RPATH, unlike DT_RUNPATH, holds for both. Nothing is
# rewritten on the way, for which CMake would fill the path up with colons: each means the current folder.
function(kernelskill_packed target folder component)
    set_target_properties(${target} PROPERTIES
        INSTALL_RPATH "$ORIGIN/../lib" INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
    install(TARGETS ${target} RUNTIME DESTINATION ${folder} COMPONENT ${component})
endfunction()
