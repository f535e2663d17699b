/// Every answer is compared with that of the toolkit's cuda_occupancy.h.
#include "analysis/compile/occupancy.h"

#include <gtest/gtest.h>

#include <cuda_occupancy.h>

namespace kernelskill::analysis {
namespace {

cudaOccDeviceProp propertiesOf(const MultiprocessorLimits& limits) {
    cudaOccDeviceProp properties;
    properties.computeMajor = limits.capability.major;
    properties.computeMinor = limits.capability.minor;
    properties.maxThreadsPerBlock = MultiprocessorLimits::threadsPerBlock;
    properties.maxThreadsPerMultiprocessor =
        static_cast<int>(limits.warps * MultiprocessorLimits::threadsPerWarp);
    properties.regsPerBlock = MultiprocessorLimits::registers;
    properties.regsPerMultiprocessor = MultiprocessorLimits::registers;
    properties.warpSize = MultiprocessorLimits::threadsPerWarp;
    properties.sharedMemPerBlock = MultiprocessorLimits::staticSharedBytesPerBlock;
    properties.sharedMemPerMultiprocessor = limits.sharedBytes;
    properties.numSms = 1;
    properties.sharedMemPerBlockOptin = limits.sharedBytesPerBlock;
    properties.reservedSharedMemPerBlock = limits.sharedBytesReservedPerBlock;
    return properties;
}

/// Blocks that fit, 0 where none can be launched; nullopt where the header lacks the capability.
std::optional<int> toolkitsAnswer(const BlockResources& block,
                                  const cudaOccDeviceProp& properties) {
    cudaOccFuncAttributes kernel;
    kernel.maxThreadsPerBlock = MultiprocessorLimits::threadsPerBlock;
    kernel.numRegs = static_cast<int>(block.registersPerThread.value_or(0));
    kernel.sharedSizeBytes = 0;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = block.sharedBytes;
    kernel.numBlockBarriers = 1;
    const cudaOccDeviceState state;
    cudaOccResult result;
    const auto status = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &properties, &kernel, &state, static_cast<int>(block.threads), block.sharedBytes);
    if (status == CUDA_OCC_ERROR_UNKNOWN_DEVICE)
        return std::nullopt;
    return status == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : 0;
}

int ownAnswer(const BlockResources& block, const MultiprocessorLimits& limits) {
    const auto occupancy = occupancyOf(block, limits);
    return occupancy ? static_cast<int>(occupancy->blocks) : 0;
}

class EachCapability : public testing::TestWithParam<MultiprocessorLimits> {};

TEST_P(EachCapability, AgreesWithTheToolkit) {
    const auto properties = propertiesOf(GetParam());
    int compared = 0;
    for (std::uint32_t threads = 16; threads <= 1024; threads += 48) {
        for (std::uint32_t registers = 1; registers <= 255; registers += 3) {
            for (std::uint64_t shared = 0; shared <= GetParam().sharedBytesPerBlock;
                 shared += 3 * 1024 + 100) {
                const BlockResources block{threads, registers, shared};
                const auto expected = toolkitsAnswer(block, properties);
                if (!expected)
                    GTEST_SKIP() << "this toolkit does not know the capability";
                ASSERT_EQ(ownAnswer(block, GetParam()), *expected)
                    << threads << " threads, " << registers << " registers, " << shared << " bytes";
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 10'000);
}

/// The step is one, and one register (byte) less is none.
TEST_P(EachCapability, NamesTheSmallestStep) {
    const auto properties = propertiesOf(GetParam());
    for (std::uint32_t threads = 32; threads <= 1024; threads *= 2) {
        for (std::uint32_t registers = 17; registers <= 255; registers += 7) {
            for (std::uint64_t shared : {0ULL, 5000ULL, 20'000ULL, 47'777ULL}) {
                const BlockResources block{threads, registers, shared};
                const auto occupancy = occupancyOf(block, GetParam());
                if (!occupancy || !toolkitsAnswer(block, properties))
                    continue;
                const auto blocks = static_cast<int>(occupancy->blocks);
                for (std::uint32_t fewer = 1; fewer < registers; ++fewer) {
                    const BlockResources smaller{threads, registers - fewer, shared};
                    const bool more = toolkitsAnswer(smaller, properties) > blocks;
                    const bool said =
                        occupancy->fewerRegisters && fewer >= occupancy->fewerRegisters->fewer;
                    ASSERT_EQ(more, said)
                        << threads << " threads, " << registers << " registers - " << fewer;
                }
                for (std::uint64_t fewer = 1; fewer <= shared; fewer += fewer % 16 == 0 ? 113 : 1) {
                    const BlockResources smaller{threads, registers, shared - fewer};
                    const bool more = toolkitsAnswer(smaller, properties) > blocks;
                    const bool said =
                        occupancy->fewerSharedBytes && fewer >= occupancy->fewerSharedBytes->fewer;
                    ASSERT_EQ(more, said)
                        << threads << " threads, " << shared << " bytes - " << fewer;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Occupancy, EachCapability,
                         testing::ValuesIn(knownMultiprocessors().begin(),
                                           knownMultiprocessors().end()),
                         [](const auto& info) { return architectureName(info.param.capability); });

} // namespace
} // namespace kernelskill::analysis
