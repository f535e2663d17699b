/// Converts compiler facts and a launch to the form that skills read.
#pragma once

#include "engine/static_facts/static_facts.h"
#include "skills/base/compiled_kernel.h"

#include <algorithm>

namespace kernelskill::engine {

/// `launch` is a launch of the kernel that `facts` describe.
[[nodiscard]] inline skills::CompiledKernel compiledKernelOf(const StaticFacts& facts,
                                                             const LaunchSpec& launch) {
    skills::CompiledKernel compiled;
    compiled.architecture = facts.architecture;
    compiled.registers = facts.registers;
    compiled.spillStoreBytes = facts.spillStoreBytes;
    compiled.spillLoadBytes = facts.spillLoadBytes;
    compiled.stackBytes = facts.stackBytes;
    compiled.staticSharedBytes = facts.staticSharedBytes;
    compiled.blockThreads =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(launch.block.count(), UINT32_MAX));
    compiled.dynamicSharedBytes = launch.dynamicSharedBytes;
    compiled.occupancy = compiled.occupancyOf(compiled.resources());
    return compiled;
}

} // namespace kernelskill::engine
