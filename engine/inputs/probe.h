/// Small runs that look for a difference between two kernels: at sizes and places where kernels
/// break, on values that tell them apart.
#pragma once

#include "engine/inputs/trial.h"
#include "skills/base/skill.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The probes of a review; and, for the verdict, what they vary and what they do not.
struct ProbePlan {
    std::vector<Trial> probes;
    /// Some blocks of launches that are too large to run whole. They show something only if the
    /// same blocks of both kernels do the same work.
    std::vector<Trial> distant;
    /// Some blocks of the first trial, which tell whether they do.
    std::optional<Trial> sameBlocks;
    std::vector<std::string> varied;   ///< "sizes from 1 to 1025"
    std::vector<std::string> unvaried; ///< "the block size: the launch states 256"
};

/// "varied: sizes 1, 2, 31; the number of blocks. Not varied: the block size: ... 3 probes say
/// nothing, because the original does not run cleanly on them." `left`: the number of those.
[[nodiscard]] std::string describe(const ProbePlan& plan, std::size_t left);

/// Probes of another instance of the kernel: its own trial, with values that look for a difference.
[[nodiscard]] std::vector<Trial> planInstanceProbes(KernelInFile original, KernelInFile candidate,
                                                    const Trial& trial, skills::Numerics numerics,
                                                    std::uint64_t seed);

/// Probes around the first trial of `plan`. Sizes lie below a warp, around powers of two and the
/// block's size, and have every remainder of a warp's size; then come other scalars, grids and
/// blocks, and single blocks of a much larger launch. Values follow each InputStyle in turn. `seed`
/// picks among the possible ones. `passed` are integers that a program of the user passes, by the
/// parameter's name.
[[nodiscard]] ProbePlan planProbes(KernelInFile original, KernelInFile candidate,
                                   const TrialPlan& plan, skills::Numerics numerics,
                                   std::uint64_t seed,
                                   const std::map<std::string, std::int64_t>& passed = {});

} // namespace kernelskill::engine
