#include "skills/block-coarsening/block_parts.h"
#include "skills/editing/fresh_names.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

void coarsen(Draft& draft, const SkillContext& context, const BlockParts& found, int count) {
    const FunctionBody& body = context.kernel.body;
    FreshNames names(body);
    const std::string part = names.add("part");
    const std::string block = names.add("block");
    const std::string blocks = names.add("blocks");
    PartRunWriter runs(draft, context, found.work,
                       {.type = "unsigned int", .name = part, .count = count});
    for (const ExprId id : found.merged.blocks)
        runs.change(body.expr(id).span, block);
    for (const ExprId id : found.merged.grids)
        runs.change(body.expr(id).span, blocks);
    for (const StmtId id : found.returns)
        runs.change(body.stmt(id).span, "continue;");
    runs.write([&](std::size_t run, CodeLines& lines) {
        const bool isGuarded = found.guarded[run];
        if (isGuarded || runs.uses(run, found.merged.blocks))
            lines.add(fmt::format("const unsigned int {} = blockIdx.{} * {} + {};", block,
                                  "xyz"[found.merged.axis], count, part));
        if (isGuarded)
            lines.open(fmt::format("if ({} >= {})", block, blocks)).add("continue;").leave();
    });
    for (const TextEdit& edit : mergedLaunches(context, found.merged, count, blocks))
        draft.replace(edit.span, edit.newText);
}

} // namespace kernelskill::skills
