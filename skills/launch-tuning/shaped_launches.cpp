#include "skills/launch-tuning/shaped_launches.h"

#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/editing/grid_size.h"
#include "skills/launch-tuning/following_grid.h"
#include "skills/launch-tuning/sampled_values.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::string shapeText(const Extents& block) {
    return block[2] == 1 ? fmt::format("dim3({}, {})", block[0], block[1])
                         : fmt::format("dim3({}, {}, {})", block[0], block[1], block[2]);
}

/// Whether threads beyond those of the launch would do nothing, as far as the text tells.
bool coversLimits(const SkillContext& context, const LaunchSite& launch,
                  const std::vector<IndexExpression>& limits, std::size_t axis,
                  std::int64_t threads) {
    SampledValues values(context, context.shared().host(launch.host));
    for (const std::int64_t sample : samples) {
        values.setSample(sample);
        const auto blocks = values.extents(launch.grid)[axis];
        for (const IndexExpression& limit : limits)
            if (const auto value = values.limit(limit, launch);
                blocks && value && *value > *blocks * threads)
                return false;
    }
    return !limits.empty();
}

} // namespace

Gated<TextEdit> blockEdit(const SkillContext& context, const LaunchSite& launch,
                          const Extents& to) {
    const Expr& written = context.file.hostFunctions[launch.host].body.expr(launch.block);
    const std::string_view text = context.file.source->slice(written.span);
    if (!launch.configurationSpan.contains(written.span) ||
        (written.fromMacro && lex(text).size() != 1))
        return refuse("launch-block",
                      fmt::format("the block of the launch on line {} comes out of a macro",
                                  lineNumber(context, launch.span.begin)));
    const bool isRow = to[1] == 1 && to[2] == 1;
    if (!isRow)
        return TextEdit{written.span, shapeText(to)};
    const bool isList = written.kind == ExprKind::InitList && written.children.size() == 1;
    const ExprId extent = isList ? written.children[0] : launch.block;
    return TextEdit{context.file.hostFunctions[launch.host].body.expr(extent).span,
                    std::to_string(to[0])};
}

bool canTakeShape(const SkillContext& context, const GridAxes& axes, const Extents& from,
                  const Extents& to) {
    for (const LaunchSite& launch : context.kernel.launches) {
        const auto grid = constantExtents(context.shared().host(launch.host), launch.grid);
        for (std::size_t axis = 0; axis < from.size(); ++axis) {
            if (from[axis] == to[axis])
                continue;
            const bool isExact =
                from[axis] % to[axis] == 0 || (grid && (*grid)[axis] * from[axis] % to[axis] == 0);
            if (!axes[axis].isFree ||
                (!isExact && !coversLimits(context, launch, axes[axis].limits, axis, from[axis])))
                return false;
        }
    }
    return true;
}

Gated<std::vector<TextEdit>> shapedLaunches(const SkillContext& context, const GridAxes& axes,
                                            const Extents& from, const Extents& to) {
    if (auto edits = editsOfDefinitions(context, axes, from, to))
        return std::move(*edits);
    std::vector<TextEdit> edits;
    for (const LaunchSite& launch : context.kernel.launches) {
        KERNELSKILL_TRY(TextEdit block, blockEdit(context, launch, to));
        auto grid = regroupedGrid(context, launch, from, to);
        if (!grid)
            return refuse("launch-grid",
                          fmt::format("the launch on line {} does not name its blocks along an "
                                      "axis that would get several",
                                      lineNumber(context, launch.span.begin)));
        edits.insert(edits.end(), grid->begin(), grid->end());
        edits.push_back(std::move(block));
    }
    return edits;
}

} // namespace kernelskill::skills
