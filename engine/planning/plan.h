/// The Planner's choice and its reasons.
#pragma once

#include "analysis/source/error.h"
#include "engine/diagnosis/bottleneck.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct RuledOut {
    std::string skill;
    std::string why; ///< The gate or veto, in one sentence.
};

/// An expert's method against the kernel's bottleneck, and why it is not among the offers.
struct Remedy {
    std::string method; ///< An id: of a skill, or of a method of remedies.yaml that is not one.
    std::string text;   ///< The method in the field's words, a clause: "one warp per row".
    std::string why;    ///< The skill's refusal, or why it is not automated; one sentence.
    bool isSkill = false;
    bool operator==(const Remedy&) const = default;
};

/// Which of the kernel's bottlenecks an offer answers.
enum class AnswersTo : std::uint8_t {
    Leading, ///< The one that holds the kernel back.
    Further, ///< One of Bottleneck::others.
    Nothing, ///< None: it merely fits the code.
};
[[nodiscard]] std::string_view spelling(AnswersTo answers); ///< "leading" | "further" | "nothing"

struct RankedSkill {
    skills::Offer offer;
    skills::SkillRole role = skills::SkillRole::Answer;
    AnswersTo answers = AnswersTo::Nothing; ///< Nothing for hygiene.
    double score = 0;
    std::string why;      ///< The rule that ranks it here.
    std::string expected; ///< The expected gain, with its source.
    bool failedBefore =
        false; ///< Short-term memory has a failure of it on this very code; `why` says so.
};

struct Plan {
    /// Best first, hygiene last; the plan is the first.
    std::vector<RankedSkill> ranked;
    std::vector<RuledOut> ruledOut;
    /// Methods that are known to help and are not offered, first choice first.
    std::vector<Remedy> remedies;
    /// Why no run can check the edits of these skills; nullopt if nothing is known to stand against
    /// it. An edit that is not checked is not applied.
    std::optional<Error> uncheckable = std::nullopt;
};

/// The skill to advise: the first that answers a bottleneck and did not fail on this very code.
/// nullptr if there is none.
[[nodiscard]] const RankedSkill* bestAnswer(const Plan& plan);

} // namespace kernelskill::engine
