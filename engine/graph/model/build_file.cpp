#include "engine/graph/model/build_file.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine::graph {

std::string buildFile(const ModelPlan& plan) {
    std::string kernels;
    for (const ModelStep& step : plan.steps)
        if (const auto* kernel = std::get_if<Kernel>(&step.work))
            kernels += fmt::format("    kernels/{}.cu\n", kernel->name);
    const std::string languages = kernels.empty() ? "CXX" : "CXX CUDA";
    return fmt::format(R"(cmake_minimum_required(VERSION 3.24)
project({0} LANGUAGES {1})

if(NOT DEFINED CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES native)
endif()
find_package(CUDAToolkit REQUIRED)

set(sources
    model.cpp
    model_abi.cpp
    recorded_model.cpp
{2})

add_library(model SHARED ${{sources}})
target_compile_features(model PRIVATE cxx_std_17)
target_link_libraries(model PRIVATE CUDA::cudart)

# torch.ops.load_library("libmodel_torch.so")
find_package(Torch QUIET)
if(Torch_FOUND)
    add_library(model_torch SHARED ${{sources}} torch_operator.cpp)
    target_compile_features(model_torch PRIVATE cxx_std_17)
    target_link_libraries(model_torch PRIVATE ${{TORCH_LIBRARIES}} CUDA::cudart)
endif()
)",
                       plan.name, languages, kernels);
}

} // namespace kernelskill::engine::graph
