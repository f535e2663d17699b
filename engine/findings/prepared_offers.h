/// Keeps the answers of skills about one kernel, which editors ask for on each cursor move.
#pragma once

#include "skills/base/skill.h"

#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace kernelskill::engine {

/// Keeps answers of Skill::prepare() for one kernel of a parse. An answer depends on the text, on
/// the compiler's facts and on the cursor. Thread-safe.
class PreparedOffers {
public:
    /// The compiler's facts about the kernel; nullopt if it was not asked.
    using Compiled = std::optional<skills::CompiledKernel>;

    explicit PreparedOffers(Compiled compiled) : compiled_(std::move(compiled)) {}

    /// The facts that all kept answers were given for.
    [[nodiscard]] const Compiled& compiled() const { return compiled_; }
    /// Returns the kept answer of `skill` at `cursor`; without one, asks the skill and keeps its
    /// answer. `context` is of this object's kernel and of its facts, and has the cursor
    /// `cursor`.
    [[nodiscard]] skills::Gated<skills::Offer>
    of(const skills::Skill& skill, const skills::SkillContext& context, analysis::Span cursor);
    /// Returns the kept answer of `skill` at `cursor`; nullopt if the skill was asked neither there
    /// nor at a cursor with the same answers.
    [[nodiscard]] std::optional<skills::Gated<skills::Offer>> known(const skills::Skill& skill,
                                                                    analysis::Span cursor) const;

private:
    struct Answer {
        skills::AlikeCursors cursors; ///< The cursors that the answer holds for.
        skills::Gated<skills::Offer> offer;
    };

    const Compiled compiled_;
    mutable std::mutex mutex_;
    std::map<const skills::Skill*, std::vector<Answer>> answers_; ///< Oldest first.
};

} // namespace kernelskill::engine
