/// The host's sources of a generated model, as a compiler with LibTorch's and CUDA's headers takes
/// them.
#include "engine/graph/lowering/channels_last_nodes.h"
#include "engine/graph/model/model_files.h"
#include "engine/graph/read_program.h"
#include "tests/engine/graph/sample_programs.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kernelskill::engine::graph::testing {
namespace {

/// The folder of the toolkit's headers; empty without a toolkit.
std::string toolkitHeaders() {
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* home = std::getenv(variable))
            return std::string(home) + "/include";
    const std::string usual = "/usr/local/cuda/include";
    return std::filesystem::exists(usual) ? usual : "";
}

TEST(ModelSources, CompileWithLibTorch) {
    const std::string toolkit = toolkitHeaders();
    if (toolkit.empty())
        GTEST_SKIP() << "there is no CUDA toolkit";
    kernelskill::testing::TemporaryFolder folder;
    // LibTorch for CPUs has the headers for CUDA, except for the one that its build writes.
    const std::filesystem::path macros = folder.path() / "c10/cuda/impl/cuda_cmake_macros.h";
    std::filesystem::create_directories(macros.parent_path());
    std::ofstream(macros).close();
    std::string include = " -isystem " + folder.path().string() + " -isystem " + toolkit;
    std::string directories = KERNELSKILL_TEST_TORCH_INCLUDES;
    for (std::size_t begin = 0; begin < directories.size();) {
        const std::size_t end = std::min(directories.find('|', begin), directories.size());
        include += " -isystem " + directories.substr(begin, end - begin);
        begin = end + 1;
    }
    // A recurrent layer is left to LibTorch; the others have a dynamic extent, an output that a
    // library computes, and images in channels-last order.
    for (const char* name : {"lstm", "mlp-dynamic", "mlp", "conv"}) {
        const auto graph = readProgram(sampleProgram(name).archive);
        ASSERT_TRUE(graph) << graph.error().describe();
        ModelOptions options;
        if (std::string(name) == "mlp")
            options.libraryNodes = options.float32Nodes = {graph->nodes.back().name};
        if (std::string(name) == "conv")
            options.libraryNodes = options.channelsLastNodes = imageConvolutions(*graph);
        const auto plan = plannedModel(*graph, "model", options);
        ASSERT_TRUE(plan) << plan.error().describe();
        const std::filesystem::path model = folder.path() / name;
        const auto written = writeModel(modelFiles(*plan), model.string());
        ASSERT_TRUE(written) << written.error().describe();
        const std::filesystem::path errors = folder.path() / "errors";
        for (const char* source :
             {"model.cpp", "model_abi.cpp", "recorded_model.cpp", "torch_operator.cpp"}) {
            const std::string command = "c++ -std=c++17 -fsyntax-only -Wall -Wextra -Werror" +
                                        include + " " + (model / source).string() + " 2>" +
                                        errors.string();
            const int status = std::system(command.c_str()); // NOLINT: a test's own words
            std::ifstream said(errors);
            EXPECT_EQ(status, 0) << source << "\n"
                                 << std::string(std::istreambuf_iterator<char>(said), {});
        }
    }
}

} // namespace
} // namespace kernelskill::engine::graph::testing
