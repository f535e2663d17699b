#include "analysis/source/gpu_constants.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/fresh_names.h"
#include "skills/gates/warp_barriers.h"
#include "skills/warp-per-block/warp_blocks.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class WarpWriter {
public:
    WarpWriter(Draft& draft, const SkillContext& context, const WarpBlocks& found)
        : draft_(draft), context_(context), body_(context.kernel.body), found_(found),
          names_(body_), part_(names_.add("part")), warp_(names_.add("warp")),
          block_(names_.add("block")), blocks_(names_.add("blocks")),
          thread_(names_.add("thread")) {
        const bool isFlat = found.block[0] == threads();
        if (!isFlat)
            rank_ = names_.add("rank");
        for (std::size_t axis = 0; axis < axes_.size(); ++axis)
            axes_[axis] =
                isFlat && axis == 0 ? thread_ : names_.add(fmt::format("thread{}", "XYZ"[axis]));
    }

    void write() {
        PartRunWriter runs(
            draft_, context_, found_.work,
            {.type = "unsigned int", .name = part_, .count = found_.warps, .sharedIndex = warp_});
        for (const ExprId id : found_.merged.blocks)
            runs.change(body_.expr(id).span, block_);
        for (const ExprId id : found_.merged.grids)
            runs.change(body_.expr(id).span, blocks_);
        for (const ExprId id : found_.barriers)
            runs.change(body_.expr(id).span, std::string(warpBarrierCall));
        for (const StmtId id : found_.returns)
            runs.change(body_.stmt(id).span, "continue;");
        for (const ExprId id : found_.threads) {
            const Expr& expr = body_.expr(id);
            runs.change(expr.span, expr.name == "threadIdx"
                                       ? axes_.at(expr.axis)
                                       : fmt::format("{}U", found_.block.at(expr.axis)));
        }
        writeBeginning();
        runs.write([&](std::size_t run, CodeLines& lines) { writeHead(runs, run, lines); });
        for (const StmtId loop : found_.fixedLoops)
            draft_.before(loop, {"#pragma unroll"});
        for (const TextEdit& edit : mergedLaunches(context_, found_.merged, found_.warps, blocks_))
            draft_.replace(edit.span, edit.newText);
    }

private:
    [[nodiscard]] std::int64_t threads() const {
        return found_.block[0] * found_.block[1] * found_.block[2];
    }

    /// Returns the expression of the thread's number in the launched block.
    [[nodiscard]] std::string rankText() const {
        std::string text = "threadIdx.x";
        if (found_.block[1] > 1)
            text = fmt::format("threadIdx.y * {} + {}", found_.block[0], text);
        if (found_.block[2] > 1)
            text = fmt::format("threadIdx.z * {} + {}", found_.block[0] * found_.block[1], text);
        return text;
    }

    void writeBeginning() {
        const StmtId first = context_.code().statementsOf(body_.root).front();
        CodeLines lines(draft_.layout(), draft_.layout().indentation(body_.stmt(first).span.begin));
        lines.add(fmt::format("// Each warp does the work of a block of {} threads, {} at a time.",
                              threads(), warpLanes));
        if (!rank_.empty())
            lines.add(fmt::format("const unsigned int {} = {};", rank_, rankText()));
        lines.add(fmt::format("const unsigned int {} = {} / {};", warp_, rank(), warpLanes));
        lines.add(fmt::format("const unsigned int {} = blockIdx.{} * {} + {};", block_,
                              "xyz"[found_.merged.axis], found_.warps, warp_));
        lines.open(fmt::format("if ({} >= {})", block_, blocks_)).add("return;").leave();
        draft_.insertBefore(first, lines.text());
    }

    [[nodiscard]] std::string rank() const { return rank_.empty() ? "threadIdx.x" : rank_; }

    void writeHead(const PartRunWriter& runs, std::size_t run, CodeLines& lines) const {
        const std::string number =
            fmt::format("{} % {} + {} * {}", rank(), warpLanes, part_, warpLanes);
        std::array<bool, 3> isUsed{};
        for (std::size_t axis = 0; axis < isUsed.size(); ++axis) {
            std::vector<ExprId> asking;
            std::ranges::copy_if(found_.threads, std::back_inserter(asking), [&](ExprId id) {
                return body_.expr(id).name == "threadIdx" && body_.expr(id).axis == axis;
            });
            isUsed[axis] = runs.uses(run, asking);
        }
        if (std::ranges::none_of(isUsed, std::identity{}))
            return;
        lines.add(fmt::format("const unsigned int {} = {};", thread_, number));
        std::int64_t step = 1;
        for (std::size_t axis = 0; axis < isUsed.size(); ++axis) {
            if (isUsed[axis] && axes_[axis] != thread_)
                lines.add(fmt::format("const unsigned int {} = {};", axes_[axis],
                                      coordinateText(axis, step)));
            step *= found_.block[axis];
        }
    }

    /// Returns the expression of a thread's position along the axis, from its number `thread_`.
    [[nodiscard]] std::string coordinateText(std::size_t axis, std::int64_t step) const {
        std::string text = step == 1 ? thread_ : fmt::format("{} / {}", thread_, step);
        if (step * found_.block[axis] < threads())
            text += fmt::format(" % {}", found_.block[axis]);
        return text;
    }

    Draft& draft_;
    const SkillContext& context_;
    const FunctionBody& body_;
    const WarpBlocks& found_;
    FreshNames names_;
    std::string part_;
    std::string warp_;
    std::string block_;
    std::string blocks_;
    std::string thread_;
    std::string rank_;                ///< Empty where threadIdx.x is the number.
    std::array<std::string, 3> axes_; ///< The names that replace threadIdx along each axis.
};

} // namespace

void giveToWarps(Draft& draft, const SkillContext& context, const WarpBlocks& found) {
    WarpWriter(draft, context, found).write();
}

} // namespace kernelskill::skills
