/// Fixes for a hazard that may be right, one file a kind of fix. None is shown to anybody before
/// verification.h has run it.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/profile.h"
#include "engine/repair/hazard_fixes/hazard_code.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// What a fix does to what the kernel computes: how its results are held against the original's.
enum class FixEffect : std::uint8_t {
    Orders,      ///< Only forbids orders of threads that the original allowed.
    Skips,       ///< Threads leave out what would be out of bounds.
    Initialises, ///< Memory that held anything holds something.
};

struct HazardFixDraft {
    std::string title;                     ///< "insert '__syncthreads();' before line 16"
    std::vector<analysis::TextEdit> edits; ///< In the kernel's file.
    FixEffect effect = FixEffect::Orders;
};

struct HazardInCode {
    const HazardCode& code;
    const Hazard& hazard;
    const std::vector<LaunchSpec>& launches; ///< The one that showed it, then others.
};

// Each returns nothing for a hazard that is not its own; the likeliest comes first.
/// A barrier between two statements, at the end of a loop, or both.
[[nodiscard]] std::vector<HazardFixDraft> barrierInsertions(const HazardInCode& given);
/// `x += y` of several threads as atomicAdd(&x, y).
[[nodiscard]] std::vector<HazardFixDraft> atomicUpdates(const HazardInCode& given);
/// `a[i] = a[j]` as a read, a barrier and a write.
[[nodiscard]] std::vector<HazardFixDraft> separatedReads(const HazardInCode& given);
/// A condition, or an early return, that keeps an index inside of its buffer.
[[nodiscard]] std::vector<HazardFixDraft> boundsGuards(const HazardInCode& given);
/// A barrier out of the branch that not all threads take.
[[nodiscard]] std::vector<HazardFixDraft> barrierMotions(const HazardInCode& given);
/// Zeros in shared memory that is only ever added to.
[[nodiscard]] std::vector<HazardFixDraft> zeroedAccumulators(const HazardInCode& given);

/// Of all kinds, the likeliest first, not more than are worth trying.
[[nodiscard]] std::vector<HazardFixDraft> hazardFixDrafts(const HazardInCode& given);

} // namespace kernelskill::engine
