#include "skills/gates/counted_grid.h"

#include "analysis/queries/code_map.h"
#include "skills/gates/launch_sites.h"

#include <algorithm>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

ExprId countOfGrid(const SkillContext& context, const LaunchSite& launch) {
    if (!isInMainFile(context.file, launch))
        return noId;
    const CodeMap& host = context.shared().host(launch.host);
    const SourceText& source = *context.file.source;
    const Expr& grid = host.body().expr(host.withoutCasts(launch.grid));
    if (grid.kind != ExprKind::Call || grid.fromMacro || grid.children.size() != 1 ||
        grid.type.scalar != ScalarKind::Unknown)
        return noId; // Blocks that are a number are changed as such.
    const Expr& count = host.body().expr(host.withoutCasts(grid.children[0]));
    const std::string_view text = source.slice(count.span);
    const bool isNumber = count.type.pointerDepth == 0 &&
                          count.type.scalar != ScalarKind::Unknown &&
                          count.type.scalar < ScalarKind::Half;
    const bool isTold = std::ranges::any_of(launch.argumentSpans, [&](Span argument) {
        return !text.empty() && source.slice(argument) == text;
    });
    return isNumber && isTold && !count.fromMacro ? host.withoutCasts(grid.children[0]) : noId;
}

Gated<void> requireCountableGrids(const SkillContext& context) {
    Gated<void> resizable = requireResizableGrids(context);
    // The grid is the last gate there, so all else holds.
    if (resizable || resizable.error().gate != "launch-grid")
        return resizable;
    const bool areCounted =
        std::ranges::all_of(context.kernel.launches, [&](const LaunchSite& launch) {
            return countOfGrid(context, launch) != noId;
        });
    return areCounted ? Gated<void>() : resizable;
}

} // namespace kernelskill::skills
