#include "skills/gates/host_launches.h"

#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

Gated<void> requireEditableLaunch(const SkillContext& context, const LaunchSite& launch) {
    if (launch.fromMacro)
        return refuse("launch-from-macro", fmt::format("the launch on line {} comes out of a macro",
                                                       lineNumber(context, launch.span.begin)));
    if (launch.host >= context.file.hostFunctions.size() ||
        context.file.hostFunctions[launch.host].file != context.file.file)
        return refuse("launch-in-header",
                      fmt::format("{} is launched in a header", context.kernel.name));
    return {};
}

} // namespace kernelskill::skills
