/// Edits that hold the statements around them.
#pragma once

#include "analysis/source/text_edit.h"

#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Widens each edit of `text` to the statement that it stands in, from the `;` or the brace before
/// it to that behind it; the result is the same text. So two edits of one statement overlap, also
/// where one changes what it launches and the other how many blocks. InvalidInput as of
/// applyEdits().
[[nodiscard]] Result<std::vector<analysis::TextEdit>>
asWholeStatements(std::string_view text, std::vector<analysis::TextEdit> edits);

} // namespace kernelskill::engine
