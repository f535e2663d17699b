#include "skills/editing/block_count.h"

#include "analysis/model/dependence.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

Gated<void> requirePassableGrids(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    KERNELSKILL_CHECK(requireResizableGrids(context));
    if (!forwardDeclarations(context).empty() || fileThatDeclares(context))
        return refuse("declared-before",
                      fmt::format("{} is declared apart from its definition, and that declaration "
                                  "would have to follow",
                                  kernel.name));
    for (const LaunchSite& launch : kernel.launches) {
        const CodeMap& host = context.shared().host(launch.host);
        const std::string place = placeOf(context, launch);
        for (const ExprId id : host.expressionsBelow(launch.grid)) {
            const Expr& expr = host.body().expr(id);
            if (isAssignment(expr) || isIncrement(expr))
                return refuse(
                    "grid-has-effect",
                    fmt::format("the grid of the launch on {} cannot be evaluated twice", place));
        }
        if (launch.argumentSpans.empty() || launch.argumentSpans.size() != kernel.parameters.size())
            return refuse("default-argument",
                          fmt::format("the launch on {} leaves arguments to defaults", place));
    }
    return {};
}

std::string blocksText(const SkillContext& context, const LaunchSite& launch, std::uint8_t axis) {
    const FunctionBody& host = context.file.hostFunctions[launch.host].body;
    const SourceText& source = *context.file.source;
    const Expr& grid = host.expr(launch.grid);
    if (isDim3Name(grid))
        return std::string(source.slice(grid.span)) + '.' + "xyz"[axis];
    if (grid.kind == ExprKind::InitList)
        return axis < grid.children.size()
                   ? std::string(source.slice(host.expr(grid.children[axis]).span))
                   : "1";
    return axis == 0 ? std::string(source.slice(grid.span)) : "1";
}

std::vector<TextEdit> passedBlockCounts(const SkillContext& context,
                                        const std::vector<BlockCount>& counts) {
    std::string names;
    for (const BlockCount& count : counts)
        names += fmt::format(", unsigned int {}", count.name);
    const std::uint32_t parameters = context.kernel.parameters.back().span.end;
    std::vector<TextEdit> edits{{{parameters, parameters}, names}};
    for (const LaunchSite& launch : context.kernel.launches) {
        std::string values;
        for (const BlockCount& count : counts)
            values += ", " + blocksText(context, launch, count.axis);
        const std::uint32_t arguments = launch.argumentSpans.back().end;
        edits.push_back({{arguments, arguments}, values});
    }
    return edits;
}

} // namespace kernelskill::skills
