/// What a match becomes.
#pragma once

#include "skills/patterns/pattern_matcher.h"
#include "skills/skill.h"

namespace kernelskill::skills {

/// The edit of one match, in the file's indentation. A metavariable's code keeps its text; brackets
/// are put round code that would be read differently without.
[[nodiscard]] analysis::TextEdit rewriteOf(const SkillContext& context, const CodePattern& pattern,
                                           const PatternMatch& match);

} // namespace kernelskill::skills
