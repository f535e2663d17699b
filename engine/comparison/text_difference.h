/// The edits that turn one text into another.
#pragma once

#include "analysis/source/text_edit.h"

#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Small edits, one per run of changed lines, trimmed to the characters that differ.
[[nodiscard]] std::vector<analysis::TextEdit> textDifference(std::string_view before,
                                                             std::string_view after);

} // namespace kernelskill::engine
