/// Computes how long-term memory changes a ranking, and explains it in a sentence.
#pragma once

#include "engine/memory/long_term_memory.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// An upper confidence bound for a skill's worth on a bottleneck, between 0 and 1:
///
///     min(1, worth / judged + sqrt(ln(tries) / (2 * judged)))
///
/// `judged` counts the kernels on which the Reviewer measured the skill or found it wrong. `tries`
/// is a count over all skills on this bottleneck, at least 2. An untried skill has the bound 1, so
/// that it gets tried. The bound of a skill that gained nothing falls with each further trial.
struct RecordBound {
    double bound = 1;
    double mean = 0;
    double margin = 0; ///< The part of the bound that few trials cause.
    int tries = 0;
};

[[nodiscard]] RecordBound boundOf(const SkillRecord& record,
                                  const std::vector<SkillRecord>& allSkills);

/// "Record: measured faster on 9 of 10 kernels, 1.34x on average; its edit failed on 2 (last: no
/// new hazard). Worth 0.61 at most: 0.42 on average and 0.19 for 12 of 40 tries."
[[nodiscard]] std::string describe(const SkillRecord& record, const RecordBound& bound);

} // namespace kernelskill::engine
