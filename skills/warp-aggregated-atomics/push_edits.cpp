#include "skills/warp-aggregated-atomics/push_edits.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/gpu_constants.h"
#include "skills/editing/block_text.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Writer {
public:
    Writer(const SkillContext& context, const CounterPush& push)
        : context_(context), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, context.kernel), push_(push) {}

    std::vector<TextEdit> edits() {
        edits_ = guardedBlocks(context_, code_, push_.earlyReturns);
        const StmtId first =
            push_.earlyReturns.empty() ? push_.outermost : push_.earlyReturns.front().guard;
        edits_.push_back(linesBefore(source_, body_.stmt(first), head()));
        for (const KeptLocal& local : push_.kept) {
            const Span span = body_.stmt(local.declaration).span;
            if (local.assignment.empty())
                edits_.push_back({layout_.statementWithLine(span), ""});
            else
                edits_.push_back({span, local.assignment});
        }
        takePlace();
        insertBehind(tail());
        return withoutCovered(std::move(edits_));
    }

private:
    [[nodiscard]] std::string indentation() const {
        return layout_.indentation(body_.stmt(push_.outermost).span.begin);
    }
    [[nodiscard]] std::string text(ExprId expr) const {
        return std::string(source_.slice(body_.expr(expr).span));
    }
    [[nodiscard]] bool countsOnes() const {
        return push_.amount == noId || code_.constantValue(push_.amount) == 1;
    }
    /// Returns "3 * " if each thread takes three places; empty if one, or if the amounts differ.
    [[nodiscard]] std::string factor() const {
        return !push_.hasFixedAmount || countsOnes()
                   ? ""
                   : besideProduct(source_, body_.expr(push_.amount)) + " * ";
    }
    /// Returns the type of a warp's count, of threads or of the places that they take.
    [[nodiscard]] std::string countType() const {
        return push_.hasFixedAmount ? "int" : push_.element;
    }

    [[nodiscard]] CodeLines head() const {
        CodeLines lines(layout_, indentation());
        lines.add(fmt::format("// The block's threads take their places among each other; one "
                              "atomic a block updates {}.",
                              push_.counter));
        lines.add(fmt::format("__shared__ {} {}[{}];", countType(), warpStarts_,
                              push_.launched.most / warpLanes));
        lines.add(fmt::format("__shared__ {} {};", push_.element, start_));
        lines.add(fmt::format("bool {} = false;", takes_));
        if (!push_.hasFixedAmount)
            lines.add(fmt::format("{} {} = 0;", push_.element, amount_));
        for (const KeptLocal& local : push_.kept)
            for (const std::string& declaration : local.hoisted)
                lines.add(declaration);
        return lines;
    }

    /// Replaces the statement with the atomic and what follows it by a note that the thread takes
    /// places.
    void takePlace() {
        const Stmt& own = body_.stmt(push_.behind.front());
        const Span span{own.span.begin,
                        layout_.endOfLineTrivia(body_.stmt(push_.behind.back()).span.end)};
        const std::string take = fmt::format("{} = true;", takes_);
        if (push_.hasFixedAmount) {
            edits_.push_back({span, take});
            return;
        }
        const std::string set = fmt::format("{} = {};", amount_, text(push_.amount));
        if (body_.stmt(own.parent).kind == StmtKind::Compound) {
            edits_.push_back({span, take + layout_.newline() + layout_.indentation(own.span.begin) +
                                        deeper(own.span.begin) + set});
            return;
        }
        edits_.push_back({span, fmt::format("{{ {} {} }}", take, set)});
    }

    /// Returns the indentation that early returns which become blocks add to a line.
    [[nodiscard]] std::string deeper(std::uint32_t offset) const {
        std::string units;
        for (const EarlyReturn& exit : push_.earlyReturns)
            if (body_.stmt(exit.guard).span.end <= offset)
                units += layout_.unit();
        return units;
    }

    [[nodiscard]] CodeLines tail() const {
        CodeLines lines(layout_, indentation());
        const std::string_view thread = threadInBlock(push_.lanes);
        lines.add(fmt::format("const int {} = {} % {};", lane_, thread, warpLanes));
        lines.add(fmt::format("const int {} = {} / {};", warp_, thread, warpLanes));
        if (push_.hasFixedAmount)
            addVotes(lines);
        else
            addScan(lines);
        lines.add("__syncthreads();");
        addStarts(lines);
        lines.add("__syncthreads();");
        addWork(lines);
        return lines;
    }

    /// Counts by a vote: a thread's place in its warp is the number of lower lanes that take one.
    void addVotes(CodeLines& lines) const {
        lines.add(
            fmt::format("const unsigned int {} = __ballot_sync(0xffffffff, {});", takers_, takes_));
        lines.open(fmt::format("if ({} == 0)", lane_));
        lines.add(fmt::format("{}[{}] = __popc({});", warpStarts_, warp_, takers_)).leave();
    }

    /// Adds up the amounts of the lower lanes by a scan.
    void addScan(CodeLines& lines) const {
        const std::string offset = freshName(body_, "offset");
        const std::string below = freshName(body_, "below");
        lines.add(fmt::format("{} {} = {};", push_.element, sum_, amount_));
        lines.open(fmt::format("for (int {0} = 1; {0} < {1}; {0} *= 2) {{", offset, warpLanes));
        lines.add(fmt::format("const {} {} = __shfl_up_sync(0xffffffff, {}, {});", push_.element,
                              below, sum_, offset));
        lines.open(fmt::format("if ({} >= {})", lane_, offset));
        lines.add(fmt::format("{} += {};", sum_, below)).leave();
        lines.close();
        lines.open(fmt::format("if ({} == {})", lane_, warpLanes - 1));
        lines.add(fmt::format("{}[{}] = {};", warpStarts_, warp_, sum_)).leave();
    }

    /// Turns the warps' counts into their starts; one thread reserves the places of all.
    void addStarts(CodeLines& lines) const {
        const std::string count = freshName(body_, "count");
        const std::string each = freshName(body_, "w");
        const std::string own = freshName(body_, "ofWarp");
        lines.open(fmt::format("if ({}) {{", isFirstThread(push_.launched.isFlat)));
        lines.add(fmt::format("{} {} = 0;", countType(), count));
        lines.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", each, warps()));
        lines.add(fmt::format("const {} {} = {}[{}];", countType(), own, warpStarts_, each));
        lines.add(fmt::format("{}[{}] = {};", warpStarts_, each, count));
        lines.add(fmt::format("{} += {};", count, own));
        lines.close();
        lines.add(fmt::format("{} = {}({}, {}{});", start_, push_.function, text(push_.address),
                              factor(), count));
        lines.close();
    }

    [[nodiscard]] std::string warps() const {
        return fmt::format("{} / {}", threadsOfBlock(push_.launched.isFlat), warpLanes);
    }

    /// Adds the code from the atomic on, with the thread's place instead of the atomic.
    void addWork(CodeLines& lines) const {
        const Stmt& own = body_.stmt(push_.behind.front());
        const Stmt& last = body_.stmt(push_.behind.back());
        lines.open(fmt::format("if ({}) {{", takes_));
        if (push_.hasFixedAmount)
            lines.add(fmt::format("const int {} = {}[{}] + __popc({} & ((1u << {}) - 1));", place_,
                                  warpStarts_, warp_, takers_, lane_));
        else
            lines.add(fmt::format("const {} {} = {}[{}] + {} - {};", push_.element, place_,
                                  warpStarts_, warp_, sum_, amount_));
        const std::string code =
            rewritten(source_, {own.span.begin, layout_.endOfLineTrivia(last.span.end)},
                      {{body_.expr(push_.call).span, position()}});
        lines.addBlock(code, layout_.indentation(own.span.begin));
        lines.close();
    }

    /// Returns the expression for what the atomic returned.
    [[nodiscard]] std::string position() const {
        const std::string sum =
            fmt::format("{} {} {}{}", start_, push_.isSubtraction ? '-' : '+', factor(), place_);
        const ExprId parent = code_.parent(push_.call);
        if (parent == noId)
            return sum;
        const Expr& around = body_.expr(parent);
        const bool standsAlone =
            around.kind == ExprKind::Call ||
            (around.kind == ExprKind::Subscript && around.children[1] == push_.call) ||
            (around.kind == ExprKind::Binary && around.op == "=" &&
             around.children[1] == push_.call);
        return standsAlone ? sum : fmt::format("({})", sum);
    }

    void insertBehind(const CodeLines& lines) {
        const bool isAtEnd =
            !push_.earlyReturns.empty() || body_.stmt(push_.behind.front()).parent == body_.root;
        edits_.push_back(isAtEnd ? linesAtEnd(layout_, context_.kernel, lines)
                                 : linesAfter(layout_, body_.stmt(push_.outermost).span, lines));
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const CounterPush& push_;
    std::string warpStarts_ = freshName(body_, "warpStarts");
    std::string start_ = freshName(body_, "blockStart");
    std::string takes_ = freshName(body_, "takesPlace");
    std::string amount_ = freshName(body_, "amount");
    std::string takers_ = freshName(body_, "takers");
    std::string sum_ = freshName(body_, "sum");
    std::string lane_ = freshName(body_, "lane");
    std::string warp_ = freshName(body_, "warp");
    std::string place_ = freshName(body_, "place");
    std::vector<TextEdit> edits_;
};

} // namespace

std::vector<TextEdit> pushEdits(const SkillContext& context, const CounterPush& push) {
    return Writer(context, push).edits();
}

} // namespace kernelskill::skills
