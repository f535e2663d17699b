#include "skills/warp-shuffle-reduction/reduction_gates.h"

#include "analysis/queries/code_map.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/counted_loop.h"
#include "skills/gates/tree_result.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Gates {
public:
    Gates(const SkillContext& context, const CodeMap& code)
        : context_(context), code_(code), body_(code.body()) {}

    /// The tree at the cursor, else the first that fits.
    Gated<TreeReduction> plan() const {
        KERNELSKILL_CHECK(requireEditable(context_));
        return chooseLoop(
            context_, code_, [&](std::uint32_t loop) { return study(loop); },
            [&](std::uint32_t loop, const Refusal& refusal) {
                if (refusal.gate != "not-a-tree")
                    return Likeness::Kind;
                return context_.kernel.loops[loop].hasBarrier ? Likeness::Near : Likeness::None;
            });
    }

private:
    [[nodiscard]] Gated<TreeReduction> study(std::uint32_t index) const {
        const Span loop = body_.stmt(context_.kernel.loops[index].statement).span;
        auto tree = recogniseTree(context_, code_, index);
        if (!tree)
            return tree;
        for (const FoldedArray& folded : tree->arrays) {
            const Variable& array = body_.variable(folded.array);
            if (!canShuffle(array.type))
                return refuse(
                    "no-shuffle",
                    fmt::format("there is no shuffle for the elements of {}", array.name));
        }
        if (tree->endsLast)
            return refuse("result-last", fmt::format("the tree on line {} leaves its result in the "
                                                     "last element",
                                                     lineNumber(context_, loop.begin)));
        KERNELSKILL_CHECK(requireResultOnly(context_, *tree));
        KERNELSKILL_CHECK(
            requireAllThreads(context_, code_, context_.kernel.loops[index].statement));
        KERNELSKILL_CHECK(requireOwnStride(context_, *tree));
        KERNELSKILL_CHECK(requireWholeWarps(context_, tree->extent, WarpCount::PowerOfTwo));
        return tree;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

Gated<TreeReduction> findTree(const SkillContext& context, const CodeMap& code) {
    return Gates(context, code).plan();
}

} // namespace kernelskill::skills
