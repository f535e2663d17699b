/// The control of a review: results that are wrong must be seen to be.
#pragma once

#include "engine/agents/output_comparison.h"
#include "engine/agents/review/check_result.h"
#include "engine/execution/profile.h"

#include <vector>

namespace kernelskill::engine {

/// Whether another seed gives this run another input: a buffer of random contents that it read, or
/// may have read where that was not seen.
[[nodiscard]] bool readsRandomInput(const Profile& run);

/// `outputs` are the original's for each seed of one launch with random input, at least one. Fails,
/// and not because of the edit, when a result of zeros, a constant one or that of another seed
/// would have passed for the right one within `tolerance`.
[[nodiscard]] CheckResult checkControl(const std::vector<std::vector<BufferContents>>& outputs,
                                       const Tolerance& tolerance);

/// The control where there is no random input: the result is one and the same each time.
[[nodiscard]] Check controlWithoutInput();

} // namespace kernelskill::engine
