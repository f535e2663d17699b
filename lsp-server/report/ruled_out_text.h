/// Skills that were ruled out, as the terminal shows them.
#pragma once

#include "engine/planning/plan.h"

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// Skills that one reason rules out.
struct RuledOutGroup {
    std::string skills; ///< "loop-unrolling, software-prefetch", or "all 23 skills".
    std::string why;
};

/// Groups skills by reason, in the order in which the reasons come first. `offered`: how many
/// skills were not ruled out; the names are left out where one reason rules out every skill there
/// is.
[[nodiscard]] std::vector<RuledOutGroup>
groupByReason(const std::vector<engine::RuledOut>& ruledOut, std::size_t offered);

/// For a kernel without offers, in a few sentences: what an expert would do, how many skills were
/// ruled out, and where the reasons are.
[[nodiscard]] std::string whyNothingIsOffered(const std::string& kernel, const engine::Plan& plan);

} // namespace kernelskill::lsp
