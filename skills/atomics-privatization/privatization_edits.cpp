#include "skills/atomics-privatization/privatization_edits.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "skills/editing/block_text.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/grid_size.h"
#include "skills/editing/grid_stride_form.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const TableUpdates& updates,
           int elementsPerThread)
        : context_(context), code_(code), elementsPerThread_(elementsPerThread), body_(code.body()),
          layout_(*context.file.source, context.kernel), updates_(updates),
          base_(body_.variable(updates.base).name),
          shared_(freshName(body_, joinedName("block", base_))) {}

    std::vector<TextEdit> edits() {
        if (updates_.elementwise) {
            edits_ = gridStrideEdits(context_, code_, *updates_.elementwise);
            for (const LaunchSite& launch : context_.kernel.launches)
                edits_.push_back(dividedGrid(context_, launch, elementsPerThread_));
        } else {
            edits_ = guardedBlocks(context_, code_, updates_.earlyReturns);
        }
        writeTable();
        return withoutCovered(std::move(edits_));
    }

private:
    [[nodiscard]] std::string indentation() const {
        return layout_.indentation(body_.stmt(updates_.sites.front().outermost).span.begin);
    }

    /// Adds whole lines that every thread reaches at the kernel's end.
    void insertAtEnd(const CodeLines& lines) {
        const StmtId last = body_.stmt(body_.root).children.back();
        edits_.push_back(updates_.earlyReturns.empty()
                             ? linesAfter(layout_, body_.stmt(last).span, lines)
                             : linesAtEnd(layout_, context_.kernel, lines));
    }

    void writeTable() {
        for (const UpdateSite& site : updates_.sites)
            for (const ExprId below : code_.expressionsBelow(site.address))
                if (body_.expr(below).kind == ExprKind::Variable &&
                    body_.expr(below).variable == updates_.base)
                    edits_.push_back({body_.expr(below).span, shared_});
        CodeLines head(layout_, indentation());
        head.add(fmt::format("// Updates go to a table of the block, which is added to {} once.",
                             base_));
        head.add(
            fmt::format("__shared__ {} {}[{}];", updates_.element, shared_, updates_.table.extent));
        openLoop(head);
        head.add(fmt::format("{}[{}] = 0;", shared_, entry_)).leave();
        head.add("__syncthreads();");
        const std::uint32_t bracket = context_.kernel.bodySpan.begin;
        edits_.push_back(linesAfter(layout_, {bracket, bracket + 1}, head));

        CodeLines tail(layout_, indentation());
        tail.add("__syncthreads();");
        openLoop(tail);
        tail.open(fmt::format("if ({}[{}] != 0)", shared_, entry_));
        tail.add(
            fmt::format("{}(&{}[{}], {}[{}]);", updates_.function, base_, entry_, shared_, entry_));
        insertAtEnd(tail);
    }

    void openLoop(CodeLines& lines) const {
        const bool isFlat = updates_.launched.isFlat;
        const std::string_view first =
            isFlat ? "threadIdx.x"
                   : "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x";
        const std::string_view step = threadsOfBlock(isFlat);
        if (isFlat) {
            lines.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", entry_, first,
                                   updates_.table.limit, step));
            return;
        }
        lines.add(
            fmt::format("for (int {0} = {1}; {0} < {2};", entry_, first, updates_.table.limit));
        lines.open(fmt::format("     {} += {})", entry_, step));
    }

    const SkillContext& context_;
    const CodeMap& code_;
    int elementsPerThread_;
    const FunctionBody& body_;
    SourceLayout layout_;
    const TableUpdates& updates_;
    std::string base_;
    std::string shared_; ///< Name of the block's copy.
    std::string entry_ = freshName(body_, "entry");
    std::vector<TextEdit> edits_;
};

} // namespace

std::vector<TextEdit> privatizationEdits(const SkillContext& context, const CodeMap& code,
                                         const TableUpdates& updates, int elementsPerThread) {
    return Writer(context, code, updates, elementsPerThread).edits();
}

} // namespace kernelskill::skills
