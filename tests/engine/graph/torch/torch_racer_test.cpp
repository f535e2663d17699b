/// Variants compiled by a stand-in of nvcc and timed by LibTorch on the CPU: those that a library
/// does all the work of need no GPU.
#include "engine/graph/choice/torch_racer.h"
#include "engine/graph/read_program.h"
#include "tests/engine/graph/sample_programs.h"
#include "tests/paths.h"
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

/// The part of CUDA's header that host code of models needs.
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
object() {
    printf '%s\n' "$1" | c++ -x c++ -fPIC -c -o "$to" -
    exit $?
}
if [ -e "$headers/fragile" ] && [ $mode = -c ]; then
    # In TF32, a library that ends whoever loads it; in float32, one without kernels, which cannot be loaded.
    if grep -q 'stages, TF32' "$folder"/kernels/*.cu 2>/dev/null; then
        object '__attribute__((constructor)) static void end() { __builtin_trap(); }'
    fi
    case $from in *.cu) object '' ;; esac
fi
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
    TorchReference torch(paths::torchProgram);
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

TEST_F(TorchRacing, TimesTheFirstAndTheLastWhereAnotherOneFails) {
    std::ofstream(folder_.path() / "fragile").close();
    const auto program = readProgram(sampleProgram("attention").archive);
    ASSERT_TRUE(program) << program.error().describe();
    TorchReference torch(paths::torchProgram);
    ModelBuilder models(folder_.path() / "nvcc", "sm_90", folder_.path() / "models", 2);
    TorchRacer racer({.archive = sampleProgram("attention").archive, .device = "cpu", .rounds = 5},
                     torch, models);
    ChoiceRequest request;
    request.name = "attention";
    request.options.kernels.multiply = MultiplyUnit::TF32;
    const auto choice = chooseByTimes(*program, request, racer, memory_, {});
    ASSERT_TRUE(choice) << choice.error().describe();
    const auto place = std::ranges::find_if(choice->places, [](const PlaceMeasurement& each) {
        return each.isMeasured && each.variants.size() > 2;
    });
    ASSERT_NE(place, choice->places.end());
    EXPECT_EQ(place->variants.at(place->chosen).what, "a library");
    EXPECT_THAT(place->variants[0].time.why, HasSubstr("cannot be loaded"));
    EXPECT_THAT(place->variants[1].time.why, HasSubstr("one of the variants failed"));
}

} // namespace
} // namespace kernelskill::engine::graph
