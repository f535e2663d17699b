/// Drafts of fixes for a hazard, with one file for each kind. No draft is offered before
/// verification.h has run it.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/profile.h"
#include "engine/repair/hazard_fixes/hazard_code.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// How a fix changes results. It decides how they are compared with the original's.
enum class FixEffect : std::uint8_t {
    Orders,      ///< Only forbids orders of threads that the original allowed.
    Skips,       ///< Threads skip accesses that would be out of bounds.
    Initialises, ///< Memory with undefined content becomes defined.
};

struct HazardFixDraft {
    std::string title;                     ///< "insert '__syncthreads();' before line 16"
    std::vector<analysis::TextEdit> edits; ///< In the kernel's file.
    FixEffect effect = FixEffect::Orders;
};

struct HazardInCode {
    const HazardCode& code;
    const Hazard& hazard;
    const std::vector<LaunchSpec>& launches; ///< The launch that showed the hazard, then others.
};

// Each returns nothing for other kinds of hazards; else the likeliest draft comes first.
/// A barrier between two statements, at the end of a loop, or both.
[[nodiscard]] std::vector<HazardFixDraft> barrierInsertions(const HazardInCode& given);
/// Replaces `x += y` of several threads by atomicAdd(&x, y).
[[nodiscard]] std::vector<HazardFixDraft> atomicUpdates(const HazardInCode& given);
/// Splits `a[i] = a[j]` into a read, a barrier and a write.
[[nodiscard]] std::vector<HazardFixDraft> separatedReads(const HazardInCode& given);
/// Adds a condition or an early return that keeps an index within its buffer.
[[nodiscard]] std::vector<HazardFixDraft> boundsGuards(const HazardInCode& given);
/// Moves a barrier out of the branch that not all threads take.
[[nodiscard]] std::vector<HazardFixDraft> barrierMotions(const HazardInCode& given);
/// Zeroes shared memory that is only added to.
[[nodiscard]] std::vector<HazardFixDraft> zeroedAccumulators(const HazardInCode& given);

/// Drafts of all kinds, likeliest first, limited to a sensible number.
[[nodiscard]] std::vector<HazardFixDraft> hazardFixDrafts(const HazardInCode& given);

} // namespace kernelskill::engine
