#include "skills/warp-scan/scan_writer.h"

#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/gpu_constants.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/replaced_loop.h"
#include "skills/schedule/stored_values.h"
#include "skills/warp-scan/warp_steps.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

ArrayLoop loopOf(const SkillContext& context, const BlockScan& scan, const std::string& thread) {
    return {.loop = context.kernel.loops[scan.loop].statement,
            .arrays = {scan.names.array},
            .thread = thread,
            .own = {scan.names.stride, scan.names.value},
            .startsWithBarrier = scan.startsWithBarrier};
}

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const BlockScan& scan)
        : context_(context), code_(code), body_(code.body()), source_(*context.file.source),
          layout_(source_, context.kernel), scan_(scan),
          array_(body_.variable(scan.names.array).name),
          type_(elementSpelling(body_.variable(scan.names.array).type)),
          thread_(source_.slice(body_.expr(scan.names.thread).span)),
          stored_(storedValues(context, loopOf(context, scan, thread_))), reads_(ownReadsBehind()),
          offset_(newName("offset")), sum_(nameOfSum()), lower_(newName("lower")),
          totals_(newName("warpSums")), total_(newName("warpSum")) {}

    std::vector<TextEdit> edits() const {
        const Stmt& loop = body_.stmt(context_.kernel.loops[scan_.loop].statement);
        const std::string indentation = layout_.indentation(loop.span.begin);
        CodeLines lines(layout_, indentation);
        for (const std::string& comment : commentsIn(source_, loop.span))
            lines.add(comment);
        lines.add(
            "// Each warp scans its values in registers, then the first warp scans the warps' "
            "sums.");
        lines.add(fmt::format("__shared__ {} {}[{}];", type_, totals_, warpLanes));
        if (!stored_) {
            if (scan_.startsWithBarrier)
                lines.add("__syncthreads();");
            lines.add(fmt::format("auto {} = {}[{}];", sum_, array_, thread_));
        }
        addSteps(lines, sum_);
        lines.open(fmt::format("if ({} % {} == {})", thread_, warpLanes, warpLanes - 1));
        lines.add(fmt::format("{}[{} / {}] = {};", totals_, thread_, warpLanes, sum_));
        lines.leave();
        lines.add("__syncthreads();");
        lines.open(fmt::format("if ({} < {}) {{", thread_, warpLanes));
        lines.add(fmt::format("auto {0} = {1} < blockDim.x / {2} ? {3}[{1}] : {4};", total_,
                              thread_, warpLanes, totals_, zero()));
        addSteps(lines, total_);
        lines.add(fmt::format("{}[{}] = {};", totals_, thread_, total_));
        lines.close();
        lines.add("__syncthreads();");
        lines.open(fmt::format("if ({} >= {})", thread_, warpLanes));
        lines.add(fmt::format("{} += {}[{} / {} - 1];", sum_, totals_, thread_, warpLanes));
        lines.leave();
        if (!reads_) {
            lines.add(fmt::format("{}[{}] = {};", array_, thread_, sum_));
            lines.add("__syncthreads();");
        }

        std::vector<VariableId> freed{scan_.names.stride, scan_.names.value};
        if (stored_ && reads_)
            freed.push_back(scan_.names.array);
        std::vector<TextEdit> edits = loopReplacedBy(
            lines, layout_, code_, context_.kernel.loops[scan_.loop].statement, freed);
        if (stored_)
            std::ranges::copy(keptInRegisters(context_, *stored_, {sum_}),
                              std::back_inserter(edits));
        if (reads_)
            for (const ExprId read : *reads_)
                edits.push_back({body_.expr(read).span, sum_});
        return edits;
    }

private:
    /// Returns the reads of the array behind the scan, if all are of the thread's own element, in
    /// the scope of its register, and no loop comes back to the scan: then no thread needs
    /// another's result. nullopt otherwise.
    [[nodiscard]] std::optional<std::vector<ExprId>> ownReadsBehind() const {
        const Loop& loop = context_.kernel.loops[scan_.loop];
        const std::uint32_t end = body_.stmt(loop.statement).span.end;
        if (loop.parent != noId)
            return std::nullopt;
        std::vector<ExprId> reads;
        for (const ExprId use : code_.uses(scan_.names.array)) {
            if (body_.expr(use).span.begin < end)
                continue;
            const ExprId element = code_.parent(use);
            const bool isOwn =
                element != noId && isRead(element) && !body_.expr(element).fromMacro &&
                body_.expr(element).kind == ExprKind::Subscript &&
                body_.expr(element).children[0] == use &&
                source_.slice(body_.expr(body_.expr(element).children[1]).span) == thread_ &&
                code_.encloses(body_.stmt(loop.statement).parent, code_.statement(use));
            if (!isOwn)
                return std::nullopt;
            reads.push_back(element);
        }
        return reads;
    }

    /// Whether the element is read and not written.
    [[nodiscard]] bool isRead(ExprId element) const {
        const auto of = [&](const MemoryAccess& access) { return access.expression == element; };
        const auto isWritten = [&](const MemoryAccess& access) {
            return of(access) && access.kind != AccessKind::Read;
        };
        return std::ranges::any_of(context_.kernel.accesses, of) &&
               std::ranges::none_of(context_.kernel.accesses, isWritten);
    }

    [[nodiscard]] std::string nameOfSum() const {
        return stored_ && stored_->values.front().local != noId
                   ? body_.variable(stored_->values.front().local).name
                   : newName("sum");
    }

    /// A name that nothing else has; the names of the loop that goes are free.
    [[nodiscard]] std::string newName(const std::string& wanted) const {
        const bool isFreed = std::ranges::count(body_.variables, wanted, &Variable::name) == 1 &&
                             (body_.variable(scan_.names.stride).name == wanted ||
                              body_.variable(scan_.names.value).name == wanted);
        return isFreed ? wanted : freshName(body_, wanted);
    }

    /// Inclusive sums of `value` over the lanes of a warp.
    void addSteps(CodeLines& lines, const std::string& value) const {
        addWarpSteps(lines, {.value = value, .thread = thread_, .offset = offset_, .lower = lower_},
                     LowerName::Declared);
    }

    [[nodiscard]] std::string zero() const {
        const ScalarKind scalar = body_.variable(scan_.names.array).type.scalar;
        return scalar == ScalarKind::Unknown ? fmt::format("{}(0)", type_) : literalOf(0, scalar);
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const BlockScan& scan_;
    std::string array_;
    std::string type_; ///< The array's element type.
    std::string thread_;
    std::optional<StoredValues> stored_;
    std::optional<std::vector<ExprId>> reads_; ///< See ownReadsBehind().
    std::string offset_, sum_, lower_, totals_, total_;
};

} // namespace

std::vector<TextEdit> scanEdits(const SkillContext& context, const CodeMap& code,
                                const BlockScan& scan) {
    return Writer(context, code, scan).edits();
}

} // namespace kernelskill::skills
