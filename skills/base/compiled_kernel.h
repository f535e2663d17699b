/// The GPU's compiler's facts about a kernel, and how they fit the launch that is known.
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
    std::uint32_t registers = 0;       ///< The registers of a thread.
    std::uint64_t spillStoreBytes = 0; ///< The stores in the code of a thread, each place once.
    std::uint64_t spillLoadBytes = 0;
    std::uint64_t stackBytes = 0; ///< The stack of a thread, spilled registers included.
    std::uint64_t staticSharedBytes = 0;
    /// The threads of a block of the launch that a profile runs: the first that the file, a pin or
    /// a capture tells.
    std::uint32_t blockThreads = 0;
    std::uint64_t dynamicSharedBytes = 0;
    /// The occupancy at that launch. nullopt: such a block cannot be launched, or the architecture
    /// is unknown.
    std::optional<analysis::Occupancy> occupancy;

    bool operator==(const CompiledKernel&) const = default;
    [[nodiscard]] std::uint64_t spilledBytes() const { return spillStoreBytes + spillLoadBytes; }
    [[nodiscard]] std::uint64_t sharedBytes() const {
        return staticSharedBytes + dynamicSharedBytes;
    }
    /// The resources that each block of that launch takes on a multiprocessor.
    [[nodiscard]] analysis::BlockResources resources() const {
        return {blockThreads, registers, sharedBytes()};
    }
    /// The occupancy with another block on the same architecture; nullopt as for `occupancy`.
    [[nodiscard]] std::optional<analysis::Occupancy>
    occupancyOf(const analysis::BlockResources& block) const;
};

} // namespace kernelskill::skills
