/// The edits that matches become.
#pragma once

#include "skills/base/skill.h"
#include "skills/patterns/pattern_matcher.h"

namespace kernelskill::skills {

/// The matcher of the context's kernel; every pattern skill uses the same one.
[[nodiscard]] const PatternMatcher& matcherOf(const SkillContext& context);

/// The edit of one match, in the file's indentation. A metavariable's code keeps its text; brackets
/// are put round code that would be read differently without.
[[nodiscard]] analysis::TextEdit rewriteOf(const SkillContext& context, const CodePattern& pattern,
                                           const PatternMatch& match);

} // namespace kernelskill::skills
