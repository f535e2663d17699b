#include "engine/review/code_conditions.h"

#include "analysis/queries/address_use.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::FunctionBody;
using analysis::noId;
using analysis::Span;
using analysis::Stmt;
using analysis::StmtKind;

bool isSpace(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

class ConditionFinder {
public:
    ConditionFinder(const analysis::KernelModel& function, std::string_view text)
        : function_(function), body_(function.body), text_(text) {}

    std::vector<CodeCondition> find() {
        for (const Stmt& stmt : body_.stmts)
            visit(stmt);
        for (const Stmt& stmt : body_.stmts) {
            if (!isLoop(stmt) || stmt.condition == noId)
                continue;
            for (auto& [span, condition] : found_)
                condition.isOfLoop |= body_.expr(stmt.condition).span.contains(span);
        }
        std::vector<CodeCondition> conditions;
        for (auto& [span, condition] : found_)
            conditions.push_back(std::move(condition));
        return conditions;
    }

private:
    static bool isLoop(const Stmt& stmt) {
        return stmt.kind == StmtKind::For || stmt.kind == StmtKind::While;
    }

    void visit(const Stmt& stmt) {
        for (const ExprId id : {stmt.expr, stmt.condition, stmt.increment})
            if (id != noId)
                visit(id);
        for (const analysis::VariableId id : stmt.declared) {
            const analysis::Variable& variable = body_.variable(id);
            if (variable.init != noId && !variable.constantValue && !isConstant(variable))
                visit(variable.init);
        }
        if ((!isLoop(stmt) && stmt.kind != StmtKind::If) || stmt.condition == noId ||
            !isWhole(body_.expr(stmt.condition).span))
            return;
        const auto part = [&](std::size_t at) {
            return at < stmt.children.size() ? std::optional(body_.stmt(stmt.children[at]).span)
                                             : std::nullopt;
        };
        add(stmt.condition, part(0), isLoop(stmt) ? std::nullopt : part(1));
    }

    void visit(ExprId id) {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Conditional && expr.children.size() == 3)
            add(expr.children[0], body_.expr(expr.children[1]).span,
                body_.expr(expr.children[2]).span);
        if (expr.kind == ExprKind::Binary && (expr.op == "&&" || expr.op == "||"))
            for (const ExprId operand : expr.children)
                add(operand, std::nullopt, std::nullopt);
        for (const ExprId child : expr.children)
            visit(child);
    }

    void add(ExprId id, std::optional<Span> whenTrue, std::optional<Span> whenFalse) {
        const Expr& expr = body_.expr(id);
        if (expr.fromMacro || !function_.bodySpan.contains(expr.span) || expr.span.empty() ||
            !dependsOnRun(id))
            return;
        CodeCondition& condition = found_[expr.span];
        condition.span = expr.span;
        condition.isOfAddress = dependsOnAddress(id, maxInitialisers);
        // An operand may have been found before the condition that it is the whole of.
        if (whenTrue)
            condition.whenTrue = whenTrue;
        if (whenFalse)
            condition.whenFalse = whenFalse;
    }

    /// Whether the statement's condition is nothing but the expression: a declaration may be one.
    [[nodiscard]] bool isWhole(Span span) const {
        std::size_t before = span.begin;
        while (before > 0 && isSpace(text_[before - 1]))
            --before;
        std::size_t after = span.end;
        while (after < text_.size() && isSpace(text_[after]))
            ++after;
        return before > 0 && (text_[before - 1] == '(' || text_[before - 1] == ';') &&
               after < text_.size() && (text_[after] == ')' || text_[after] == ';');
    }

    [[nodiscard]] bool isConstant(const analysis::Variable& variable) const {
        const Span span = variable.declarationSpan;
        const auto text = text_.substr(span.begin, span.end - span.begin);
        return text.contains("constexpr") || text.contains("static");
    }

    [[nodiscard]] bool dependsOnRun(ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::BuiltinIndex || expr.kind == ExprKind::Subscript)
            return true;
        if (expr.kind == ExprKind::Variable && expr.variable != noId) {
            const analysis::Variable& variable = body_.variable(expr.variable);
            if (variable.storage != analysis::Storage::HostGlobal && !variable.constantValue &&
                !isConstant(variable))
                return true;
        }
        return std::ranges::any_of(expr.children,
                                   [&](ExprId child) { return dependsOnRun(child); });
    }

    /// Follows the initialisers of so many variables.
    [[nodiscard]] bool dependsOnAddress(ExprId id, int initialisers) const {
        const Expr& expr = body_.expr(id);
        if (analysis::isAddressAsNumber(body_, id))
            return true;
        if (expr.kind == ExprKind::Variable && expr.variable != noId && initialisers > 0) {
            const ExprId init = body_.variable(expr.variable).init;
            return init != noId && dependsOnAddress(init, initialisers - 1);
        }
        return std::ranges::any_of(
            expr.children, [&](ExprId child) { return dependsOnAddress(child, initialisers); });
    }

    static constexpr int maxInitialisers = 4;
    const analysis::KernelModel& function_;
    const FunctionBody& body_;
    std::string_view text_;
    std::map<Span, CodeCondition> found_;
};

} // namespace

std::vector<CodeCondition> codeConditions(const ProgramSource& program) {
    std::vector<CodeCondition> conditions;
    const auto take = [&](const std::vector<analysis::KernelModel>& functions) {
        for (const analysis::KernelModel& function : functions) {
            const bool isConstexpr = std::ranges::find(program.model->hostOnly.constexprFunctions,
                                                       function.qualifiedName) !=
                                     program.model->hostOnly.constexprFunctions.end();
            if (function.file != program.file || function.fromMacro || isConstexpr ||
                function.bodySpan.end > program.text.size())
                continue;
            std::ranges::move(ConditionFinder(function, program.text).find(),
                              std::back_inserter(conditions));
        }
    };
    take(program.model->kernels);
    take(program.model->deviceFunctions);
    if (conditions.size() > maxWatched)
        conditions.resize(maxWatched);
    return conditions;
}

} // namespace kernelskill::engine
