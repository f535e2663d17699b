#include "engine/review/edit_evidence.h"

#include "engine/review/clock_use.h"

#include <optional>
#include <utility>

namespace kernelskill::engine {

EditEvidence::EditEvidence(KernelRef original, KernelRef candidate)
    : original_(original.kernel), candidate_(candidate.kernel),
      reach_(original.program, candidate.program), contention_(original, candidate) {}

void EditEvidence::add(const RunPair& pair) {
    reach_.add(pair);
    contention_.add(pair.original.profile.contentions);
}

std::vector<CheckResult> EditEvidence::checks() const {
    std::vector<CheckResult> checks{reach_.check()};
    if (contention_.isNeeded())
        checks.push_back(contention_.check());
    auto before = checkClocks(original(), reach_.editedInOriginal());
    auto after = checkClocks(candidate(), reach_.editedInCandidate());
    if (before && !*before)
        checks.push_back(std::move(*before));
    else if (after)
        checks.push_back(std::move(*after));
    return checks;
}

} // namespace kernelskill::engine
