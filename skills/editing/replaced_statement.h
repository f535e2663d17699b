/// Several lines in the place of one statement, also of one that stands alone under an if or a
/// loop.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// Whether the statement is on lines of its own in a block, or ends a line alone under a loop or an
/// if without else: the conditions of inPlaceOf().
[[nodiscard]] bool hasOwnPlace(const SkillContext& context, analysis::StmtId statement);

/// What other edits do around a statement.
struct EditedPlace {
    std::string moved;    ///< The indentation by which they move it to the right.
    bool isBlock = false; ///< They put it into a block, if it stands alone under an if or a loop.
};

/// Puts `lines` in the place of the statement, in a block of their own where it stands alone under
/// an if or a loop.
[[nodiscard]] std::vector<analysis::TextEdit> inPlaceOf(const SkillContext& context,
                                                        analysis::StmtId statement,
                                                        const std::vector<std::string>& lines,
                                                        const EditedPlace& place = {});

} // namespace kernelskill::skills
