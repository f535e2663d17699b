#include "skills/stencil-tiling/march_text.h"

#include "analysis/syntax/lexer.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/condition_text.h"
#include "skills/schedule/fold_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <ranges>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Returns a free name made of `name` and a word: `zFirst`, `z_first`.
std::string nameWith(const SkillContext& context, const std::string& name, std::string word) {
    return freshName(context.kernel.body, joinedName(context, name, std::move(word)));
}

/// Returns the type to declare a changing variable with: "int" for "const int".
std::string variableType(const Variable& variable) {
    const std::string type = withoutConst(variable.type.spelling);
    return type.empty() ? "auto" : type;
}

class MarchWriter {
public:
    MarchWriter(const SkillContext& context, const MarchedWork& work, const Queues& queues,
                int points)
        : context_(context), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), draft_(context), work_(work), queues_(queues),
          points_(points), index_(body_.variable(work.index).name),
          begin_(nameWith(context, index_, "begin")), first_(nameWith(context, index_, "first")) {}

    std::vector<TextEdit> edits() {
        writeIndex();
        for (const MarchGuard& guard : work_.guards)
            if (guard.isChanged && &guard != replaced())
                writeGuard(guard);
        for (const StmtId moved : work_.moved) { // Their comments move with them.
            const Span span = body_.stmt(moved).span;
            draft_.replace(
                {draft_.layout().lineBegin(span.begin), draft_.layout().lineAfter(span.end)}, {});
        }
        writeLoop();
        queue(draft_, context_, queues_, {index_, start(), 1});
        return draft_.edits();
    }

private:
    [[nodiscard]] std::string textOf(ExprId expr) const {
        return std::string(source_.slice(body_.expr(expr).span));
    }
    [[nodiscard]] const std::string& start() const { return work_.lower.empty() ? begin_ : first_; }

    /// The check that becomes the loop, because all of it is about the axis; nullptr: none.
    [[nodiscard]] const MarchGuard* replaced() const {
        const MarchGuard& last = work_.guards.back();
        return !last.returnsEarly && last.isChanged && last.kept.empty() ? &last : nullptr;
    }

    void writeIndex() {
        const Variable& index = body_.variable(work_.index);
        for (const Token& token : lex(source_.text(), index.span))
            if (token.text == index.name) {
                draft_.replace(token.span, begin_);
                break;
            }
        const Expr& base = body_.expr(work_.base);
        const bool isSum = base.kind == ExprKind::Binary && (base.op == "+" || base.op == "-");
        draft_.replace(base.span, isSum ? fmt::format("({}) * {}", textOf(work_.base), points_)
                                        : fmt::format("{} * {}", textOf(work_.base), points_));
    }

    /// Leaves the parts of the condition that stay, each with its brackets.
    void writeGuard(const MarchGuard& guard) {
        const Stmt& stmt = body_.stmt(guard.statement);
        if (guard.kept.empty()) {
            draft_.remove(guard.statement);
            return;
        }
        const Span whole = body_.expr(stmt.condition).span;
        if (guard.kept.size() == 1) {
            draft_.replace(whole, textOf(guard.kept.front()));
            return;
        }
        std::string text;
        for (const ExprId part : guard.kept)
            text += fmt::format("{}{}",
                                text.empty()         ? ""
                                : guard.returnsEarly ? " || "
                                                     : " && ",
                                source_.slice(withBrackets(body_.expr(part).span, whole)));
        draft_.replace(whole, text);
    }

    [[nodiscard]] Span withBrackets(Span part, Span whole) const {
        while (part.begin > whole.begin && part.end < whole.end &&
               source_.text()[part.begin - 1] == '(' && source_.text()[part.end] == ')')
            part = {part.begin - 1, part.end + 1};
        return part;
    }

    [[nodiscard]] std::string head() const {
        std::string condition = fmt::format("{} < {} + {}", index_, begin_, points_);
        for (const std::string& upper : work_.upper)
            condition += " && " + upper;
        return fmt::format("for ({} {} = {}; {}; ++{})", variableType(body_.variable(work_.index)),
                           index_, start(), condition, index_);
    }

    /// The lines in front of the loop.
    [[nodiscard]] std::vector<std::string> ahead() const {
        std::vector<std::string> lines;
        if (!work_.lower.empty())
            lines.push_back(fmt::format("const {} {} = {} < {} ? {} : {};",
                                        variableType(body_.variable(work_.index)), first_, begin_,
                                        work_.lower, work_.lower, begin_));
        for (std::string& line : queueDeclarations(queues_))
            lines.push_back(std::move(line));
        return lines;
    }

    [[nodiscard]] std::string movedText(const std::string& indentation) const {
        CodeLines lines(draft_.layout(), indentation);
        for (const StmtId moved : work_.moved) {
            const Span span = body_.stmt(moved).span;
            lines.addBlock(source_.slice({span.begin, draft_.layout().endOfLineTrivia(span.end)}),
                           draft_.layout().indentation(span.begin));
        }
        return lines.text();
    }

    void writeLoop() {
        const StmtId first = work_.work.front();
        const std::string indentation = draft_.layout().indentation(body_.stmt(first).span.begin);
        if (const MarchGuard* guard = replaced()) {
            draft_.before(guard->statement, ahead());
            const Stmt& stmt = body_.stmt(guard->statement);
            draft_.replace({stmt.span.begin, headEnd(stmt)}, head());
            draft_.insertBefore(first, movedText(indentation));
            bracketBranchOf(*guard);
            return;
        }
        CodeLines lines(draft_.layout(), indentation);
        for (const std::string& line : ahead())
            lines.add(line);
        lines.open(head() + " {");
        draft_.insertBefore(first, lines.text() + movedText(indentation + draft_.layout().unit()));
        const std::uint32_t begin = draft_.layout().lineBegin(body_.stmt(first).span.begin);
        draft_.indent({begin - 1, body_.stmt(work_.work.back()).span.end});
        draft_.insertAfter(work_.work.back(), indentation + "}" + draft_.layout().newline());
        bracketBranchOf(work_.guards.back());
    }

    /// Gives brackets to a branch that is a single statement.
    void bracketBranchOf(const MarchGuard& guard) {
        const StmtId branch = body_.stmt(guard.statement).children[0];
        if (!guard.returnsEarly && body_.stmt(branch).kind != StmtKind::Compound)
            draft_.bracket(branch);
    }

    /// The place behind the bracket that closes the condition.
    [[nodiscard]] std::uint32_t headEnd(const Stmt& stmt) const {
        const std::uint32_t from = body_.expr(stmt.condition).span.end;
        const std::uint32_t branch = body_.stmt(stmt.children[0]).span.begin;
        std::uint32_t end = from;
        for (const Token& token : lex(source_.text(), {from, branch}))
            if (token.text == ")")
                end = token.span.end;
        return end;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    Draft draft_;
    const MarchedWork& work_;
    const Queues& queues_;
    int points_;
    std::string index_;
    std::string begin_;
    std::string first_;
};

} // namespace

std::vector<TextEdit> marchEdits(const SkillContext& context, const MarchedWork& work,
                                 const Queues& queues, int points) {
    return MarchWriter(context, work, queues, points).edits();
}

std::vector<TextEdit> queueEdits(const SkillContext& context, const QueuedLoop& loop,
                                 const Queues& queues) {
    const FunctionBody& body = context.kernel.body;
    const SourceText& source = *context.file.source;
    const Stmt& stmt = body.stmt(loop.loop);
    const Variable& iterator = body.variable(loop.iterator);
    Draft draft(context);
    const Expr& start = body.expr(iterator.init);
    std::string first{source.slice(start.span)};
    std::vector<std::string> ahead;
    const bool isSteady =
        start.kind == ExprKind::Integer ||
        (start.kind == ExprKind::Variable && start.variable != noId &&
         std::ranges::none_of(context.code().uses(start.variable), [&](ExprId use) {
             return context.code().isWrite(use) && context.code().holds(loop.loop, use);
         }));
    if (!isSteady) {
        const std::string name = nameWith(context, iterator.name, "first");
        ahead.push_back(fmt::format("const {} {} = {};", variableType(iterator), name, first));
        draft.replace(start.span, name);
        first = name;
    }
    for (std::string& line : queueDeclarations(queues))
        ahead.push_back(std::move(line));
    draft.before(loop.loop, ahead);
    const StmtId branch = stmt.children[0];
    if (body.stmt(branch).kind != StmtKind::Compound)
        draft.bracket(branch);
    if (body.stmt(stmt.parent).kind != StmtKind::Compound)
        draft.bracket(loop.loop);
    queue(draft, context, queues, {iterator.name, first, loop.step});
    return draft.edits();
}

} // namespace kernelskill::skills
