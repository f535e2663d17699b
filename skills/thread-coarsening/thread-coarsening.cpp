/// Gives a thread several neighbouring rows of a two-dimensional result.
#include "analysis/queries/source_layout.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/grid_size.h"
#include "skills/thread-coarsening/coarsening_plan.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// How many rows a thread is given.
enum class Rows : int {};

class RowCopies {
public:
    RowCopies(const SkillContext& context, const CodeMap& code, const CoarseningPlan& plan)
        : context_(context), code_(code), body_(code.body()), plan_(plan),
          source_(*context.file.source), layout_(source_, context.kernel),
          row_(body_.variable(plan.row).name) {}

    [[nodiscard]] std::vector<TextEdit> edits() const {
        const ExprId init = body_.variable(plan_.row).init;
        const Span index = body_.expr(init).span;
        std::vector<TextEdit> edits{
            {index, fmt::format("({}) * {}", source_.slice(index), plan_.rows)}, work()};
        for (const LaunchSite& launch : context_.kernel.launches)
            edits.push_back(*dividedGridY(context_, launch, plan_.rows));
        return edits;
    }

private:
    [[nodiscard]] TextEdit work() const {
        const Stmt& guard = body_.stmt(plan_.guarded.guard);
        const Span first = body_.stmt(plan_.guarded.work.front()).span;
        const Span last = body_.stmt(plan_.guarded.work.back()).span;
        const Span replaced{guard.span.begin, std::max(guard.span.end, last.end)};
        const std::string each = freshName(body_, row_ + "Each");
        CodeLines lines(layout_, layout_.indentation(guard.span.begin));
        // The text between the statements stays with them below.
        for (const Span gap : {Span{guard.span.begin, first.begin}, Span{last.end, replaced.end}})
            for (const std::string& comment : commentsIn(source_, gap))
                lines.add(comment);
        lines.open(fmt::format("if ({}) {{", allRowsIn()));
        for (const StmtId id : plan_.guarded.work)
            addCopies(lines, id);
        lines.close("} else {");
        lines.leave();
        CodeLines rest(layout_, layout_.indentation(guard.span.begin) + layout_.unit());
        rest.open(fmt::format("for ({0} {1} = {2}; {1} < {2} + {3}; ++{1}) {{", rowType(), each,
                              row_, plan_.rows));
        rest.open(fmt::format("if ({}) {{", guardOf(each, each)));
        const Span all{first.begin, last.end};
        std::vector<TextEdit> parts;
        for (const ExprId use : code_.uses(plan_.row))
            if (all.contains(body_.expr(use).span))
                parts.push_back({body_.expr(use).span, each});
        rest.addBlock(rewritten(source_, all, std::move(parts)), layout_.indentation(first.begin));
        rest.close();
        rest.close();
        std::string text = lines.text() + rest.text() + layout_.indentation(guard.span.begin) + "}";
        text.erase(0, layout_.indentation(guard.span.begin).size());
        return {replaced, std::move(text)};
    }

    [[nodiscard]] std::string rowType() const {
        const std::string& type = body_.variable(plan_.row).type.spelling;
        return type.starts_with("const ") ? type.substr(6) : type;
    }

    /// The comparisons that the first row decides with `first` for the row, the others with `last`.
    [[nodiscard]] std::string guardOf(const std::string& first, const std::string& last) const {
        std::string condition;
        for (const GuardPart& part : plan_.guard) {
            const Expr& expr = body_.expr(part.expr);
            const std::string& row = part.isUpperBound ? last : first;
            const auto side = [&](ExprId id) { return textWithRow(body_.expr(id).span, row); };
            const bool needsBrackets = part.op.empty() && expr.op == "||";
            const std::string text = part.op.empty()
                                         ? textWithRow(expr.span, row)
                                         : fmt::format("{} {} {}", side(expr.children[0]), part.op,
                                                       side(expr.children[1]));
            condition += fmt::format("{}{}", condition.empty() ? "" : " && ",
                                     needsBrackets ? "(" + text + ")" : text);
        }
        return condition;
    }

    [[nodiscard]] std::string allRowsIn() const {
        return guardOf(row_, fmt::format("{} + {}", row_, plan_.rows - 1));
    }

    [[nodiscard]] std::string textWithRow(Span span, const std::string& row) const {
        std::vector<TextEdit> parts;
        for (const ExprId use : code_.uses(plan_.row))
            if (span.contains(body_.expr(use).span))
                parts.push_back({body_.expr(use).span, row});
        return rewritten(source_, span, std::move(parts));
    }

    /// A statement for every row; a loop that goes round alike for all of them once.
    void addCopies(CodeLines& lines, StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind == StmtKind::Null)
            return;
        if (plan_.commonLoops.contains(id)) {
            if (!stmt.pragma.empty())
                lines.add("#pragma " + stmt.pragma);
            const Stmt& inner = body_.stmt(stmt.children[0]);
            std::string head{source_.slice({stmt.span.begin, inner.span.begin})};
            head.resize(head.find_last_of(')') + 1);
            lines.open(head + " {");
            for (const StmtId part : code_.statementsOf(stmt.children[0]))
                addCopies(lines, part);
            lines.close();
            return;
        }
        const bool isCommon = stmt.kind == StmtKind::Declaration &&
                              std::ranges::none_of(stmt.declared, [&](VariableId local) {
                                  return plan_.varying.contains(local);
                              });
        for (int copy = 0; copy < (isCommon ? 1 : plan_.rows); ++copy)
            lines.addBlock(rewritten(source_, stmt.span, substitutions(stmt.span, id, copy)),
                           layout_.indentation(stmt.span.begin));
    }

    [[nodiscard]] std::vector<TextEdit> substitutions(Span span, StmtId id, int copy) const {
        std::vector<TextEdit> parts;
        for (const VariableId local : plan_.varying) {
            if (isInside(local, id))
                continue; // in a scope of its own
            const std::string name = copyName(local, copy);
            for (const ExprId use : code_.uses(local))
                if (span.contains(body_.expr(use).span))
                    parts.push_back({body_.expr(use).span, name});
            if (code_.declarationOf(local) == id)
                parts.push_back({nameIn(local), name});
        }
        for (const ExprId use : code_.uses(plan_.row))
            if (copy > 0 && span.contains(body_.expr(use).span))
                parts.push_back(rowEdit(use, copy));
        return parts;
    }

    /// The row `copy` further on in place of a use of the row. `y - 1` becomes `y + 2` for copy 3.
    [[nodiscard]] TextEdit rowEdit(ExprId use, int copy) const {
        const ExprId parent = code_.parent(use);
        const Expr* sum = parent == noId ? nullptr : &body_.expr(parent);
        const bool isShift = sum != nullptr && sum->kind == ExprKind::Binary &&
                             (sum->op == "+" || sum->op == "-") && sum->children[0] == use &&
                             !sum->fromMacro && isNumber(sum->children[1]);
        if (!isShift)
            return {body_.expr(use).span, rowText(use, copy)};
        const std::int64_t constant = body_.expr(sum->children[1]).integer;
        const std::int64_t shift = copy + (sum->op == "+" ? constant : -constant);
        if (shift == 0)
            return {withBrackets(sum->span), row_};
        return {sum->span,
                fmt::format("{} {} {}", row_, shift > 0 ? '+' : '-', shift > 0 ? shift : -shift)};
    }

    /// Whether an expression is written as a decimal number.
    [[nodiscard]] bool isNumber(ExprId id) const {
        const Expr& expr = body_.expr(id);
        const std::string_view text = source_.slice(expr.span);
        return expr.kind == ExprKind::Integer && !expr.fromMacro && !text.empty() &&
               (text.front() != '0' || text.size() == 1) &&
               std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    }

    /// With the brackets around an expression, if they are not a call's.
    [[nodiscard]] Span withBrackets(Span span) const {
        const std::string_view text = source_.text();
        const auto isName = [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ')' ||
                   c == ']' || c == '>';
        };
        const bool isBracketed = span.begin > 1 && span.end < text.size() &&
                                 text[span.begin - 1] == '(' && text[span.end] == ')' &&
                                 !isName(text[span.begin - 2]);
        return isBracketed ? Span{span.begin - 1, span.end + 1} : span;
    }

    /// Whether a local is declared below a statement that is copied as a whole.
    [[nodiscard]] bool isInside(VariableId local, StmtId id) const {
        const StmtId declaration = code_.declarationOf(local);
        return declaration != id && code_.encloses(id, declaration);
    }

    [[nodiscard]] std::string copyName(VariableId local, int copy) const {
        return freshName(body_, fmt::format("{}{}", body_.variable(local).name, copy));
    }

    /// The name in a declarator.
    [[nodiscard]] Span nameIn(VariableId local) const {
        const Variable& variable = body_.variable(local);
        for (const Token& token : lex(source_.text(), variable.span))
            if (token.text == variable.name)
                return token.span;
        return {variable.span.begin, variable.span.begin};
    }

    [[nodiscard]] std::string rowText(ExprId use, int copy) const {
        const std::string text = fmt::format("{} + {}", row_, copy);
        const ExprId parent = code_.parent(use);
        const bool standsAlone = parent == noId ||
                                 (body_.expr(parent).kind == ExprKind::Subscript &&
                                  body_.expr(parent).children[1] == use) ||
                                 (body_.expr(parent).kind == ExprKind::Binary &&
                                  (body_.expr(parent).op == "+" || body_.expr(parent).op == "-") &&
                                  body_.expr(parent).children[0] == use);
        return standsAlone ? text : "(" + text + ")";
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const CoarseningPlan& plan_;
    const SourceText& source_;
    SourceLayout layout_;
    std::string row_;
};

class ThreadCoarseningSkill : public PlannedSkill<CoarseningPlan, Rows> {
    Gated<CoarseningPlan> plan(const SkillContext& context) const override {
        return planCoarsening(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const CoarseningPlan& plan) const override {
        const FunctionBody& body = context.kernel.body;
        Offer offer = newOffer(context, body.stmt(plan.guarded.guard).span, Rows{plan.rows});
        offer.title = fmt::format("Give each thread of {} {} rows", context.kernel.name, plan.rows);
        offer.why = fmt::format("threads whose {} is next to each other load the same: {} rows in "
                                "one thread need {:.0f} % of the loads (line {}); the launch{} "
                                "get{} a grid {} times smaller",
                                body.variable(plan.row).name, plan.rows,
                                100 * plan.loadsAfter / plan.loadsBefore,
                                lineNumber(context, offer.anchor.begin),
                                context.kernel.launches.size() == 1 ? "" : "es",
                                context.kernel.launches.size() == 1 ? "s" : "", plan.rows);
        offer.gain = ExpectedGain{plan.loadsBefore / plan.loadsAfter,
                                  "loads of several rows by threads of their own, over those by "
                                  "one thread"};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const CoarseningPlan& plan) const override {
        return RowCopies(context, context.code(), plan).edits();
    }
};

} // namespace

KERNELSKILL_SKILL(ThreadCoarseningSkill)

} // namespace kernelskill::skills
