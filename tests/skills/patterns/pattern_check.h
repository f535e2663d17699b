/// A pattern on a small kernel.
#pragma once

#include "skills/patterns/pattern_skill.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {

struct PatternCheck {
    std::vector<Metavariable> metavariables;
    std::string before;
    std::string after;

    [[nodiscard]] CodePattern pattern() const {
        auto made = makePattern({before, 1}, {after, 1}, metavariables);
        if (!made)
            ADD_FAILURE() << made.error().what;
        return made ? *made : CodePattern{};
    }
    /// `source` after the skill was applied at its cursor; the gate's name where it is refused.
    [[nodiscard]] std::string applied(const std::string& source) const {
        const auto skill = makePatternSkill("p", "Pattern", {pattern()});
        const Subject subject = parseSubject(source);
        const auto offer = skill->prepare(subject.context());
        if (!offer)
            return offer.error().gate;
        const auto edits = skill->apply(subject.context(), *offer);
        if (!edits)
            return edits.error().what;
        const auto text =
            analysis::applyEdits(subject.file.source->text(), edits->at(subject.file.file));
        return text ? *text : text.error().what;
    }
    /// The same of a kernel with this body, of two spaces of indentation.
    [[nodiscard]] std::string inBody(const std::string& body) const {
        const std::string head = "__global__ void k(float* a, const float* b, int n, float s) {\n";
        const std::string text = applied(head + body + "}\n");
        return text.starts_with(head) ? text.substr(head.size(), text.size() - head.size() - 2)
                                      : text;
    }
};

inline Metavariable expression(std::string name, std::string type = "") {
    return {std::move(name), MetavariableKind::Expression, std::move(type), 1};
}
inline Metavariable ofKind(std::string name, MetavariableKind kind) {
    return {std::move(name), kind, "", 1};
}

} // namespace kernelskill::skills
