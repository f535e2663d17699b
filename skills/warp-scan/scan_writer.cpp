#include "skills/warp-scan/scan_writer.h"

#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/gpu_constants.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/replaced_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const BlockScan& scan)
        : context_(context), code_(code), body_(code.body()), source_(*context.file.source),
          layout_(source_, context.kernel), scan_(scan),
          array_(body_.variable(scan.names.array).name),
          type_(elementSpelling(body_.variable(scan.names.array).type)),
          thread_(source_.slice(body_.expr(scan.names.thread).span)), offset_(newName("offset")),
          sum_(newName("sum")), lower_(newName("lower")), totals_(newName("warpSums")),
          total_(newName("warpSum")) {}

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
        if (scan_.startsWithBarrier)
            lines.add("__syncthreads();");
        lines.add(fmt::format("auto {} = {}[{}];", sum_, array_, thread_));
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
        lines.add(fmt::format("{}[{}] = {};", array_, thread_, sum_));
        lines.add("__syncthreads();");

        const std::array freed{scan_.names.stride, scan_.names.value};
        return loopReplacedBy(lines, layout_, code_, context_.kernel.loops[scan_.loop].statement,
                              freed);
    }

private:
    /// A name that nothing else has; the names of the loop that goes are free.
    [[nodiscard]] std::string newName(const std::string& wanted) const {
        const bool isFreed = std::ranges::count(body_.variables, wanted, &Variable::name) == 1 &&
                             (body_.variable(scan_.names.stride).name == wanted ||
                              body_.variable(scan_.names.value).name == wanted);
        return isFreed ? wanted : freshName(body_, wanted);
    }

    /// Inclusive sums of `value` over the lanes of a warp.
    void addSteps(CodeLines& lines, const std::string& value) const {
        lines.open(fmt::format("for (int {0} = 1; {0} < {1}; {0} *= 2) {{", offset_, warpLanes));
        lines.add(fmt::format("const auto {} = __shfl_up_sync(0xffffffff, {}, {});", lower_, value,
                              offset_));
        lines.open(fmt::format("if ({} % {} >= {})", thread_, warpLanes, offset_));
        lines.add(fmt::format("{} += {};", value, lower_));
        lines.leave();
        lines.close();
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
    std::string offset_, sum_, lower_, totals_, total_;
};

} // namespace

std::vector<TextEdit> scanEdits(const SkillContext& context, const CodeMap& code,
                                const BlockScan& scan) {
    return Writer(context, code, scan).edits();
}

} // namespace kernelskill::skills
