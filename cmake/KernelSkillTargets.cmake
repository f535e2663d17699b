# Warnings and sanitizers shared by every target of the project.
add_library(kernelskill_options INTERFACE)
target_include_directories(kernelskill_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(kernelskill_options INTERFACE -Wall -Wextra -Werror)
# g++ 12, optimising, sees overlapping copies in `"text" + std::string` (GCC bug 105651) and uninitialised members in
# std::expected where there are none. Both are mended in 13.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(kernelskill_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(KERNELSKILL_SANITIZE)
    target_compile_options(kernelskill_options INTERFACE
        -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(kernelskill_options INTERFACE -fsanitize=address,undefined)
endif()

# kernelskill_library(NAME SOURCES... ): a static library with the project's options.
function(kernelskill_library name)
    add_library(${name} STATIC ${ARGN})
    target_link_libraries(${name} PUBLIC kernelskill_options)
endfunction()

# kernelskill_test(NAME LIBRARIES a;b SOURCES ...): a GoogleTest program, one CTest test per TEST.
function(kernelskill_test name)
    cmake_parse_arguments(ARG "" "TIMEOUT" "LIBRARIES;SOURCES" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    if(KERNELSKILL_SANITIZE) # instrumented code is several times slower
        math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")
    endif()
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest_main GTest::gmock)
    target_compile_definitions(${name} PRIVATE
        KERNELSKILL_SOURCE_DIR="${PROJECT_SOURCE_DIR}" KERNELSKILL_BINARY_DIR="${PROJECT_BINARY_DIR}")
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()
