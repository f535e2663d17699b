/// The Planner's choice and its reasons.
#pragma once

#include "engine/diagnosis/bottleneck.h"
#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

struct RuledOut {
    std::string skill;
    std::string why; ///< The gate or veto, in one sentence.
};

struct RankedSkill {
    skills::Offer offer;
    double score = 0;
    std::string why;      ///< The rule that ranks it here.
    std::string expected; ///< The expected gain, with its source.
    bool failedBefore =
        false; ///< Short-term memory has a failure of it on this very code; `why` says so.
};

struct Plan {
    std::vector<RankedSkill> ranked; ///< Best first; the plan is the first.
    std::vector<RuledOut> ruledOut;
};

} // namespace kernelskill::engine
