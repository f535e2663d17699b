/// Chooses a launch on which a generated kernel is compared with its loops.
#pragma once

#include "engine/generate/kernel_inputs.h"

#include <expected>
#include <string>

namespace kernelskill::engine {

/// The kernel to launch. Its parameters are the inputs of `nest`, then the start value of each
/// reduction that does not start neutral, then an array with one element for each reduction.
struct CheckedKernel {
    std::string name;
    std::string grid; ///< As an argument of a launch, in terms of the function's parameters.
    std::string block;
    KernelInputs inputs;
    std::vector<std::string> results; ///< Names of the results' arrays.
};

/// The distance in the outermost loop that each block covers when a reduction is checked: several
/// iterations for each thread or, with two loops, for each block, so that a wrong stride is
/// noticed.
[[nodiscard]] std::int64_t checkedReach(const ParallelNest& nest);

/// The comment that pins the launch. Each loop runs; sizes are small enough for one thread; buffers
/// have exactly the elements that the nest accesses. Refuses with `no-small-size`.
[[nodiscard]] std::expected<std::string, skills::Refusal>
referenceLaunch(const analysis::SourceText& source, const analysis::KernelModel& function,
                const ParallelFunction& parallel, const ParallelNest& nest,
                const CheckedKernel& kernel);

} // namespace kernelskill::engine
