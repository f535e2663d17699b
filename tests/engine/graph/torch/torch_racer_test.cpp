/// Variants compiled by a stand-in of nvcc and timed by LibTorch on the CPU: those that a library
/// does all the work of need no GPU.
#include "engine/graph/choice/node_choice.h"
#include "engine/graph/choice/torch_racer.h"
#include "engine/graph/read_program.h"
#include "tests/engine/graph/exported_program.h"
#include "tests/engine/graph/program_builder.h"
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

/// Reads what a compiler is asked for.
const std::string readsOptions = R"(#!/bin/sh
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
)";

/// Compiles host files, and no kernels.
const std::string hostCompiler = readsOptions + R"(object() {
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
case $from in *.cu)
    if [ -e "$headers/slow" ]; then exec sleep 100; fi
    echo "$from: error: there is no GPU" >&2
    exit 1 ;;
esac
exec c++ -O1 -std=c++17 -fPIC $mode -I "$headers" -I "$folder" -o "$to" $from
)";

/// Compiles host code in the place of kernels: a product that keeps as many bits of its factors as
/// the kernels say. The more exact it is, the longer it takes, and libraries take long.
const std::string plantingCompiler =
    readsOptions +
    R"(compile() { c++ -O2 -std=c++20 -x c++ -fPIC -I "$headers" -I "$folder" -c -o "$to" -; }
case $from in
    *.cu) echo | compile; exit $? ;;
    */model.cpp)
        if [ -d "$folder/kernels" ]; then
            bits=23 microseconds=60000
            if grep -q 'TF32 in two parts' "$folder"/kernels/*.cu; then bits=21 microseconds=25000
            elif grep -q 'bfloat16 in two parts' "$folder"/kernels/*.cu; then bits=16 microseconds=15000
            elif grep -q 'stages, TF32' "$folder"/kernels/*.cu; then bits=10 microseconds=0; fi
            field() { grep -o "^ *$1float\* [a-z0-9_]*" "$folder/model.h" | sed "s/.* //; $2!d"; }
            sed "s/BITS/$bits/; s/MICROSECONDS/$microseconds/; s/LEFT/$(field 'const ' 1)/
                s/RIGHT/$(field 'const ' 2)/; s/RESULT/$(field '' 1)/" "$headers/product.txt" | compile
        else
            { echo '#include <unistd.h>'; sed 's/status = library/usleep(60000), status = library/' "$from"; } | compile
        fi
        exit $? ;;
esac
exec c++ -O1 -std=c++20 -fPIC $mode -I "$headers" -I "$folder" -o "$to" $from
)";

constexpr const char* plantedProduct = R"(#include "model.h"
#include <bit>
#include <cstdint>
#include <unistd.h>
namespace part {
static float rounded(float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~std::uint32_t{0} << (23 - BITS));
}
std::size_t Model::workspaceBytes() { return 0; }
cudaError_t Model::prepare(cudaStream_t) const { return cudaSuccess; }
cudaError_t Model::forward(const Inputs& inputs, const Outputs& outputs, void*, cudaStream_t) const {
    for (int row = 0; row < 32; ++row)
        for (int column = 0; column < 32; ++column) {
            float sum = 0;
            for (int i = 0; i < 1024; ++i)
                sum += rounded(inputs.LEFT[row * 1024 + i]) * rounded(inputs.RIGHT[i * 32 + column]);
            outputs.RESULT[row * 32 + column] = sum;
        }
    usleep(MICROSECONDS);
    return cudaSuccess;
}
}
)";

class TorchRacing : public ::testing::Test {
protected:
    TorchRacing() {
        std::ofstream(folder_.path() / "cuda_runtime.h") << runtimeHeader;
        std::ofstream(folder_.path() / "nvcc") << hostCompiler;
        fs::permissions(folder_.path() / "nvcc", fs::perms::owner_all);
        fs::create_directories(folder_.path() / "models");
    }

    /// Writes a program of one product of matrices.
    fs::path productArchive() {
        testing::ProgramBuilder builder;
        builder.input("x", {32, 1024})
            .input("v", {1024, 32})
            .node("y", "aten.matmul.default",
                  {testing::value("self", "x"), testing::value("other", "v")})
            .type("y", {32, 32})
            .output("y");
        fs::path archive = folder_.path() / "product.pt2";
        testing::writeExported(builder.program(), archive);
        return archive;
    }

    /// Chooses for the product, with TF32 allowed, by models that keep as many bits as they say.
    ModelChoice chooseForProduct(Tolerance tolerance, const fs::path& child = paths::torchProgram) {
        std::ofstream(folder_.path() / "nvcc") << plantingCompiler;
        std::ofstream(folder_.path() / "product.txt") << plantedProduct;
        const fs::path archive = productArchive();
        const auto program = readProgram(archive);
        EXPECT_TRUE(program) << program.error().describe();
        ChoiceRequest request;
        request.name = "product";
        request.options.kernels.multiply = MultiplyUnit::TF32;
        request.tolerance = tolerance;
        TorchReference torch(child);
        ModelBuilder models(folder_.path() / "nvcc", "sm_90", folder_.path() / "models", 2);
        TorchRacer racer({.archive = archive,
                          .device = "cpu",
                          .allowsTf32 = true,
                          .tolerance = tolerance,
                          .rounds = 5},
                         torch, models);
        auto choice = chooseByTimes(*program, request, racer, memory_, stops_);
        EXPECT_TRUE(choice) << choice.error().describe();
        return choice.value_or(ModelChoice{});
    }

    kernelskill::testing::TemporaryFolder folder_;
    const ChoiceStops stops_{};
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
    const auto choice = chooseByTimes(*program, request, racer, memory_, stops_);
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
    for (const auto& [key, text] : kept_)
        EXPECT_FALSE(variantTimesFrom(text)) << "what has no time is tried again";
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
    const auto choice = chooseByTimes(*program, request, racer, memory_, stops_);
    ASSERT_TRUE(choice) << choice.error().describe();
    const auto place = std::ranges::find_if(choice->places, [](const PlaceMeasurement& each) {
        return each.isMeasured && each.variants.size() > 2;
    });
    ASSERT_NE(place, choice->places.end());
    EXPECT_THAT(place->variants.at(place->chosen).what, ::testing::StartsWith("a library"));
    EXPECT_THAT(place->variants[0].time.why, HasSubstr("cannot be loaded"));
    EXPECT_THAT(place->variants[1].time.why, HasSubstr("one of the variants failed"));
}

TEST_F(TorchRacing, LeavesOutWhatIsNotCompiledInTime) {
    std::ofstream(folder_.path() / "slow").close();
    const fs::path archive = productArchive();
    const auto program = readProgram(archive);
    ASSERT_TRUE(program) << program.error().describe();
    const auto filesOf = [&](const std::string& name, bool usesLibraries) {
        ModelOptions options;
        options.usesLibraries = usesLibraries;
        const auto plan = plannedModel(*program, name, options);
        EXPECT_TRUE(plan) << plan.error().describe();
        return plan ? modelFiles(*plan) : ModelFiles{};
    };
    const ModelFiles first = filesOf("first", true);
    const ModelFiles own = filesOf("own", false);
    const ModelFiles second = filesOf("second", true);
    TorchReference torch(paths::torchProgram);
    ModelBuilder models(folder_.path() / "nvcc", "sm_90", folder_.path() / "models", 4);
    TorchRacer racer({.archive = archive, .device = "cpu", .rounds = 5}, torch, models);
    racer.build(0, std::nullopt, {first, own, second});
    racer.build(1, std::nullopt, {own, second});
    for (const ModelFiles* files : {&first, &second})
        ASSERT_TRUE(models.wait(models.begin(*files), {}));
    std::stop_source compiling;
    compiling.request_stop();

    const auto times = racer.race(0, {compiling.get_token(), {}});
    ASSERT_TRUE(times) << times.error().describe();
    ASSERT_EQ(times->size(), 3U);
    EXPECT_GT(times->at(0).microseconds.value_or(0), 0);
    EXPECT_FALSE(times->at(1).microseconds);
    EXPECT_EQ(times->at(1).why, "it was not compiled in time");
    EXPECT_GT(times->at(2).microseconds.value_or(0), 0);

    const auto alone = racer.race(1, {compiling.get_token(), {}});
    ASSERT_FALSE(alone) << "one variant is no comparison";
    EXPECT_EQ(alone.error().kind, ErrorKind::Cancelled);
}

TEST_F(TorchRacing, RefusesTf32ThatIsTooInexactAndRemembersIt) {
    const ModelChoice choice = chooseForProduct(Tolerance::Loose);
    ASSERT_EQ(choice.places.size(), 1u);
    const PlaceMeasurement& place = choice.places[0];
    ASSERT_TRUE(place.isMeasured) << place.why;
    EXPECT_THAT(place.variants.at(place.chosen).what, HasSubstr("bfloat16 in two parts"));
    std::size_t refused = 0;
    for (const MeasuredVariant& variant : place.variants) {
        EXPECT_TRUE(variant.time.microseconds) << variant.what << ": " << variant.time.why;
        if (variant.what.contains("TF32") && variant.what.starts_with("own") &&
            !variant.what.contains("two parts")) {
            ++refused;
            EXPECT_THAT(
                variant.refused,
                ::testing::MatchesRegex(".* inputs, seed [1-6]: output 0 at .* instead of .*"));
        }
    }
    EXPECT_GE(refused, 1u);
    ASSERT_TRUE(choice.accuracy);
    EXPECT_EQ(choice.accuracy->verdict.outcome, MixVerdict::Outcome::Right)
        << choice.accuracy->verdict.worst << choice.accuracy->verdict.why;
    EXPECT_LT(choice.accuracy->verdict.error, 1e-3);

    const ModelChoice again = chooseForProduct(Tolerance::Loose, "/nowhere/kernelskill-torch");
    EXPECT_EQ(again.places.at(0).chosen, place.chosen);
    ASSERT_TRUE(again.accuracy);
    EXPECT_TRUE(again.accuracy->isRemembered);
}

TEST_F(TorchRacing, RefusesAtATighterToleranceWhatIsTooInexactThere) {
    const ModelChoice choice = chooseForProduct(Tolerance::Tight);
    ASSERT_EQ(choice.places.size(), 1u);
    const PlaceMeasurement& place = choice.places[0];
    ASSERT_TRUE(place.isMeasured) << place.why;
    EXPECT_THAT(place.variants.at(place.chosen).what, HasSubstr("TF32 in two parts"));
    for (const MeasuredVariant& variant : place.variants)
        if (variant.what.contains("bfloat16 in two parts"))
            EXPECT_THAT(variant.refused, HasSubstr(" instead of ")) << variant.what;
    ASSERT_TRUE(choice.accuracy);
    EXPECT_EQ(choice.accuracy->verdict.outcome, MixVerdict::Outcome::Right)
        << choice.accuracy->verdict.worst << choice.accuracy->verdict.why;
    EXPECT_LT(choice.accuracy->verdict.error, tightTolerance);
}

} // namespace
} // namespace kernelskill::engine::graph
