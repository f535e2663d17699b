#include "skills/atomics-privatization/privatization_edits.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "skills/editing/block_text.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/grid_size.h"
#include "skills/editing/grid_stride_form.h"
#include "skills/editing/replaced_statement.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

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
            writeUpdate(site);
        CodeLines head(layout_, indentation());
        if (form_.tables > 1)
            head.add(fmt::format("// Lanes update {} tables of the block in turns, which are added "
                                 "to {} once.",
                                 form_.tables, base_));
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

    /// Returns edits that send the update to the table; with several tables, to that of its lane.
    [[nodiscard]] std::vector<TextEdit> toTable(const UpdateSite& site) const {
        std::vector<TextEdit> parts;
        for (const ExprId below : code_.expressionsBelow(site.address))
            if (body_.expr(below).kind == ExprKind::Variable &&
                body_.expr(below).variable == updates_.base)
                parts.push_back({body_.expr(below).span, shared_});
        if (form_.tables > 1) {
            const std::uint32_t end = body_.expr(body_.expr(site.address).children[0]).span.end;
            parts.push_back({{end, end}, fmt::format("[threadIdx.x % {}]", form_.tables)});
        }
        return parts;
    }

    void writeUpdate(const UpdateSite& site) {
        const auto& open = updates_.table.open;
        const auto found = std::ranges::find(open, site.call, &OpenUpdate::call);
        std::vector<TextEdit> parts =
            found == open.end() ? toTable(site) : eitherWay(site, found->index);
        edits_.insert(edits_.end(), parts.begin(), parts.end());
    }

    /// Sends the update to the table if its index lies within it, else to global memory.
    std::vector<TextEdit> eitherWay(const UpdateSite& site, ExprId indexId) {
        const Expr& index = body_.expr(indexId);
        const SourceText& source = *context_.file.source;
        const StmtId statement = code_.statement(site.call);
        const Span span = body_.stmt(statement).span;
        std::vector<TextEdit> outside;
        std::vector<TextEdit> inside = toTable(site);
        std::vector<std::string> lines;
        std::string name(source.slice(index.span));
        if (!isOwnVariable(index)) {
            const std::string text = std::move(name);
            name = freshName(body_, "bin");
            if (++named_ > 1)
                name = freshName(body_, fmt::format("{}{}", name, named_));
            lines.push_back(
                fmt::format("const {} {} = {};", valueSpelling(index.type), name, text));
            outside.push_back({index.span, name});
            inside.push_back({index.span, name});
        }
        lines.push_back(fmt::format("if ({})", isInTable(index.type, name)));
        lines.push_back(layout_.unit() + rewritten(source, span, inside));
        lines.emplace_back("else");
        lines.push_back(layout_.unit() + rewritten(source, span, outside));
        return inPlaceOf(context_, statement, lines,
                         {indentationAddedAt(span.begin), isPutIntoBlock(statement)});
    }

    /// Whether the expression is a variable that other threads cannot change.
    [[nodiscard]] bool isOwnVariable(const Expr& expr) const {
        if (expr.kind != ExprKind::Variable || expr.variable == noId)
            return false;
        const Variable& variable = body_.variable(expr.variable);
        return (variable.storage == Storage::Local || variable.storage == Storage::Parameter) &&
               !variable.type.isReference && !variable.type.isVolatile;
    }

    /// Returns the condition that the index `name` lies within the table.
    [[nodiscard]] std::string isInTable(const Type& type, const std::string& name) const {
        const std::string& extent = updates_.table.extent;
        const std::string_view suffix =
            std::isdigit(static_cast<unsigned char>(extent.front())) != 0 ? "u" : "";
        if (type.scalar >= ScalarKind::UInt8)
            return fmt::format("{} < {}{}", name, extent, suffix);
        return fmt::format("static_cast<{}>({}) < {}{}",
                           type.scalar == ScalarKind::Int64 ? "unsigned long long" : "unsigned",
                           name, extent, suffix);
    }

    /// Whether the loop over several elements takes the statement into a block.
    [[nodiscard]] bool isPutIntoBlock(StmtId statement) const {
        return updates_.elementwise &&
               body_.stmt(statement).parent == updates_.elementwise->guard &&
               putsIntoBlock(context_, code_, *updates_.elementwise);
    }

    /// Returns the indentation that the loop or the guards add to code that stands at `offset`.
    [[nodiscard]] std::string indentationAddedAt(std::uint32_t offset) const {
        if (updates_.elementwise)
            return updates_.elementwise->form == ElementwiseForm::EarlyReturn ? layout_.unit() : "";
        std::string added;
        for (const EarlyReturn& exit : updates_.earlyReturns)
            if (body_.stmt(exit.guard).span.end <= offset)
                added += layout_.unit();
        return added;
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
    int named_ = 0; ///< Indices that have got a name.
    std::vector<TextEdit> edits_;
};

} // namespace

std::vector<TextEdit> privatizationEdits(const SkillContext& context, const CodeMap& code,
                                         const TableUpdates& updates, const TableForm& form) {
    return Writer(context, code, updates, form).edits();
}

} // namespace kernelskill::skills
