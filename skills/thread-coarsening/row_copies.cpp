#include "skills/thread-coarsening/row_copies.h"

#include "analysis/queries/source_layout.h"
#include "analysis/syntax/comparison.h"
#include "analysis/syntax/lexer.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"
#include "skills/thread-coarsening/copy_names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class RowCopies {
public:
    RowCopies(const SkillContext& context, const CoarseningPlan& plan, const RowCount& count)
        : original_(plan.body), code_(plan.inner.body), body_(plan.inner.body), plan_(plan),
          count_(count), source_(*context.file.source), layout_(source_, context.kernel),
          names_(plan, count), row_(body_.variable(plan.work.row).name) {}

    [[nodiscard]] std::vector<TextEdit> edits() const {
        std::vector<TextEdit> edits{rowIndex(), work()};
        for (const StmtId moved : plan_.work.moved)
            edits.push_back({withItsComment(body_.stmt(moved).span), ""});
        return edits;
    }

private:
    /// An argument that a macro uses twice is replaced once.
    [[nodiscard]] std::string replacedIn(Span span, std::vector<TextEdit> parts) const {
        std::ranges::stable_sort(parts, {}, &TextEdit::span);
        const auto same = std::ranges::unique(parts, [](const TextEdit& a, const TextEdit& b) {
            return a.span == b.span && a.span.size() > 0;
        });
        parts.erase(same.begin(), same.end());
        return rewritten(source_, span, std::move(parts));
    }

    /// The edit that makes the row index the first of the thread's rows.
    [[nodiscard]] TextEdit rowIndex() const {
        const Span init = body_.expr(body_.variable(plan_.work.row).init).span;
        const Span base = body_.expr(plan_.work.base).span;
        const std::string product = fmt::format("({}) * {}", source_.slice(base), count_.rows);
        const std::string_view before = source_.slice({init.begin, base.begin});
        const std::string_view after = source_.slice({base.end, init.end});
        return {init, fmt::format("{}{}{}", before, product, after)};
    }

    /// The statement's lines with the comment behind it, if it has lines of its own.
    [[nodiscard]] Span withItsComment(Span statement) const {
        if (!layout_.startsLine(statement.begin) || !layout_.endsLine(statement.end))
            return layout_.statementWithLine(statement);
        return {layout_.lineBegin(statement.begin), layout_.lineAfter(statement.end)};
    }

    [[nodiscard]] TextEdit work() const {
        const Stmt& guard = body_.stmt(plan_.work.guards.front());
        const Span last = body_.stmt(plan_.work.work.back()).span;
        const Span replaced{guard.span.begin, std::max(guard.span.end, last.end)};
        const std::vector<Span> chunks = chunksOfWork();
        CodeLines lines(layout_, layout_.indentation(guard.span.begin));
        // The text between the statements stays with them below.
        for (const std::string& comment : commentsBeside(replaced, chunks))
            lines.add(comment);
        lines.open(fmt::format("if ({}) {{", allRowsIn()));
        for (const StmtId id : plan_.statements)
            addCopies(lines, id);
        lines.close("} else {");
        lines.leave();
        CodeLines rest(layout_, layout_.indentation(guard.span.begin) + layout_.unit());
        const std::string each = freshName(body_, row_ + "Each");
        rest.open(fmt::format("for ({0} {1} = {2}; {1} < {2} + {3}; ++{1}) {{", rowType(), each,
                              row_, count_.rows));
        rest.open(fmt::format("if ({}) {{", boundsOf(each)));
        for (const Span chunk : chunks)
            rest.addBlock(withRow(chunk, each), layout_.indentation(chunk.begin));
        rest.close();
        rest.close();
        std::string text = lines.text() + rest.text() + layout_.indentation(guard.span.begin) + "}";
        text.erase(0, layout_.indentation(guard.span.begin).size());
        return {replaced, std::move(text)};
    }

    /// Statements that follow one another in the text, each with the comments between them.
    [[nodiscard]] std::vector<Span> chunksOfWork() const {
        std::vector<Span> chunks;
        for (const StmtId id : plan_.work.work) {
            Span span = body_.stmt(id).span;
            const bool isMoved = std::ranges::find(plan_.work.moved, id) != plan_.work.moved.end();
            if (isMoved)
                span.end = layout_.endOfLineTrivia(span.end);
            const bool follows = !chunks.empty() && !isMoved && !standsBetween(chunks.back(), span);
            if (follows)
                chunks.back().end = span.end;
            else
                chunks.push_back(span);
        }
        return chunks;
    }

    /// Whether a bounds check or what is moved stands between.
    [[nodiscard]] bool standsBetween(Span before, Span span) const {
        const Span between{before.end, span.begin};
        return std::ranges::any_of(plan_.work.guards,
                                   [&](StmtId guard) {
                                       const std::uint32_t begin = body_.stmt(guard).span.begin;
                                       return begin >= between.begin && begin < between.end;
                                   }) ||
               std::ranges::any_of(plan_.work.moved, [&](StmtId moved) {
                   return before.contains(body_.stmt(moved).span);
               });
    }

    [[nodiscard]] std::vector<std::string> commentsBeside(Span all,
                                                          const std::vector<Span>& chunks) const {
        std::vector<std::string> comments;
        std::uint32_t done = all.begin;
        const auto add = [&](std::uint32_t end) {
            if (end <= done)
                return;
            const std::vector<std::string> found = commentsIn(source_, {done, end});
            comments.insert(comments.end(), found.begin(), found.end());
        };
        for (const Span chunk : chunks) {
            if (!all.contains(chunk))
                continue;
            add(chunk.begin);
            done = chunk.end;
        }
        add(all.end);
        return comments;
    }

    [[nodiscard]] std::string rowType() const {
        const std::string& type = body_.variable(plan_.work.row).type.spelling;
        return type.starts_with("const ") ? type.substr(6) : type;
    }

    [[nodiscard]] static std::string joined(const std::vector<std::string>& parts) {
        std::string condition;
        for (const std::string& part : parts)
            condition += (condition.empty() ? "" : " && ") + part;
        return condition;
    }

    /// The kernel's own conditions, for one row.
    [[nodiscard]] std::string boundsOf(const std::string& row) const {
        std::vector<std::string> parts;
        for (const RowBound& bound : plan_.work.bounds)
            parts.push_back(
                textOf(testOf(original_, bound), [&](Span span) { return withRow(span, row); }));
        return joined(parts);
    }

    [[nodiscard]] std::string allRowsIn() const {
        std::vector<std::string> parts;
        const auto add = [&](const RowCondition& condition) {
            std::string text;
            for (const RowTest& test : condition)
                text +=
                    (text.empty() ? "" : " || ") + textOf(test, [&](Span span) {
                        return withCopy(span, test.row == TestedRow::Last ? count_.rows - 1 : 0);
                    });
            text = condition.size() > 1 ? "(" + text + ")" : text;
            if (std::ranges::find(parts, text) == parts.end())
                parts.push_back(text);
        };
        for (const RowCondition& condition : plan_.inner.conditions)
            add(condition);
        return joined(parts);
    }

    /// The test's text; `text` gives the text of a span.
    template <typename Text>
    [[nodiscard]] std::string textOf(const RowTest& test, const Text& text) const {
        const Expr& left = body_.expr(test.left);
        if (test.op == "!")
            return fmt::format("!({})", text(left.span));
        const bool isLoose = left.kind == ExprKind::Conditional ||
                             (left.kind == ExprKind::Binary &&
                              (left.op == "||" || left.op == "," || isAssignment(left.op)));
        if (test.op.empty())
            return isLoose ? "(" + text(left.span) + ")" : text(left.span);
        const auto side = [&](ExprId id) {
            const std::string plain{source_.slice(body_.expr(id).span)};
            const bool isOpen = besideComparison(source_, body_.expr(id)) != plain;
            return isOpen ? "(" + text(body_.expr(id).span) + ")" : text(body_.expr(id).span);
        };
        return fmt::format("{} {} {}", side(test.left), test.op, side(test.right));
    }

    /// The kernel's text with another name for the row.
    [[nodiscard]] std::string withRow(Span span, const std::string& row) const {
        std::vector<TextEdit> parts;
        for (const ExprId use : original_.uses(plan_.work.row))
            if (span.contains(body_.expr(use).span))
                parts.push_back({body_.expr(use).span, row});
        return replacedIn(span, std::move(parts));
    }

    /// A condition's text for another row.
    [[nodiscard]] std::string withCopy(Span span, int copy) const {
        std::vector<TextEdit> parts;
        for (const ExprId use : original_.uses(plan_.work.row))
            if (copy > 0 && span.contains(body_.expr(use).span))
                parts.push_back(rowEdit(original_, use, copy));
        return replacedIn(span, std::move(parts));
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
        if (const auto loaded = count_.loads.loadedAt.find(id);
            loaded != count_.loads.loadedAt.end())
            for (const std::size_t value : loaded->second)
                lines.add(loadText(value, id));
        const bool isCommon = stmt.kind == StmtKind::Declaration &&
                              std::ranges::none_of(stmt.declared, [&](VariableId local) {
                                  return plan_.varying.contains(local);
                              });
        for (int copy = 0; copy < (isCommon ? 1 : count_.rows); ++copy)
            lines.addBlock(replacedIn(stmt.span, substitutions(stmt.span, id, copy)),
                           layout_.indentation(stmt.span.begin));
    }

    /// `const float in0 = in[...];`
    [[nodiscard]] std::string loadText(std::size_t value, StmtId id) const {
        const LoadedValue& loaded = count_.loads.values[value];
        const Span span = count_.loads.places.at(loaded.load.expr);
        std::vector<TextEdit> parts = namesAndRows(span, id, loaded.load.row);
        return fmt::format("const {} {} = {};", loaded.type, names_.of(value),
                           replacedIn(span, std::move(parts)));
    }

    [[nodiscard]] std::vector<TextEdit> substitutions(Span span, StmtId id, int copy) const {
        std::vector<TextEdit> parts = namesAndRows(span, id, copy);
        for (const auto& [load, value] : count_.loads.valueOf) {
            const Span place = count_.loads.places.at(load.expr);
            if (load.row != copy || !span.contains(place))
                continue;
            std::erase_if(parts, [&](const TextEdit& part) { return place.contains(part.span); });
            parts.push_back({place, names_.of(value)});
        }
        return parts;
    }

    /// Edits for a copy of `span`, which is of the statement or the statement.
    [[nodiscard]] std::vector<TextEdit> namesAndRows(Span span, StmtId id, int copy) const {
        std::vector<TextEdit> parts = choices(span);
        for (const VariableId local : plan_.varying) {
            if (isInside(local, id))
                continue; // in a scope of its own
            const std::string& name = names_.of(local, copy);
            for (const ExprId use : code_.uses(local))
                if (span.contains(body_.expr(use).span))
                    parts.push_back({body_.expr(use).span, name});
            if (code_.declarationOf(local) == id && span.contains(body_.variable(local).span))
                parts.push_back({nameIn(local), name});
        }
        for (const ExprId use : code_.uses(plan_.work.row))
            if (copy > 0 && span.contains(body_.expr(use).span))
                parts.push_back(rowEdit(code_, use, copy));
        return parts;
    }

    /// The edits that leave out branches which the rows away from the edges do not take.
    [[nodiscard]] std::vector<TextEdit> choices(Span span) const {
        std::vector<TextEdit> parts;
        const auto keep = [&](Span whole, Span part, std::string_view open,
                              std::string_view close) {
            if (!span.contains(whole))
                return;
            parts.push_back({{whole.begin, part.begin}, std::string(open)});
            parts.push_back({{part.end, whole.end}, std::string(close)});
        };
        for (const auto& [whole, part] : plan_.inner.taken) {
            if (code_.statement(part) == noId)
                continue; // in a branch that is not taken
            const Expr& taken = body_.expr(part);
            const bool isOpen = body_.expr(whole).kind == ExprKind::Call &&
                                besideProduct(source_, taken) != source_.slice(taken.span) &&
                                !standsAlone(whole);
            keep(body_.expr(whole).span, taken.span, isOpen ? "(" : "", isOpen ? ")" : "");
        }
        for (const auto& [whole, part] : plan_.inner.branches) {
            const Span all = body_.stmt(whole).span;
            if (part != noId)
                keep(all, body_.stmt(part).span, "", "");
            else if (span.contains(all))
                parts.push_back({all, ";"});
        }
        return parts;
    }

    /// Whether the expression is a whole value, e.g. of an assignment, and needs no brackets.
    [[nodiscard]] bool standsAlone(ExprId expr) const {
        const ExprId parent = original_.parent(expr);
        return parent == noId ||
               (body_.expr(parent).kind == ExprKind::Binary && body_.expr(parent).op == "=");
    }

    /// The row `copy` further on in place of a use of the row. `y - 1` becomes `y + 2` for copy 3.
    [[nodiscard]] TextEdit rowEdit(const CodeMap& code, ExprId use, int copy) const {
        const ExprId parent = code.parent(use);
        const Expr* sum = parent == noId ? nullptr : &body_.expr(parent);
        const bool isShift = sum != nullptr && sum->kind == ExprKind::Binary &&
                             (sum->op == "+" || sum->op == "-") && sum->children[0] == use &&
                             !sum->fromMacro && isNumber(sum->children[1]);
        if (!isShift)
            return {body_.expr(use).span, rowText(code, use, copy)};
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

    /// The span with the brackets around it, unless they are a call's.
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

    /// The name in a declarator.
    [[nodiscard]] Span nameIn(VariableId local) const {
        const Variable& variable = body_.variable(local);
        for (const Token& token : lex(source_.text(), variable.span))
            if (token.text == variable.name)
                return token.span;
        return {variable.span.begin, variable.span.begin};
    }

    [[nodiscard]] std::string rowText(const CodeMap& code, ExprId use, int copy) const {
        const std::string text = fmt::format("{} + {}", row_, copy);
        const ExprId parent = code.parent(use);
        if (body_.expr(use).fromMacro) // It goes where a macro's parameter stands.
            return "(" + text + ")";
        if (parent == noId)
            return text;
        const Expr& above = body_.expr(parent);
        const bool isSide = above.kind == ExprKind::Binary &&
                            (!oppositeOperator(above.op).empty() || above.op == "=" ||
                             ((above.op == "+" || above.op == "-") && above.children[0] == use));
        const bool isIndex = above.kind == ExprKind::Subscript && above.children[1] == use;
        const bool isAlone = isSide || isIndex;
        return isAlone ? text : "(" + text + ")";
    }

    CodeMap original_;
    CodeMap code_; ///< The work of rows away from the edges.
    const FunctionBody& body_;
    const CoarseningPlan& plan_;
    const RowCount& count_;
    const SourceText& source_;
    SourceLayout layout_;
    CopyNames names_;
    std::string row_;
};

} // namespace

std::vector<TextEdit> rowCopies(const SkillContext& context, const CoarseningPlan& plan,
                                const RowCount& count) {
    return RowCopies(context, plan, count).edits();
}

} // namespace kernelskill::skills
