/// The control of a review: results that are wrong must be seen to be.
#pragma once

#include "engine/comparison/output_comparison.h"
#include "engine/execution/profile.h"
#include "engine/verdict/check_result.h"

#include <vector>

namespace kernelskill::engine {

/// Whether another seed gives this launch other contents of a buffer.
[[nodiscard]] bool hasRandomInput(const LaunchSpec& launch);
/// Whether the run read such contents, or may have where that was not seen.
[[nodiscard]] bool readsRandomInput(const Profile& run);

/// `outputs` are the original's for each seed of one launch, at least one. Fails, and not because
/// of the edit, when a result of zeros, a constant one or, where it reads random input, that of
/// another seed would have passed for the right one within `tolerance`.
[[nodiscard]] CheckResult checkControl(const std::vector<std::vector<BufferContents>>& outputs,
                                       const Tolerance& tolerance, bool readsRandom);

/// The control where there is nothing random to read: the result is one and the same each time.
[[nodiscard]] Check controlWithoutInput();

} // namespace kernelskill::engine
