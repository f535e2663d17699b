/// Writes the summary of a verdict in which every check passed.
#pragma once

#include "engine/verdict/verdict.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// Says on how many inputs and sizes the edit agreed, how its counters differ from the original's,
/// and what could not be tried.
[[nodiscard]] std::string summaryOfSuccess(const Verdict& verdict, std::size_t inputs,
                                           std::size_t sizes,
                                           const std::vector<std::string>& notes);

} // namespace kernelskill::engine
