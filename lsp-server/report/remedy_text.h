/// Experts' remedies in the words of terminal and hover.
#pragma once

#include "analysis/source/error.h"
#include "engine/planning/plan.h"

#include <string>

namespace kernelskill::lsp {

/// "one warp per row; not offered: two-loops: the kernel has …", "stage tiles …; not automated
/// here: …": what stands behind the method's id.
[[nodiscard]] std::string describeRemedy(const engine::Remedy& remedy);

/// Why an edit of the kernel is not checked: Plan::uncheckable.
[[nodiscard]] std::string describeUncheckable(const Error& obstacle);

} // namespace kernelskill::lsp
