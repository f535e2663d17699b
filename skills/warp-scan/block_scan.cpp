#include "skills/warp-scan/block_scan.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/counted_loop.h"
#include "skills/gates/power_stride.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Recogniser {
public:
    Recogniser(const SkillContext& context, const CodeMap& code, std::uint32_t index)
        : context_(context), code_(code), body_(code.body()), loop_(context.kernel.loops[index]),
          stmt_(body_.stmt(loop_.statement)) {
        scan_.loop = index;
    }

    Gated<BlockScan> recognise() {
        if (stmt_.fromMacro || !isWrittenAs(*context_.file.source, stmt_.span, {"for", "while"}))
            return refuse("from-macro",
                          fmt::format("the loop on line {} comes out of a macro", line()));
        KERNELSKILL_CHECK(sortStatements());
        KERNELSKILL_CHECK(recogniseStride());
        const auto names = scanRound(code_, scan_.names.stride, reads_, writes_);
        if (!names)
            return notAScan("does not add the element `stride` before a thread's own to its own");
        scan_.names = *names;
        const Variable& array = body_.variable(names->array);
        if (!canShuffle(array.type) || array.type.isVolatile)
            return refuse("no-shuffle",
                          fmt::format("there is no shuffle for the elements of {}", array.name));
        KERNELSKILL_CHECK(requireOwnNames());
        KERNELSKILL_CHECK(requireAllThreads(context_, code_, loop_.statement));
        KERNELSKILL_CHECK(requireWholeWarps(context_, scan_.span, WarpCount::Any));
        return scan_;
    }

private:
    [[nodiscard]] std::uint32_t line() const { return lineNumber(context_, stmt_.span.begin); }
    [[nodiscard]] std::unexpected<Refusal> notAScan(std::string_view why) const {
        return refuse("not-a-scan", fmt::format("the loop on line {} {}", line(), why));
    }

    [[nodiscard]] bool isBarrier(StmtId id) const { return isBlockBarrier(context_.kernel, id); }

    /// Two barriers a round: reads lie between them and writes behind them, or the other way round.
    Gated<void> sortStatements() {
        std::vector<StmtId> statements = code_.statementsOf(loop_.body);
        std::erase_if(statements, [&](StmtId id) { return body_.stmt(id).kind == StmtKind::Null; });
        if (loop_.kind == LoopKind::For) {
            change_ = stmt_.increment;
        } else if (!statements.empty() &&
                   body_.stmt(statements.back()).kind == StmtKind::Expression) {
            change_ = body_.stmt(statements.back()).expr;
            statements.pop_back();
        }
        const auto first =
            std::ranges::find_if(statements, [&](StmtId id) { return isBarrier(id); });
        if (first == statements.end() ||
            std::ranges::count_if(statements, [&](StmtId id) { return isBarrier(id); }) != 2)
            return notAScan("has not two barriers a round");
        const auto second =
            std::find_if(first + 1, statements.end(), [&](StmtId id) { return isBarrier(id); });
        scan_.startsWithBarrier = first == statements.begin();
        if (scan_.startsWithBarrier) {
            reads_.assign(first + 1, second);
            writes_.assign(second + 1, statements.end());
        } else {
            reads_.assign(statements.begin(), first);
            writes_.assign(first + 1, second);
            if (second + 1 != statements.end())
                return notAScan("does more than one step of a scan");
        }
        return {};
    }

    Gated<void> recogniseStride() {
        const auto stride = readPowerStride(code_, change_);
        if (!stride)
            return notAScan(stride.error());
        if (stride->change != StrideChange::Doubling || code_.constantValue(stride->start) != 1)
            return notAScan("does not double its stride from one on");
        scan_.names.stride = stride->variable;
        const Expr& condition = body_.expr(code_.withoutCasts(stmt_.condition));
        const bool isBelow = condition.kind == ExprKind::Binary && condition.op == "<" &&
                             code_.namedVariable(condition.children[0]) == stride->variable;
        const auto end = isBelow ? polynomialOf(code_, condition.children[1]) : std::nullopt;
        const auto span = end ? spannedThreads(code_, *end) : std::nullopt;
        if (!span)
            return notAScan("does not run up to the block's size");
        scan_.span = *span;
        return {};
    }

    /// The loop's own names go with it.
    [[nodiscard]] Gated<void> requireOwnNames() const {
        for (const VariableId name : {scan_.names.stride, scan_.names.value})
            for (const ExprId use : code_.uses(name))
                if (!code_.holds(loop_.statement, use))
                    return refuse("used-after",
                                  fmt::format("{} is used outside of the loop on line {}",
                                              body_.variable(name).name,
                                              lineNumber(context_, body_.expr(use).span.begin)));
        return {};
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Loop& loop_;
    const Stmt& stmt_;
    BlockScan scan_;
    ExprId change_ = noId;
    std::vector<StmtId> reads_;
    std::vector<StmtId> writes_;
};

} // namespace

Gated<BlockScan> findScan(const SkillContext& context, const CodeMap& code) {
    KERNELSKILL_CHECK(requireEditable(context));
    return chooseLoop(
        context, code,
        [&](std::uint32_t loop) { return Recogniser(context, code, loop).recognise(); },
        [&](std::uint32_t loop, const Refusal& refusal) {
            if (refusal.gate != "not-a-scan")
                return Likeness::Kind;
            return context.kernel.loops[loop].hasBarrier ? Likeness::Near : Likeness::None;
        });
}

} // namespace kernelskill::skills
