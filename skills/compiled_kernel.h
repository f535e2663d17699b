/// What the GPU's compiler made of a kernel, and how that fits the launch that is known.
#pragma once

#include "analysis/compile/occupancy.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::skills {

/// The gate of a skill that was not told what the compiler says.
inline constexpr std::string_view needsCompiledFacts = "needs-compiled-facts";

struct CompiledKernel {
    std::string architecture;          ///< "sm_90"
    std::uint32_t registers = 0;       ///< Of a thread.
    std::uint64_t spillStoreBytes = 0; ///< Of the code of a thread, each place in it once.
    std::uint64_t spillLoadBytes = 0;
    std::uint64_t stackBytes = 0; ///< Of a thread, spilled registers included.
    std::uint64_t staticSharedBytes = 0;
    /// Of the launch that a profile runs: the first that the file, a pin or a capture tells.
    std::uint32_t blockThreads = 0;
    std::uint64_t dynamicSharedBytes = 0;
    /// Of that launch. nullopt: such a block cannot be launched, or nobody knows the architecture.
    std::optional<analysis::Occupancy> occupancy;

    [[nodiscard]] std::uint64_t spilledBytes() const { return spillStoreBytes + spillLoadBytes; }
    [[nodiscard]] std::uint64_t sharedBytes() const {
        return staticSharedBytes + dynamicSharedBytes;
    }
    /// What that launch asks of a multiprocessor for each block.
    [[nodiscard]] analysis::BlockResources resources() const {
        return {blockThreads, registers, sharedBytes()};
    }
    /// Of another block on the same architecture; nullopt as for `occupancy`.
    [[nodiscard]] std::optional<analysis::Occupancy>
    occupancyOf(const analysis::BlockResources& block) const;
};

} // namespace kernelskill::skills
