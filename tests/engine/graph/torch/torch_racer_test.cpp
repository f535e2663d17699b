/// Variants compiled by a stand-in of nvcc and timed by LibTorch on the CPU: those that a library
/// does all the work of need no GPU.
#include "engine/graph/choice/torch_racer.h"
#include "engine/graph/read_program.h"
#include "tests/engine/graph/sample_programs.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace kernelskill::engine::graph {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::sampleProgram;

/// What host code of models needs of CUDA's header.
constexpr const char* runtimeHeader = R"(#pragma once
enum cudaError_t { cudaSuccess = 0, cudaErrorNotSupported = 801 };
typedef struct CUstream_st* cudaStream_t;
)";

/// Compiles host files, and no kernels.
constexpr const char* hostCompiler = R"(#!/bin/sh
headers=$(dirname "$0") folder='' mode=-shared from='' to=''
while [ $# -gt 0 ]; do
    case $1 in
        -I) folder=$2; shift ;;
        -c) mode=-c; from=$2; shift ;;
        -o) to=$2; shift ;;
        *.o) from="$from $1" ;;
    esac
    shift
done
case $from in *.cu) echo "$from: error: there is no GPU" >&2; exit 1 ;; esac
exec c++ -O1 -std=c++17 -fPIC $mode -I "$headers" -I "$folder" -o "$to" $from
)";

class TorchRacing : public ::testing::Test {
protected:
    TorchRacing() {
        std::ofstream(folder_.path() / "cuda_runtime.h") << runtimeHeader;
        std::ofstream(folder_.path() / "nvcc") << hostCompiler;
        fs::permissions(folder_.path() / "nvcc", fs::perms::owner_all);
        fs::create_directories(folder_.path() / "models");
    }

    kernelskill::testing::TemporaryFolder folder_;
    std::map<std::string, std::string> kept_;
    const TimesMemory memory_{
        .find = [this](const std::string& key) -> std::optional<std::string> {
            const auto known = kept_.find(key);
            return known != kept_.end() ? std::optional(known->second) : std::nullopt;
        },
        .keep = [this](const std::string& key, const std::string& text) { kept_[key] = text; }};
};

TEST_F(TorchRacing, TimesWhatCompilesAndSaysWhyTheOthersHaveNoTime) {
    const auto program = readProgram(sampleProgram("mlp").archive);
    ASSERT_TRUE(program) << program.error().describe();
    TorchReference torch(KERNELSKILL_TORCH);
    ModelBuilder builder(folder_.path() / "nvcc", "sm_90", folder_.path() / "models", 2);
    TorchRacer racer({.archive = sampleProgram("mlp").archive, .device = "cpu", .rounds = 5}, torch,
                     builder);
    ChoiceRequest request;
    request.name = "mlp";
    const auto choice = chooseByTimes(*program, request, racer, memory_, {});
    ASSERT_TRUE(choice) << choice.error().describe();
    std::size_t timed = 0;
    for (const PlaceMeasurement& place : choice->places) {
        if (!place.isMeasured)
            continue;
        ++timed;
        EXPECT_EQ(place.variants.at(place.chosen).what, "a library") << place.operation;
        EXPECT_GT(place.variants.at(place.chosen).time.microseconds.value_or(0), 0);
        EXPECT_THAT(place.variants.at(0).time.why, HasSubstr("there is no GPU"));
    }
    EXPECT_GE(timed, 1U) << "the first product has no kernel beside it";
    EXPECT_TRUE(kept_.empty()) << "what has no time is tried again";
    const auto plan = plannedModel(*program, "mlp", choice->options);
    ASSERT_TRUE(plan) << plan.error().describe();
    EXPECT_GE(libraryCalls(*plan).size(), timed);
}

} // namespace
} // namespace kernelskill::engine::graph
