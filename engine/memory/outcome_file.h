/// Writes and reads outcomes as a file that a team can share. The file contains no code: kernels
/// are named by their hashes.
#pragma once

#include "engine/memory/long_term_memory.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// One JSON document with one outcome per line.
[[nodiscard]] std::string formatOutcomes(const std::vector<Outcome>& outcomes);

/// InvalidInput, with the outcome's number, if `text` is not such a document.
[[nodiscard]] Result<std::vector<Outcome>> parseOutcomes(std::string_view text);

} // namespace kernelskill::engine
