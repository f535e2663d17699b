/// The counts of one line, in words.
#pragma once

#include "engine/execution/profile.h"

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// Clauses: "32 sectors per global load (68,032 requests)".
[[nodiscard]] std::vector<std::string> lineCounts(const engine::Metrics& metrics);

} // namespace kernelskill::lsp
