/// Kernels of random PyTorch programs against LibTorch, on the emulator.
#include "engine/graph/check/tensor_numbers.h"
#include "engine/graph/lowering/channels_last_nodes.h"
#include "engine/graph/separate_bias.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/engine/graph/torch/random_graph.h"
#include "tests/engine/graph/torch/torch_model_reference.h"
#include "tests/samples.h"
#include "tests/test_seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

namespace kernelskill::engine::graph::testing {
namespace {

class RandomModels : public kernelskill::testing::EmulatorFixture {
protected:
    /// The error of LibTorch itself in float32: where it is large, sums cancel and nothing can be
    /// told of kernels in float32.
    static double errorOfFloat32(const Program& program, std::uint64_t seed) {
        TorchSubject subject;
        subject.precision = Precision::Float32;
        subject.seed = seed;
        const auto narrow =
            PreparedProgram::prepare(std::make_shared<const Program>(program), subject);
        const auto wide = referenceFor(program, seed)({}, {});
        if (!narrow || !wide)
            return INFINITY;
        const auto run = runProgram(*narrow, {});
        if (!run)
            return INFINITY;
        double error = 0;
        for (std::size_t i = 0; i < run->outputs.size(); ++i) {
            const auto found = numbersIn(*run->outputs[i]);
            const auto expected = numbersIn(*wide->outputs[i]);
            for (std::size_t at = 0; at < found.size(); ++at)
                if (!(std::isnan(found[at]) && std::isnan(expected[at])))
                    error = std::max(error, std::abs(found[at] - expected[at]) /
                                                std::max(1.0, std::abs(expected[at])));
        }
        return std::isnan(error) ? INFINITY : error;
    }

    void check(std::uint64_t seed, MultiplyUnit unit) {
        const Program program = randomGraph(seed, 2 + static_cast<int>(seed % 9));
        ModelOptions options;
        options.kernels.multiply = unit;
        check(program, seed, options);
        Program turned = withSeparateBias(program);
        options.libraryNodes = options.channelsLastNodes = imageConvolutions(turned);
        if (!options.channelsLastNodes.empty())
            check(turned, seed, options);
    }

    void check(const Program& program, std::uint64_t seed, const ModelOptions& options) {
        const ModelCheck check = checkModel(program, referenceFor(program, seed),
                                            {.model = options, .seed = seed, .maxWork = 1e12},
                                            *executor_, bench_.toolchain, {});
        ++checked_;
        agreed_ += check.outcome == ModelCheck::Outcome::Agrees ? 1 : 0;
        constexpr double wellConditioned = 1e-5;
        if (check.outcome == ModelCheck::Outcome::NotCompared)
            std::cout << "seed " << seed << " is not compared: " << check.why << std::endl;
        else if (check.outcome == ModelCheck::Outcome::Differs &&
                 errorOfFloat32(program, seed) < wellConditioned)
            ADD_FAILURE() << "seed " << seed << ", "
                          << (options.channelsLastNodes.empty() ? "own kernels"
                                                                : "images in channels-last order")
                          << ": " << check.why << "\n"
                          << textOf(program);
    }

    int checked_ = 0;
    int agreed_ = 0;
};

/// KERNELSKILL_RANDOM_MODELS: how many programs are taken, from the seed on.
TEST_F(RandomModels, ComputeWhatLibTorchComputes) {
    const char* wanted = std::getenv("KERNELSKILL_RANDOM_MODELS");
    const int count = wanted != nullptr ? std::atoi(wanted) : takesEveryCase() ? 150 : 12;
    const std::uint64_t first = testSeed();
    constexpr std::array units = {MultiplyUnit::Float32, MultiplyUnit::Float32,
                                  MultiplyUnit::TF32Split, MultiplyUnit::BFloat16Split};
    for (int i = 0; i < count; ++i)
        check(first + static_cast<std::uint64_t>(i),
              units.at(static_cast<std::size_t>(i) % units.size()));
    std::cout << agreed_ << " of " << checked_ << " agree\n";
    EXPECT_GE(agreed_, checked_ * 3 / 4);
}

/// Each found a defect once.
TEST_F(RandomModels, OfOldDefectsComputeWhatLibTorchComputes) {
    for (const std::uint64_t seed : {1203})
        check(seed, MultiplyUnit::Float32);
    EXPECT_EQ(agreed_, checked_);
}

} // namespace
} // namespace kernelskill::engine::graph::testing
