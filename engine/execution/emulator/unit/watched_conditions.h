/// Lets a kernel note which outcomes its conditions have.
#pragma once

#include "analysis/source/source_text.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// `text`, the blanked text of a file, with marks around each condition in `watched`, by index.
/// Lines stay. Conditions that are blanked are left out, and so are those that contain a directive.
[[nodiscard]] std::string withWatched(std::string text, const std::vector<analysis::Span>& watched);

} // namespace kernelskill::engine
