/// The sentence of a verdict in which every check held.
#pragma once

#include "engine/verdict/verdict.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// On how many inputs of how many sizes the edit agreed, how its counters differ from the
/// original's, and what could not be tried.
[[nodiscard]] std::string summaryOfSuccess(const Verdict& verdict, std::size_t inputs,
                                           std::size_t sizes,
                                           const std::vector<std::string>& notes);

} // namespace kernelskill::engine
