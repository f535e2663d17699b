/// What skills said about one kernel, kept because it is asked for on each cursor move.
#pragma once

#include "skills/base/skill.h"

#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace kernelskill::engine {

/// Answers of Skill::prepare() for one kernel of a parse, by all that they depend on beside the
/// text: what the compiler said, and where the cursor was. Thread-safe.
class PreparedOffers {
public:
    /// What the compiler says; nullopt if it was not asked.
    using Compiled = std::optional<skills::CompiledKernel>;

    explicit PreparedOffers(Compiled compiled) : compiled_(std::move(compiled)) {}

    /// What the compiler had said when the answers were given.
    [[nodiscard]] const Compiled& compiled() const { return compiled_; }
    /// The answer of `skill`, or the one that skill->prepare() gives and that is kept from now on.
    /// `context` is of the kernel of this object and of what the compiler said; `cursor` is its
    /// cursor.
    [[nodiscard]] skills::Gated<skills::Offer>
    of(const skills::Skill& skill, const skills::SkillContext& context, analysis::Span cursor);
    /// The answer of `skill` at the cursor that is kept; nullopt if it was not asked there or at
    /// one alike.
    [[nodiscard]] std::optional<skills::Gated<skills::Offer>> known(const skills::Skill& skill,
                                                                    analysis::Span cursor) const;

private:
    struct Answer {
        skills::AlikeCursors cursors; ///< Those that it holds for.
        skills::Gated<skills::Offer> offer;
    };

    const Compiled compiled_;
    mutable std::mutex mutex_;
    std::map<const skills::Skill*, std::vector<Answer>> answers_; ///< Oldest first.
};

} // namespace kernelskill::engine
