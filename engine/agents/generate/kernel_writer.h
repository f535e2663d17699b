/// Writes the kernel of a parallel nest, and the host function that launches it, in the file's own
/// style.
#pragma once

#include "engine/agents/generate/parallel_nest.h"

#include <array>
#include <string>

namespace kernelskill::engine {

struct WrittenKernel {
    std::string kernelName;
    std::string launcherName;
    std::string kernel;   ///< Its definition, ending with a line end; so the next.
    std::string launcher; ///< Copies the arrays to the GPU, launches, copies the results back.
    std::string grid;     ///< As an argument of a launch, of the kernel's own parameters.
    std::string block;
};

/// Threads of a block along x, y, z for a nest of so many mapped loops.
[[nodiscard]] std::array<int, 3> blockFor(std::size_t loops);

[[nodiscard]] WrittenKernel writeKernel(const analysis::FileModel& file,
                                        const analysis::KernelModel& function,
                                        const ParallelNest& nest);

} // namespace kernelskill::engine
