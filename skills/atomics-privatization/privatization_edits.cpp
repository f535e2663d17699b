#include "skills/atomics-privatization/privatization_edits.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "skills/editing/block_text.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/grid_size.h"
#include "skills/editing/grid_stride_form.h"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const TableUpdates& updates,
           const TableForm& form)
        : context_(context), code_(code), form_(form), body_(code.body()),
          layout_(*context.file.source, context.kernel), updates_(updates),
          base_(body_.variable(updates.base).name),
          shared_(freshName(body_, joinedName("block", base_))) {}

    std::vector<TextEdit> edits() {
        if (updates_.elementwise) {
            edits_ = gridStrideEdits(context_, code_, *updates_.elementwise);
            for (const LaunchSite& launch : context_.kernel.launches)
                edits_.push_back(dividedGrid(context_, launch, form_.elements));
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
        if (form_.tables > 1)
            chooseTables(head);
        else
            head.add(fmt::format(
                "// Updates go to a table of the block, which is added to {} once.", base_));
        head.add(fmt::format("__shared__ {} {}[{}]{};", updates_.element, shared_,
                             updates_.table.extent,
                             form_.tables > 1 ? fmt::format("[{}]", form_.tables) : ""));
        if (form_.tables > 1) {
            openLoop(head, fmt::format("{} * {}", updates_.table.limit, form_.tables));
            head.add(fmt::format("{0}[{1} / {2}][{1} % {2}] = 0;", shared_, entry_, form_.tables));
        } else {
            openLoop(head, updates_.table.limit);
            head.add(fmt::format("{}[{}] = 0;", shared_, entry_));
        }
        head.leave();
        head.add("__syncthreads();");
        const std::uint32_t bracket = context_.kernel.bodySpan.begin;
        edits_.push_back(linesAfter(layout_, {bracket, bracket + 1}, head));

        CodeLines tail(layout_, indentation());
        tail.add("__syncthreads();");
        openLoop(tail, updates_.table.limit, form_.tables > 1 ? " {" : "");
        const std::string sum =
            form_.tables > 1 ? addUp(tail) : fmt::format("{}[{}]", shared_, entry_);
        tail.open(fmt::format("if ({} != 0)", sum));
        tail.add(fmt::format("{}(&{}[{}], {});", updates_.function, base_, entry_, sum)).leave();
        if (form_.tables > 1)
            tail.close();
        insertAtEnd(tail);
    }

    /// Sends each update to the table of its lane.
    void chooseTables(CodeLines& head) {
        head.add(fmt::format("// Lanes update {} tables of the block in turns, which are added to "
                             "{} once.",
                             form_.tables, base_));
        for (const UpdateSite& site : updates_.sites) {
            const std::uint32_t end = body_.expr(body_.expr(site.address).children[0]).span.end;
            edits_.push_back({{end, end}, fmt::format("[threadIdx.x % {}]", form_.tables)});
        }
    }

    /// Adds up the tables' elements, each thread from another table on, which have other banks.
    std::string addUp(CodeLines& tail) const {
        const std::string sum = freshName(body_, "sum");
        tail.add(fmt::format("{} {} = 0;", updates_.element, sum));
        tail.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", table_, form_.tables));
        tail.add(fmt::format("{} {} {}[{}][({} + threadIdx.x) % {}];", sum,
                             assignmentOperator(updates_.fold), shared_, entry_, table_,
                             form_.tables))
            .leave();
        return sum;
    }

    /// `bracket` ends the head, if the loop has several statements.
    void openLoop(CodeLines& lines, const std::string& limit, std::string_view bracket = "") const {
        const bool isFlat = updates_.launched.isFlat;
        const std::string_view first =
            isFlat ? "threadIdx.x"
                   : "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x";
        const std::string_view step = threadsOfBlock(isFlat);
        if (isFlat) {
            lines.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3}){4}", entry_, first,
                                   limit, step, bracket));
            return;
        }
        lines.add(fmt::format("for (int {0} = {1}; {0} < {2};", entry_, first, limit));
        lines.open(fmt::format("     {} += {})", entry_, step));
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const TableForm& form_;
    const FunctionBody& body_;
    SourceLayout layout_;
    const TableUpdates& updates_;
    std::string base_;
    std::string shared_; ///< Name of the block's copy.
    std::string entry_ = freshName(body_, "entry");
    std::string table_ = freshName(body_, "table");
    std::vector<TextEdit> edits_;
};

} // namespace

std::vector<TextEdit> privatizationEdits(const SkillContext& context, const CodeMap& code,
                                         const TableUpdates& updates, const TableForm& form) {
    return Writer(context, code, updates, form).edits();
}

} // namespace kernelskill::skills
