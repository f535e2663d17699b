#include "engine/findings/prepared_offers.h"

#include <utility>

namespace kernelskill::engine {
namespace {

/// Bounds the memory for a kernel with many places that a skill tells apart.
constexpr std::size_t maxAnswersOfSkill = 64;

} // namespace

// A skill is asked without the lock: two threads that ask at once both get the same answer.

skills::Gated<skills::Offer> PreparedOffers::of(const skills::Skill& skill,
                                                const skills::SkillContext& context,
                                                analysis::Span cursor) {
    if (auto answer = known(skill, cursor))
        return *std::move(answer);
    const skills::SkillContext asked = context.at(cursor); // No other skill's questions count.
    auto offer = skill.prepare(asked);
    const std::scoped_lock lock(mutex_);
    std::vector<Answer>& answers = answers_[&skill];
    if (answers.size() == maxAnswersOfSkill)
        answers.erase(answers.begin());
    answers.push_back({asked.cursor().alike(), offer});
    return offer;
}

std::optional<skills::Gated<skills::Offer>> PreparedOffers::known(const skills::Skill& skill,
                                                                  analysis::Span cursor) const {
    const std::scoped_lock lock(mutex_);
    const auto answers = answers_.find(&skill);
    if (answers == answers_.end())
        return std::nullopt;
    for (const Answer& answer : answers->second)
        if (answer.cursors.contains(cursor))
            return answer.offer;
    return std::nullopt;
}

} // namespace kernelskill::engine
