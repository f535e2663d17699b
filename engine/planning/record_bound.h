/// How long-term memory changes a ranking: the rule, and the sentence that explains it.
#pragma once

#include "engine/memory/long_term_memory.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// What a skill may be worth on a bottleneck, between 0 and 1: an upper confidence bound,
///
///     min(1, worth / judged + sqrt(ln(tries) / (2 * judged)))
///
/// over the kernels on which the Reviewer measured it or found it wrong (`judged`), where `tries`
/// is the same of all skills on this bottleneck, at least 2. A skill that nobody has tried may be
/// worth 1, so that it is tried; one that brought nothing falls behind, the more surely the more
/// often.
struct RecordBound {
    double bound = 1;
    double mean = 0;
    double margin = 0; ///< What is added for the few tries.
    int tries = 0;
};

[[nodiscard]] RecordBound boundOf(const SkillRecord& record,
                                  const std::vector<SkillRecord>& allSkills);

/// "Record: measured faster on 9 of 10 kernels, 1.34x on average; its edit failed on 2 (last: no
/// new hazard). Worth 0.61 at most: 0.42 on average and 0.19 for 12 of 40 tries."
[[nodiscard]] std::string describe(const SkillRecord& record, const RecordBound& bound);

} // namespace kernelskill::engine
