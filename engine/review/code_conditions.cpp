#include "engine/review/code_conditions.h"

#include "analysis/model/leaving.h"
#include "analysis/queries/address_use.h"
#include "analysis/scan/macros.h"
#include "analysis/source/trimmed.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
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
    ConditionFinder(const analysis::KernelModel& function, std::string_view text,
                    bool isInConstexpr)
        : function_(function), body_(function.body), text_(text), isInConstexpr_(isInConstexpr) {}

    std::vector<CodeCondition> find() {
        for (const Stmt& stmt : body_.stmts)
            visit(stmt);
        std::vector<CodeCondition> conditions;
        for (auto& [span, condition] : found_)
            conditions.push_back(std::move(condition));
        return conditions;
    }

private:
    static bool isLoop(const Stmt& stmt) {
        return stmt.kind == StmtKind::For || stmt.kind == StmtKind::While ||
               stmt.kind == StmtKind::Do;
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
        if (stmt.condition == noId)
            return;
        if (stmt.kind == StmtKind::Switch)
            visitLabels(stmt);
        if (!isLoop(stmt) && stmt.kind != StmtKind::If)
            return;
        const std::optional<Span> condition = wholeCondition(stmt);
        if (!condition)
            return;
        const auto part = [&](std::size_t at) {
            return at < stmt.children.size() && stmt.kind != StmtKind::Do
                       ? std::optional(body_.stmt(stmt.children[at]).span)
                       : std::nullopt;
        };
        std::optional<Span> otherwise = isLoop(stmt) ? std::nullopt : part(1);
        if (stmt.kind == StmtKind::If && stmt.children.size() == 1 &&
            analysis::leaves(body_, stmt.children[0]))
            otherwise = restOfBlock(stmt);
        add(stmt.condition, *condition, part(0), otherwise);
    }

    /// Returns the code behind the statement in its block; nullopt if there is none.
    [[nodiscard]] std::optional<Span> restOfBlock(const Stmt& stmt) const {
        if (stmt.parent == noId || body_.stmt(stmt.parent).kind != StmtKind::Compound)
            return std::nullopt;
        const Stmt& block = body_.stmt(stmt.parent);
        const Span last = body_.stmt(block.children.back()).span;
        return last.end > stmt.span.end ? std::optional(Span{stmt.span.end, last.end})
                                        : std::nullopt;
    }

    /// A label's code reaches to the next label that has code.
    void visitLabels(const Stmt& stmt) {
        const std::optional<Span> condition = wholeCondition(stmt);
        if (!condition || stmt.children.empty() || !dependsOnRun(stmt.condition))
            return;
        std::vector<std::pair<std::uint32_t, Span>> labels; // Its begin, and its value.
        for (const Stmt& label : body_.stmts) {
            if (label.kind != StmtKind::Case || switchOf(label) != &stmt)
                continue;
            const std::optional<Span> value = valueOf(label);
            if (!value)
                return;
            labels.emplace_back(label.span.begin, *value);
        }
        std::ranges::sort(labels);
        std::optional<Span> code;
        std::uint32_t end = body_.stmt(stmt.children.front()).span.end;
        for (std::size_t i = labels.size(); i-- > 0;) {
            const auto& [begin, value] = labels[i];
            const auto colon = static_cast<std::uint32_t>(text_.find(':', value.end)) + 1;
            if (colon < end && !analysis::trimmed(text_.substr(colon, end - colon)).empty())
                code = Span{colon, end};
            end = begin;
            CodeCondition& found = found_[value];
            found.span = value;
            found.whenTrue = code;
            found.switched = *condition;
            found.isInConstexpr = isInConstexpr_;
        }
    }

    [[nodiscard]] const Stmt* switchOf(const Stmt& label) const {
        for (analysis::StmtId id = label.parent; id != noId; id = body_.stmt(id).parent)
            if (body_.stmt(id).kind == StmtKind::Switch)
                return &body_.stmt(id);
        return nullptr;
    }

    /// The span of a label's value, or of the word `default`.
    [[nodiscard]] std::optional<Span> valueOf(const Stmt& label) const {
        if (label.fromMacro || !function_.bodySpan.contains(label.span))
            return std::nullopt;
        const auto tokens = analysis::lex(text_, label.span);
        if (tokens.size() < 2)
            return std::nullopt;
        if (tokens[0].is("default"))
            return tokens[0].span;
        if (!tokens[0].is("case"))
            return std::nullopt;
        int choices = 0;
        for (std::size_t i = 1; i < tokens.size(); ++i) {
            if (tokens[i].is("?"))
                ++choices;
            else if (tokens[i].is(":") && choices-- == 0)
                return i > 1 ? std::optional(Span{tokens[1].span.begin, tokens[i - 1].span.end})
                             : std::nullopt;
        }
        return std::nullopt;
    }

    void visit(ExprId id) {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Conditional && expr.children.size() == 3)
            addOperand(expr.children[0], body_.expr(expr.children[1]).span,
                       body_.expr(expr.children[2]).span);
        if (expr.kind == ExprKind::Binary && (expr.op == "&&" || expr.op == "||"))
            for (const ExprId operand : expr.children)
                addOperand(operand, std::nullopt, std::nullopt);
        for (const ExprId child : expr.children)
            visit(child);
    }

    void addOperand(ExprId id, std::optional<Span> whenTrue, std::optional<Span> whenFalse) {
        if (!body_.expr(id).fromMacro)
            add(id, body_.expr(id).span, whenTrue, whenFalse);
    }

    /// `span` is that of the expression, or of the macro's use that is all of it.
    void add(ExprId id, Span span, std::optional<Span> whenTrue, std::optional<Span> whenFalse) {
        if (!function_.bodySpan.contains(span) || span.empty() || !dependsOnRun(id))
            return;
        CodeCondition& condition = found_[span];
        condition.span = span;
        condition.isOfAddress = dependsOnAddress(id, maxInitialisers);
        addComparedNumbers(id, condition);
        condition.isInConstexpr = isInConstexpr_;
        // An operand may have been found before the condition that it is the whole of.
        if (whenTrue)
            condition.whenTrue = whenTrue;
        if (whenFalse)
            condition.whenFalse = whenFalse;
    }

    /// A macro's name and its arguments, from `begin` on.
    [[nodiscard]] Span useOfMacro(std::uint32_t begin) const {
        const auto tokens = analysis::lex(text_, {begin, function_.bodySpan.end});
        if (tokens.empty() || !tokens[0].isIdentifier())
            return {begin, begin};
        const std::size_t close =
            tokens.size() > 1 && tokens[1].is("(") ? analysis::matchingBracket(tokens, 1) : 0;
        return {begin, tokens[close < tokens.size() ? close : 0].span.end};
    }

    /// The span of the statement's condition, or of the macro's use that makes it up. nullopt if
    /// the condition is more than an expression, as a declaration is.
    [[nodiscard]] std::optional<Span> wholeCondition(const Stmt& stmt) const {
        const Expr& expr = body_.expr(stmt.condition);
        if (stmt.fromMacro || !function_.bodySpan.contains(expr.span))
            return std::nullopt;
        const Span span = expr.fromMacro ? useOfMacro(expr.span.begin) : expr.span;
        std::size_t before = span.begin;
        while (before > 0 && isSpace(text_[before - 1]))
            --before;
        std::size_t after = span.end;
        while (after < text_.size() && isSpace(text_[after]))
            ++after;
        const bool isWhole = before > 0 && (text_[before - 1] == '(' || text_[before - 1] == ';') &&
                             after < text_.size() && (text_[after] == ')' || text_[after] == ';');
        return isWhole ? std::optional(span) : std::nullopt;
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

    /// Whether the expression is a number other than zero, literal or named.
    [[nodiscard]] bool isNumber(ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Cast && !expr.children.empty())
            return isNumber(expr.children.front());
        if (expr.kind == ExprKind::Unary && expr.op == "-")
            return isNumber(expr.children.front());
        if (expr.kind == ExprKind::Variable && expr.variable != noId)
            return body_.variable(expr.variable).constantValue.value_or(0) != 0;
        return (expr.kind == ExprKind::Integer && expr.integer != 0) ||
               (expr.kind == ExprKind::Floating && expr.floating != 0);
    }

    /// Adds the numbers that the condition compares something with, see CodeCondition.
    void addComparedNumbers(ExprId id, CodeCondition& condition) const {
        const Expr& expr = body_.expr(id);
        const bool isBinary = expr.kind == ExprKind::Binary;
        const bool isOrder =
            isBinary && (expr.op == "<" || expr.op == "<=" || expr.op == ">" || expr.op == ">=");
        const bool isEquality = isBinary && (expr.op == "==" || expr.op == "!=");
        for (const ExprId child : expr.children) {
            if ((isOrder || isEquality) && isNumber(child)) {
                const Span span = body_.expr(child).span;
                condition.equalsNumber |= isEquality;
                if (isOrder)
                    condition.bounds.emplace_back(text_.substr(span.begin, span.end - span.begin));
            }
            addComparedNumbers(child, condition);
        }
    }

    /// Whether an address taken as a number is in the expression. Follows that many initialisers of
    /// variables.
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
    bool isInConstexpr_;
    std::map<Span, CodeCondition> found_;
};

/// Whether both name one file.
bool isSameFile(const std::string& one, const std::string& other) {
    return one == other || std::filesystem::path(one).lexically_normal() ==
                               std::filesystem::path(other).lexically_normal();
}

/// Calls `use` for each kernel and device function of the file.
template <typename Use>
void forEachFunction(const ProgramSource& program, const std::string& file, std::string_view text,
                     Use use) {
    for (const auto* functions : {&program.model->kernels, &program.model->deviceFunctions}) {
        for (const analysis::KernelModel& function : *functions)
            if (isSameFile(function.file, file) && !function.fromMacro &&
                function.bodySpan.end <= text.size())
                use(function);
    }
}

} // namespace

std::vector<CodeCondition> codeConditions(const ProgramSource& program, const std::string& file,
                                          std::string_view text) {
    std::vector<CodeCondition> conditions;
    const auto& constants = program.model->hostOnly.constexprFunctions;
    forEachFunction(program, file, text, [&](const analysis::KernelModel& function) {
        const auto head =
            text.substr(function.span.begin, function.bodySpan.begin - function.span.begin);
        const bool isConstexpr =
            head.contains("constexpr") ||
            std::ranges::find(constants, function.qualifiedName) != constants.end();
        std::ranges::move(ConditionFinder(function, text, isConstexpr).find(),
                          std::back_inserter(conditions));
    });
    return conditions;
}

std::vector<CodeCondition> codeConditions(const ProgramSource& program) {
    return codeConditions(program, program.file, program.text);
}

std::vector<Span> unreadCode(const ProgramSource& program, const std::string& file,
                             std::string_view text) {
    std::vector<Span> unread;
    forEachFunction(program, file, text, [&](const analysis::KernelModel& function) {
        for (const Expr& expr : function.body.exprs)
            if (expr.kind == ExprKind::Other &&
                (expr.name == "lambda" || expr.name == analysis::omittedCode))
                unread.push_back(expr.span);
    });
    for (const analysis::Token& token : analysis::lex(text))
        if (token.kind == analysis::TokenKind::Directive &&
            analysis::directiveParts(token.text).name == "define")
            unread.push_back(token.span);
    return unread;
}

} // namespace kernelskill::engine
