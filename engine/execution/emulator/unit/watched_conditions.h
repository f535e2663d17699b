/// Lets a kernel note which outcomes its conditions have.
#pragma once

#include "engine/execution/program_source.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// `text`, the blanked text of `file`, with marks around each condition of it in `watched`, by
/// index. Lines stay. Conditions that are blanked are left out, and so are those that contain a
/// directive.
[[nodiscard]] std::string withWatched(std::string text, std::string_view file,
                                      const std::vector<WatchedCondition>& watched);

} // namespace kernelskill::engine
