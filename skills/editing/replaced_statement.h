/// Replaces a statement by several lines, also one that stands alone under an if or a loop.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// Whether inPlaceOf() can replace the statement: it is on lines of its own in a block, or ends a
/// line alone under a loop or an if without else.
[[nodiscard]] bool hasOwnPlace(const SkillContext& context, analysis::StmtId statement);

/// Describes how other edits change the surroundings of a statement.
struct EditedPlace {
    std::string moved;    ///< The indentation by which these edits move it to the right.
    bool isBlock = false; ///< Whether they put brackets around it.
};

/// Returns edits that replace the statement by `lines`, in brackets if it stands alone under an if
/// or a loop.
[[nodiscard]] std::vector<analysis::TextEdit> inPlaceOf(const SkillContext& context,
                                                        analysis::StmtId statement,
                                                        const std::vector<std::string>& lines,
                                                        const EditedPlace& place = {});

} // namespace kernelskill::skills
