#include "skills/schedule/scan_text.h"

#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/gpu_constants.h"
#include "skills/editing/code_lines.h"
#include "skills/schedule/fold_text.h"
#include "skills/schedule/term_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class ScanWriter {
public:
    ScanWriter(Draft& draft, const SkillContext& context, const LaneLoop& shared,
               const std::string& lane)
        : draft_(draft), context_(context), body_(context.kernel.body), shared_(shared),
          scan_(*shared.scan), fold_(scan_.fold), loop_(context.kernel.loops[shared.loop]),
          source_(*context.file.source), layout_(draft.layout()), lane_(lane),
          offset_(freshName(body_, "offset")), lower_(freshName(body_, "lower")),
          next_(freshName(body_, "next")), below_(freshName(body_, "below")),
          condition_(source_.slice(body_.expr(body_.stmt(shared.statement).condition).span)) {
        const StmtId first =
            scan_.before.empty()
                ? scan_.form == ScanForm::Element ? scan_.statement : scan_.after.front()
                : scan_.before.front();
        indentation_ = layout_.indentation(body_.stmt(first).span.begin);
        if (!isBlock())
            indentation_ =
                layout_.indentation(body_.stmt(shared.statement).span.begin) + layout_.unit();
        type_ = withoutConst(fold_.type);
    }

    void write() {
        writeHead();
        switch (scan_.form) {
        case ScanForm::Inclusive:
            writeInclusive();
            break;
        case ScanForm::Exclusive:
            writeExclusive();
            break;
        case ScanForm::Element:
            writeElement();
            break;
        }
    }

private:
    using Lines = std::vector<std::string>;

    [[nodiscard]] bool isBlock() const { return body_.stmt(loop_.body).kind == StmtKind::Compound; }
    [[nodiscard]] std::string text(ExprId id) const {
        return std::string(source_.slice(body_.expr(id).span));
    }

    /// Writes the loop's head. All lanes run as many rounds as lane 0: shuffles need all of them.
    void writeHead() {
        shareRounds(draft_, context_, shared_, {lane_, std::to_string(warpLanes)});
        const CodeMap& code = context_.code();
        const ExprId condition = body_.stmt(shared_.statement).condition;
        for (const ExprId id : code.expressionsBelow(condition))
            if (code.namedVariable(id) == loop_.inductionVariable &&
                body_.expr(id).kind == ExprKind::Variable)
                draft_.replace(body_.expr(id).span,
                               fmt::format("{} - {}", text(id),
                                           *loop_.step == 1
                                               ? lane_
                                               : fmt::format("{} * {}", lane_, *loop_.step)));
    }

    void writeInclusive() {
        if (!isIdempotent(fold_))
            insertBefore(
                scan_.before.front(),
                draft_.controlled(fmt::format("if ({} > 0)", lane_),
                                  {fmt::format("{} = {};", fold_.name, identityOf(fold_))}));
        guardBefore();
        insertAfter(scan_.before.back(), steps());
        guardAll(scan_.after);
        insertAfter(scan_.after.back(), {lastOf(fold_.name)});
    }

    /// Each lane gets the value that the lane below it folds in.
    void writeExclusive() {
        guardBefore();
        std::string moved;
        for (const StmtId id : scan_.folds) {
            std::vector<TextEdit> renamed;
            for (const ExprId use : context_.code().uses(scan_.variable))
                if (context_.code().holds(id, use))
                    renamed.push_back({body_.expr(use).span, next_});
            const Span span = withComment(id);
            moved += layout_.newline() + layout_.indentation(span.begin) +
                     rewritten(source_, span, std::move(renamed));
            draft_.replace(linesOf(id), {});
        }
        const bool isPlain =
            scan_.folds.size() == 1 && body_.stmt(scan_.folds.front()).kind == StmtKind::Expression;
        CodeLines block(layout_, indentation_);
        block.add(fmt::format("{} {} = {};", type_, next_,
                              isIdempotent(fold_) ? fold_.name : identityOf(fold_)));
        block.open(fmt::format("if ({}){}", condition_, isPlain ? "" : " {"));
        block.addBlock(
            std::string_view(moved).substr(layout_.newline().size() + indentation_.size()),
            indentation_);
        if (isPlain)
            block.leave();
        else
            block.close();
        block.add(
            fmt::format("const {} {} = __shfl_up_sync(0xffffffff, {}, 1);", type_, below_, next_));
        block.open(fmt::format("if ({} > 0)", lane_));
        block.add(fmt::format("{} = {};", fold_.name, below_));
        block.leave();
        for (const std::string& line : steps())
            block.add(line);
        draft_.insertBefore(scan_.after.front(), block.text());
        guardAll(scan_.after);
        insertAfter(scan_.after.back(), {foldLine(fold_, next_), lastOf(fold_.name)});
    }

    /// The first lane folds in the element that the last lane stored the round before.
    void writeElement() {
        guardBefore();
        CodeLines block(layout_, indentation_);
        if (!isBlock())
            openBody();
        for (const std::string& comment : commentsIn(source_, withComment(scan_.statement)))
            block.add(comment);
        block.add(fmt::format("{} {} = {} ? {} : {};", type_, fold_.name, condition_, scan_.value,
                              literalOf(0, fold_.scalar)));
        block.open(fmt::format("if ({} == 0)", lane_));
        block.add(foldLine(fold_, text(scan_.previous)));
        block.leave();
        for (const std::string& line : steps())
            block.add(line);
        block.open(fmt::format("if ({})", condition_));
        block.add(fmt::format("{} = {};", text(scan_.element), fold_.name));
        block.leave();
        block.add("__syncwarp();");
        const Span span = linesOf(scan_.statement);
        if (isBlock()) {
            draft_.replace(span, block.text());
        } else {
            const std::string close =
                layout_.indentation(body_.stmt(shared_.statement).span.begin) + "}" +
                layout_.newline();
            draft_.replace(span, block.text() + close);
        }
        guardAll(scan_.after);
    }
    [[nodiscard]] Span linesOf(StmtId statement) const {
        const Span span = body_.stmt(statement).span;
        return {layout_.lineBegin(span.begin), layout_.lineAfter(span.end)};
    }
    /// Returns the statement's span with the comment behind it on its line.
    [[nodiscard]] Span withComment(StmtId statement) const {
        const Span span = body_.stmt(statement).span;
        return {span.begin, layout_.endOfLineTrivia(span.end)};
    }
    /// Adds a bracket behind the head of a loop over a single statement.
    void openBody() {
        std::uint32_t at = body_.stmt(scan_.statement).span.begin;
        const std::string_view text = source_.text();
        while (at > 0 && text.at(at - 1) != ')')
            --at;
        draft_.replace({at, at}, " {");
    }

    /// Returns the lines that turn each lane's value into that of the lanes up to it.
    [[nodiscard]] Lines steps() const {
        Lines lines = draft_.controlled(fmt::format("if ({} >= {})", lane_, offset_),
                                        {foldLine(fold_, lower_)});
        lines.insert(lines.begin(), fmt::format("const {} {} = __shfl_up_sync(0xffffffff, {}, {});",
                                                type_, lower_, fold_.name, offset_));
        return draft_.controlled(
            fmt::format("for (int {0} = 1; {0} < {1}; {0} *= 2)", offset_, warpLanes),
            std::move(lines));
    }
    [[nodiscard]] static std::string lastOf(const std::string& name) {
        return fmt::format("{0} = __shfl_sync(0xffffffff, {0}, {1});", name, warpLanes - 1);
    }

    /// Guards the statements in front of the scan. Declarations that are used behind it stay
    /// outside of the guards.
    void guardBefore() {
        std::vector<StmtId> group;
        for (const StmtId id : scan_.before) {
            const Stmt& stmt = body_.stmt(id);
            const bool isCrossing = stmt.kind == StmtKind::Declaration && !scan_.crossing.empty();
            if (!isCrossing) {
                group.push_back(id);
                continue;
            }
            guardAll(std::exchange(group, {}));
            const ExprId value = body_.variable(stmt.declared.front()).init;
            if (value != noId && !isFree(value))
                draft_.replace(
                    body_.expr(value).span,
                    fmt::format("{} ? {} : {}", condition_, text(value),
                                literalOf(0, body_.variable(stmt.declared.front()).type.scalar)));
        }
        guardAll(group);
    }
    /// Whether a lane without a round may evaluate the expression as well.
    [[nodiscard]] bool isFree(ExprId value) const {
        const CodeMap& code = context_.code();
        return isPure(context_, value) && !readsMemory(code, value) &&
               std::ranges::none_of(code.expressionsBelow(value), [&](ExprId id) {
                   const std::string& op = body_.expr(id).op;
                   return op == "/" || op == "%";
               });
    }

    /// Runs the statements, neighbours in the text, only where the lane has a round.
    void guardAll(const std::vector<StmtId>& statements) {
        if (statements.empty())
            return;
        const Stmt& first = body_.stmt(statements.front());
        if (statements.size() == 1 && first.kind == StmtKind::Expression) {
            draft_.guard(statements.front(), condition_);
            return;
        }
        const std::uint32_t begin = beginWithPragma(first);
        draft_.replace({begin, begin},
                       fmt::format("if ({}) {{{}{}{}", condition_, layout_.newline(), indentation_,
                                   layout_.unit()));
        draft_.indent({begin, body_.stmt(statements.back()).span.end});
        insertAfter(statements.back(), {"}"});
    }

    void insertBefore(StmtId statement, const Lines& lines) {
        draft_.insertBefore(statement, joined(lines));
    }
    void insertAfter(StmtId statement, const Lines& lines) {
        draft_.insertAfter(statement, joined(lines));
    }
    [[nodiscard]] std::string joined(const Lines& lines) const {
        std::string text;
        for (const std::string& line : lines)
            text += indentation_ + line + layout_.newline();
        return text;
    }

    Draft& draft_;
    const SkillContext& context_;
    const FunctionBody& body_;
    const LaneLoop& shared_;
    const LaneScan& scan_;
    const LaneFold& fold_;
    const Loop& loop_;
    const SourceText& source_;
    const SourceLayout& layout_;
    std::string lane_;
    std::string offset_;
    std::string lower_;
    std::string next_;
    std::string below_;
    std::string condition_; ///< The loop's condition: the lane has a round.
    std::string indentation_;
    std::string type_;
};

} // namespace

void scanRounds(Draft& draft, const SkillContext& context, const LaneLoop& loop,
                const std::string& lane) {
    ScanWriter(draft, context, loop, lane).write();
}

} // namespace kernelskill::skills
