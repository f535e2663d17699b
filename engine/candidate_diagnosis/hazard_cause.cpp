#include "engine/candidate_diagnosis/hazard_cause.h"

#include "engine/comparison/hazard_comparison.h"
#include "engine/repair/hazard_fixes/fix_draft.h"

#include <algorithm>
#include <cstddef>

namespace kernelskill::engine {
namespace {

/// The maximum number of a hazard's places that are listed.
constexpr std::size_t maxEvidence = 4;

struct Explanation {
    const char* cause;
    const char* sentence;
    const char* invariant;
    const char* repair; ///< Used if no draft fits the code.
};

Explanation explained(const Hazard& hazard) {
    switch (hazard.kind) {
    case HazardKind::Race:
        switch (hazard.details.scope) {
        case RaceScope::Warp:
            return {"missing-barrier", "lanes of one warp exchange data without waiting",
                    "between a write and another lane's access lies a __syncwarp()",
                    "insert __syncwarp() between the two accesses"};
        case RaceScope::Block:
            return {"missing-barrier", "threads of a block exchange data without waiting",
                    "between a write and another thread's access lies a barrier",
                    "insert __syncthreads() between the two accesses"};
        case RaceScope::Grid:
            break;
        }
        return {"shared-between-blocks", "blocks touch one word, and one of them writes it",
                "blocks may run in any order and do not see each other's plain writes",
                "let one block own the word, or update it by an atomic operation"};
    case HazardKind::OutOfBounds:
        return {"out-of-bounds", "a thread accesses memory outside its buffer",
                "every index stays within its buffer, whatever the size",
                "guard the access with the buffer's bound"};
    case HazardKind::BarrierDivergence:
        return {"barrier-divergence", "not all threads of a block reach a barrier",
                "every thread of a block reaches each barrier, or none does",
                "move the barrier out of the branch"};
    case HazardKind::UninitializedRead:
        return {"uninitialized-read", "a thread reads memory that was not written",
                "shared memory is written before it is read",
                "write the words before the first read, with a barrier between"};
    case HazardKind::Misaligned:
        break;
    }
    return {"misaligned", "a vector access is not at a multiple of its width",
            "a vector access begins at a multiple of its own size",
            "process the elements before the first whole vector one by one"};
}

std::string likeliestRepair(const KernelVersion& after, const ReviewFailure& failure,
                            const Hazard& hazard) {
    const analysis::KernelModel& kernel = after.kernel();
    const analysis::FileModel& file = *after.program.model;
    if (!failure.trial || kernel.fromMacro || kernel.file != file.file || hazard.file != file.file)
        return {};
    const HazardCode code(file, kernel);
    const std::vector<LaunchSpec> launches{failure.trial->launch};
    const auto drafts = hazardFixDrafts({code, hazard, launches});
    return drafts.empty() ? std::string() : drafts.front().title;
}

} // namespace

CandidateDiagnosis hazardCause(const KernelVersion& after, const ReviewFailure& failure) {
    const Hazard& hazard = failure.hazards.front();
    const Explanation explanation = explained(hazard);
    CandidateDiagnosis found;
    found.cause = explanation.cause;
    found.sentence = explanation.sentence;
    found.invariant = explanation.invariant;
    for (std::size_t i = 0; i < std::min(failure.hazards.size(), maxEvidence); ++i)
        found.evidence.push_back(describe(failure.hazards[i]));
    if (failure.trial)
        found.evidence.push_back("seen at " + failure.trial->label);
    found.repair = likeliestRepair(after, failure, hazard);
    if (found.repair.empty())
        found.repair = explanation.repair;
    return found;
}

} // namespace kernelskill::engine
