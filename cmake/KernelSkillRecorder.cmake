# kernelskill_recorder(NAME SOURCES FILE... [LIBRARIES LIBRARY...]): a library that the CUDA driver loads into the user's
# programs. It needs nothing of ours at run time, shows one symbol, and is never instrumented, since those programs are not.
function(kernelskill_recorder name)
    cmake_parse_arguments(PARSE_ARGV 1 recorder "" "" "SOURCES;LIBRARIES")
    set(exports ${PROJECT_SOURCE_DIR}/engine/capture/recorder/exports.map)
    add_library(${name} MODULE ${recorder_SOURCES})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_include_directories(${name} SYSTEM PRIVATE ${KERNELSKILL_CUDA_INCLUDE_DIR})
    target_compile_options(${name} PRIVATE -Wall -Wextra -Werror -O2 -fvisibility=hidden)
    set_target_properties(${name} PROPERTIES
        POSITION_INDEPENDENT_CODE ON
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
        LINK_DEPENDS ${exports})
    target_link_libraries(${name} PRIVATE nlohmann_json::nlohmann_json ${recorder_LIBRARIES} ${CMAKE_DL_LIBS})
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc LINKER:--version-script=${exports})
endfunction()
