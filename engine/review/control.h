/// The control of a review: shows that wrong results would be noticed.
#pragma once

#include "engine/comparison/output_comparison.h"
#include "engine/execution/profile.h"
#include "engine/verdict/check_result.h"

#include <vector>

namespace kernelskill::engine {

/// Whether another seed changes the contents of a buffer of this launch.
[[nodiscard]] bool hasRandomInput(const LaunchSpec& launch);
/// Whether the run read such contents. True as well if it is not known.
[[nodiscard]] bool readsRandomInput(const Profile& run);

/// `outputs` are the original's results, one for each seed of one launch, at least one. The check
/// fails if a wrong result would have passed within `tolerance`: all zeros, a constant, or, if the
/// kernel reads random input, the results of all other seeds. Such a failure is not about the edit.
/// `others` are the original's results on chosen inputs of the same sizes, with which candidates
/// are compared, too: one that differs is enough, since the maximum of random numbers, for example,
/// may be the same for each seed, and their logarithms may all be NaN.
[[nodiscard]] CheckResult checkControl(const std::vector<std::vector<BufferContents>>& outputs,
                                       const Tolerance& tolerance, bool readsRandom,
                                       const std::vector<std::vector<BufferContents>>& others = {});

/// The control of a kernel that reads no random input: its result is the same each time.
[[nodiscard]] Check controlWithoutInput();

} // namespace kernelskill::engine
