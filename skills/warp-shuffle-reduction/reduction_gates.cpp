#include "skills/warp-shuffle-reduction/reduction_gates.h"

#include "analysis/queries/code_map.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/tree_result.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

Gated<TreeReduction> study(const SkillContext& context, const CodeMap& code, std::uint32_t index) {
    const FunctionBody& body = code.body();
    const StmtId loop = context.kernel.loops[index].statement;
    auto tree = recogniseTree(context, code, index);
    if (!tree)
        return tree;
    for (const FoldedArray& folded : tree->arrays) {
        const Variable& array = body.variable(folded.array);
        if (!canShuffle(array.type))
            return refuse("no-shuffle",
                          fmt::format("there is no shuffle for the elements of {}", array.name));
    }
    if (tree->endsLast)
        return refuse("result-last",
                      fmt::format("the tree on line {} leaves its result in the last element",
                                  lineNumber(context, body.stmt(loop).span.begin)));
    KERNELSKILL_CHECK(requireResultOnly(context, *tree));
    KERNELSKILL_CHECK(requireAllThreads(context, code, loop));
    KERNELSKILL_CHECK(requireOwnStride(context, *tree));
    KERNELSKILL_CHECK(requireWholeWarps(context, tree->extent, WarpCount::PowerOfTwo));
    return tree;
}

} // namespace

Gated<TreeReduction> findTree(const SkillContext& context, const CodeMap& code) {
    return chooseTree(context, [&](std::uint32_t loop) { return study(context, code, loop); });
}

} // namespace kernelskill::skills
