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

if(KERNELSKILL_FUZZ)
    target_compile_options(kernelskill_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# kernelskill_grouped(RESULT TARGET SOURCE...): with KERNELSKILL_UNITY, a few sources that include eight of a folder each, in
# place of those eight; else the sources themselves. Half of what a small file costs is the headers that it reads. The
# files written name no absolute path, so that two checkouts share what ccache holds.
function(kernelskill_grouped result target)
    if(NOT KERNELSKILL_UNITY)
        set(${result} ${ARGN} PARENT_SCOPE)
        return()
    endif()
    file(RELATIVE_PATH here ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    set(folders)
    set(groups)
    foreach(source IN LISTS ARGN)
        if(IS_ABSOLUTE ${source}) # generated
            list(APPEND groups ${source})
            continue()
        endif()
        cmake_path(SET path NORMALIZE "${here}/${source}")
        cmake_path(GET path PARENT_PATH folder)
        list(APPEND folders ${folder})
        string(MAKE_C_IDENTIFIER ${folder} key)
        list(APPEND sources_${key} ${path})
    endforeach()
    list(REMOVE_DUPLICATES folders)
    foreach(folder IN LISTS folders)
        string(MAKE_C_IDENTIFIER ${folder} key)
        list(LENGTH sources_${key} count)
        math(EXPR last "(${count} - 1) / 8")
        foreach(number RANGE ${last})
            math(EXPR first "8 * ${number}")
            list(SUBLIST sources_${key} ${first} 8 group)
            list(TRANSFORM group REPLACE "(.+)" "#include \"\\1\"\n")
            string(JOIN "" includes ${group})
            set(file ${PROJECT_BINARY_DIR}/groups/${target}/${folder}/${number}.cpp)
            file(CONFIGURE OUTPUT ${file} CONTENT "${includes}" @ONLY)
            list(APPEND groups ${file})
        endforeach()
    endforeach()
    set(${result} ${groups} PARENT_SCOPE)
endfunction()

# kernelskill_library(NAME SOURCES...): a static library with the project's options. Sanitizers' checks take ten times as long
# in code that is not optimised at all; the tests themselves stay so, since they compile for longer than they run.
function(kernelskill_library name)
    kernelskill_grouped(sources ${name} ${ARGN})
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC kernelskill_options)
    if(KERNELSKILL_SANITIZE)
        target_compile_options(${name} PRIVATE -O1)
    endif()
endfunction()

# kernelskill_add_shards(NAME PROGRAM LABEL COUNT): the GoogleTest program as COUNT CTest tests, each a process with a share
# of its tests. What each test did is left in test-results/ of the build folder, as JUnit writes it.
function(kernelskill_add_shards name program label count)
    math(EXPR last "${count} - 1")
    foreach(shard RANGE ${last})
        add_test(NAME ${name}.${shard} COMMAND ${PROJECT_SOURCE_DIR}/tests/before_deadline ${program})
        set_tests_properties(${name}.${shard} PROPERTIES
            LABELS ${label}
            TIMEOUT 1800
            SKIP_RETURN_CODE 77
            SKIP_REGULAR_EXPRESSION "\\[  PASSED  \\] 0 tests"
            ENVIRONMENT "GTEST_TOTAL_SHARDS=${count};GTEST_SHARD_INDEX=${shard};GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/test-results/${name}.${shard}.xml")
    endforeach()
endfunction()

# kernelskill_precompiled_test_headers(TARGET): compiles the headers that tests share once. That halves what a test takes to
# compile. ccache keeps what reads them, if CCACHE_SLOPPINESS says what script/lib.sh says, and gives it to other checkouts,
# if cmake/ccache-compile starts it; the angle brackets keep the checkout's path out of what CMake includes.
function(kernelskill_precompiled_test_headers target)
    target_precompile_headers(${target} PRIVATE <tests/standard_headers.h>)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
endfunction()

# kernelskill_test(NAME UNIT|WIRE|GPU [SHARDS n] LIBRARIES a;b SOURCES ...): a GoogleTest program.
function(kernelskill_test name)
    cmake_parse_arguments(ARG "UNIT;WIRE;GPU" "SHARDS" "LIBRARIES;SOURCES" ${ARGN})
    if(NOT ARG_SHARDS)
        set(ARG_SHARDS 1)
    endif()
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE
        kernelskill_options kernelskill_test_paths ${ARG_LIBRARIES} GTest::gtest_main GTest::gmock)
    list(LENGTH ARG_SOURCES count)
    if(KERNELSKILL_UNITY AND count GREATER 4)
        target_link_libraries(${name} PRIVATE nlohmann_json::nlohmann_json)
        kernelskill_precompiled_test_headers(${name})
    endif()
    if(ARG_UNIT)
        add_dependencies(kernelskill_unit_tests ${name})
        kernelskill_add_shards(${name} $<TARGET_FILE:${name}> unit ${ARG_SHARDS})
    elseif(ARG_WIRE)
        add_dependencies(kernelskill_wire_tests ${name})
        kernelskill_add_shards(${name} $<TARGET_FILE:${name}> wire ${ARG_SHARDS})
    else() # script/gpu-test carries these to a machine with a GPU
        kernelskill_packed(${name} tests gpu-tests)
        kernelskill_add_shards(${name} $<TARGET_FILE:${name}> gpu 1)
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
