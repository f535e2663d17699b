/// A launch to compare a generated kernel with its loops on.
#pragma once

#include "engine/generate/kernel_inputs.h"

#include <expected>
#include <string>

namespace kernelskill::engine {

/// The kernel that is launched: what is called so has the inputs of `nest`, then for each of its
/// reductions that does not start neutral what it starts from, then an array of one element each.
struct CheckedKernel {
    std::string name;
    std::string grid; ///< As an argument of a launch, of the function's parameters.
    std::string block;
    KernelInputs inputs;
    std::vector<std::string> results; ///< Names of those arrays.
};

/// How far a block gets through the outermost loop of a reduction when it is checked: threads, or
/// blocks, have more than one round, so that a wrong stride shows.
[[nodiscard]] std::int64_t checkedReach(const ParallelNest& nest);

/// The comment that pins it: sizes at which each loop runs, small enough to be run by one thread,
/// and buffers of exactly the elements that the nest touches. Refuses with `no-small-size`.
[[nodiscard]] std::expected<std::string, skills::Refusal>
referenceLaunch(const analysis::SourceText& source, const analysis::KernelModel& function,
                const ParallelFunction& parallel, const ParallelNest& nest,
                const CheckedKernel& kernel);

} // namespace kernelskill::engine
