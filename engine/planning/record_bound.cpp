#include "engine/planning/record_bound.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

namespace kernelskill::engine {

RecordBound boundOf(const SkillRecord& record, const std::vector<SkillRecord>& allSkills) {
    RecordBound result;
    for (const SkillRecord& each : allSkills)
        result.tries += each.judged();
    if (record.judged() == 0)
        return result;
    result.mean = record.worth / record.judged();
    result.margin = std::sqrt(std::log(std::max(result.tries, 2)) / (2.0 * record.judged()));
    result.bound = std::min(1.0, result.mean + result.margin);
    return result;
}

std::string describe(const SkillRecord& record, const RecordBound& bound) {
    std::string text = "Record:";
    if (record.measured > 0)
        text += fmt::format(" measured faster on {} of {} kernels, {:.2f}x on average;",
                            record.faster, record.measured, record.meanSpeedup.value_or(1));
    if (record.failed > 0)
        text +=
            fmt::format(" its edit failed on {}{};", record.failed,
                        record.lastFailure.empty() ? "" : " (last: " + record.lastFailure + ")");
    if (record.judged() == 0)
        return fmt::format("Record: correct on {} kernel{}, never measured.", record.kernels,
                           record.kernels == 1 ? "" : "s");
    text.back() = '.';
    return fmt::format("{} Worth {:.2f} at most: {:.2f} on average and {:.2f} for {} of {} tries.",
                       text, bound.bound, bound.mean, bound.margin, record.judged(), bound.tries);
}

} // namespace kernelskill::engine
