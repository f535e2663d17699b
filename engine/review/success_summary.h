/// Writes the summary of a verdict in which every check passed.
#pragma once

#include "engine/verdict/verdict.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The runs on which an edit agreed with the original.
struct RunCounts {
    std::size_t inputs = 0; ///< Of the trials.
    std::size_t sizes = 0;
    std::size_t probes = 0;
};

/// Says on how many inputs and sizes the edit agreed, how its counters differ from the original's,
/// and what could not be tried.
[[nodiscard]] std::string summaryOfSuccess(const Verdict& verdict, const RunCounts& runs,
                                           const std::vector<std::string>& notes);

/// The summary of an edit that agreed in the program with smaller constants, and on `runs` inputs
/// at the file's own size.
[[nodiscard]] std::string summaryOfSmaller(const std::string& constants,
                                           const std::string& itsSummary, std::size_t runs,
                                           const std::vector<std::string>& notes);

} // namespace kernelskill::engine
