/// Outcomes as a file, to share what skills have done in a team. It holds no code: kernels are
/// named by their hashes.
#pragma once

#include "engine/memory/long_term_memory.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// One JSON document, an outcome a line.
[[nodiscard]] std::string formatOutcomes(const std::vector<Outcome>& outcomes);

/// InvalidInput, with the number of the outcome, for what is not such a document.
[[nodiscard]] Result<std::vector<Outcome>> parseOutcomes(std::string_view text);

} // namespace kernelskill::engine
