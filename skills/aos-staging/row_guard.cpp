#include "skills/aos-staging/row_guard.h"

#include "analysis/queries/grid_stride_loops.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/syntax/lexer.h"
#include "skills/aos-staging/record_reach.h"
#include "skills/base/gates.h"
#include "skills/editing/condition_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class GuardReader {
public:
    GuardReader(const SkillContext& context, const std::vector<StmtId>& work)
        : context_(context), code_(context.code()), body_(code_.body()), work_(work) {}

    Gated<RowGuard> read() {
        std::uint32_t begin = context_.kernel.bodySpan.end;
        for (const StmtId id : work_)
            begin = std::min(begin, body_.stmt(id).span.begin);
        for (const StmtId id : body_.stmt(body_.root).children) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.span.begin >= begin || !leaves(id))
                continue;
            if (!isExit(stmt) || !addConditions(stmt.condition, false))
                return refuse("guard",
                              fmt::format("threads leave the kernel on line {}, and the others "
                                          "would wait for them",
                                          lineNumber(context_, stmt.span.begin)));
            guard_.exits.push_back(id);
        }
        addBlocks();
        return std::move(guard_);
    }

private:
    [[nodiscard]] bool leaves(StmtId id) const {
        return std::ranges::any_of(code_.statementsIn(id), [&](StmtId inner) {
            return body_.stmt(inner).kind == StmtKind::Return ||
                   body_.stmt(inner).kind == StmtKind::Goto;
        });
    }

    /// `if (...) return;`, with or without brackets.
    [[nodiscard]] bool isExit(const Stmt& stmt) const {
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1 || stmt.init != noId)
            return false;
        const std::vector<StmtId> then = code_.statementsOf(stmt.children.front());
        return then.size() == 1 && body_.stmt(then.front()).kind == StmtKind::Return;
    }

    /// Adds the `if` around the work, where all statements of it stand under the same condition.
    void addBlocks() {
        const auto isAlike = [&](StmtId id) {
            const Stmt& stmt = body_.stmt(id);
            return stmt.kind == StmtKind::If && stmt.children.size() == 1 && stmt.init == noId &&
                   stmt.declared.empty() &&
                   code_.sameExpression(stmt.condition, body_.stmt(work_.front()).condition);
        };
        if (body_.stmt(work_.front()).kind != StmtKind::If || !std::ranges::all_of(work_, isAlike))
            return;
        const RowGuard before = guard_;
        if (addConditions(body_.stmt(work_.front()).condition, true))
            guard_.blocks = work_;
        else
            guard_ = before;
    }

    /// Adds the parts of a condition that has to hold, or has to fail; false if one is no bounds
    /// check.
    bool addConditions(ExprId condition, bool holds) {
        const Expr& expr = body_.expr(condition);
        if (expr.kind == ExprKind::Binary && expr.op == (holds ? "&&" : "||"))
            return addConditions(expr.children[0], holds) && addConditions(expr.children[1], holds);
        const auto check = boundsCheck(code_, condition);
        if (!check || check->whenTrue != holds || code_.isEverWritten(check->variable) ||
            !isIndexType(body_.variable(check->variable).type) ||
            !isUniformInput(code_, check->limit) || !isWrittenOut(check->limit))
            return false;
        const auto position = polynomialOf(code_, body_.variable(check->variable).init);
        if (!position)
            return false;
        if (!position->dependsOn(threadX)) {
            guard_.clauses.push_back(
                {condition, holds ? std::string(context_.file.source->slice(expr.span))
                                  : negated(context_, code_, condition)});
            return true;
        }
        if (!rowBegin(*position, 1))
            return false;
        guard_.bounds.push_back({check->variable, check->limit});
        return true;
    }

    /// Whether its text can stand elsewhere: it is not part of a macro's use.
    [[nodiscard]] bool isWrittenOut(ExprId id) const {
        const Expr& expr = body_.expr(id);
        return !expr.fromMacro || lex(context_.file.source->slice(expr.span)).size() == 1;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const std::vector<StmtId>& work_;
    RowGuard guard_;
};

} // namespace

bool RowGuard::holds(StmtId statement) const {
    return std::ranges::find(exits, statement) != exits.end() ||
           std::ranges::find(blocks, statement) != blocks.end();
}

StmtId RowGuard::first(const FunctionBody& body) const {
    StmtId found = noId;
    for (const auto* statements : {&exits, &blocks})
        for (const StmtId id : *statements)
            if (found == noId || body.stmt(id).span.begin < body.stmt(found).span.begin)
                found = id;
    return found;
}

Gated<RowGuard> rowGuard(const SkillContext& context, const std::vector<StmtId>& work) {
    return GuardReader(context, work).read();
}

std::optional<IndexExpression> rowBegin(const IndexExpression& polynomial, std::int64_t factor) {
    const IndexExpression begin =
        polynomial - IndexExpression::constant(factor) * IndexExpression::symbol(threadX);
    const bool isShared = std::ranges::none_of(begin.terms(), [](const auto& term) {
        return std::ranges::any_of(term.first, [](Symbol symbol) {
            return symbol == threadX || symbol.kind == SymbolKind::Opaque;
        });
    });
    return isShared ? std::optional(begin) : std::nullopt;
}

} // namespace kernelskill::skills
