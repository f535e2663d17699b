#include "skills/warp-scan/warp_steps.h"

#include "analysis/source/gpu_constants.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

void addWarpSteps(CodeLines& lines, const WarpSteps& steps, LowerName lower) {
    lines.open(fmt::format("for (int {0} = 1; {0} < {1}; {0} *= 2) {{", steps.offset, warpLanes));
    lines.add(fmt::format("{}{} = __shfl_up_sync(0xffffffff, {}, {});",
                          lower == LowerName::Declared ? "const auto " : "", steps.lower,
                          steps.value, steps.offset));
    lines.open(fmt::format("if ({} % {} >= {})", steps.thread, warpLanes, steps.offset));
    lines.add(fmt::format("{} += {};", steps.value, steps.lower));
    lines.leave();
    lines.close();
}

} // namespace kernelskill::skills
