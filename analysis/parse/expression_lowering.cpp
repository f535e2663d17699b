#include "analysis/model/known_functions.h"
#include "analysis/parse/function_lowering.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace kernelskill::analysis {

namespace {

std::string_view unaryOperator(CXUnaryOperatorKind kind) {
    switch (kind) {
    case CXUnaryOperator_PostInc:
        return "p++";
    case CXUnaryOperator_PostDec:
        return "p--";
    case CXUnaryOperator_PreInc:
        return "++";
    case CXUnaryOperator_PreDec:
        return "--";
    case CXUnaryOperator_AddrOf:
        return "&";
    case CXUnaryOperator_Deref:
        return "*";
    case CXUnaryOperator_Plus:
        return "+";
    case CXUnaryOperator_Minus:
        return "-";
    case CXUnaryOperator_Not:
        return "~";
    case CXUnaryOperator_LNot:
        return "!";
    default:
        return "";
    }
}

bool isCast(CXCursorKind kind) {
    return kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXFunctionalCastExpr ||
           kind == CXCursor_CXXStaticCastExpr || kind == CXCursor_CXXReinterpretCastExpr ||
           kind == CXCursor_CXXConstCastExpr || kind == CXCursor_CXXDynamicCastExpr ||
           kind == CXCursor_CXXAddrspaceCastExpr;
}

/// The member's name at the end of `text`, e.g. "size" in `p->template size<4>`; empty if there is
/// none.
std::string lastMemberName(std::string_view text) {
    const std::vector<Token> tokens = lex(text);
    for (std::size_t i = tokens.size(); i-- > 1;) {
        const bool selects = tokens[i - 1].text == "." || tokens[i - 1].text == "->" ||
                             tokens[i - 1].text == "template" || tokens[i - 1].text == "::";
        if (tokens[i].kind == TokenKind::Identifier && selects)
            return std::string(tokens[i].text);
    }
    return {};
}

} // namespace

std::vector<CXCursor> expressionChildren(CXCursor cursor) {
    std::vector<CXCursor> children;
    forEachChild(cursor, [&](CXCursor child) {
        if (clang_isExpression(clang_getCursorKind(child)) != 0)
            children.push_back(child);
    });
    return children;
}

CXCursor unwrapped(CXCursor cursor) {
    while (true) {
        const CXCursorKind kind = clang_getCursorKind(cursor);
        if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr)
            return cursor;
        const std::vector<CXCursor> children = expressionChildren(cursor);
        if (children.size() != 1)
            return cursor;
        cursor = children.front();
    }
}

bool isWritten(CXCursor cursor) {
    return expansionLocation(clang_getCursorLocation(cursor)).file != nullptr;
}

ExprId FunctionLowering::add(Expr expr) {
    result_.body.exprs.push_back(std::move(expr));
    return static_cast<ExprId>(result_.body.exprs.size() - 1);
}

Expr FunctionLowering::startExpression(CXCursor cursor, ExprKind kind) {
    Expr expr;
    expr.kind = kind;
    const Place place = placeOf(cursor);
    expr.span = place.span;
    expr.fromMacro = place.fromMacro;
    expr.type = types_.lower(clang_getCursorType(cursor));
    return expr;
}

ExprId FunctionLowering::lowerExpression(CXCursor cursor) {
    struct DepthGuard {
        int& depth;
        explicit DepthGuard(int& d) : depth(d) { ++depth; }
        ~DepthGuard() { --depth; }
    };
    const DepthGuard guard(depth_);
    if (depth_ > maxTreeNesting)
        return lowerOmitted(cursor, Omission::Reason::Nesting);
    if (isTooLarge())
        return lowerOmitted(cursor, Omission::Reason::Size);
    cursor = unwrapped(cursor);
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (isCast(kind))
        return lowerCast(cursor);
    switch (kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_StringLiteral:
        return lowerLiteral(cursor);
    case CXCursor_DeclRefExpr:
        return lowerReference(cursor);
    case CXCursor_MemberRefExpr:
        return lowerMember(cursor);
    case CXCursor_ArraySubscriptExpr:
        return lowerWithChildren(cursor, ExprKind::Subscript, {});
    case CXCursor_CallExpr:
        return lowerCall(cursor);
    case CXCursor_UnaryOperator:
        return lowerUnary(cursor);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
        return lowerBinary(cursor);
    case CXCursor_ConditionalOperator:
        return lowerWithChildren(cursor, ExprKind::Conditional, {});
    case CXCursor_InitListExpr:
        return lowerWithChildren(cursor, ExprKind::InitList, {});
    case CXCursor_UnaryExpr: { // sizeof, alignof.
        const ClangEvaluation value(clang_Cursor_Evaluate(cursor));
        if (!value || clang_EvalResult_getKind(value.get()) != CXEval_Int)
            return lowerOpaque(cursor, "sizeof");
        Expr expr = startExpression(cursor, ExprKind::Integer);
        expr.integer = clang_EvalResult_getAsLongLong(value.get());
        return add(std::move(expr));
    }
    case CXCursor_LambdaExpr:
        return lowerOpaque(cursor, "lambda");
    case CXCursor_StmtExpr:
        return lowerOpaque(cursor, "statement-expression");
    case CXCursor_CXXThisExpr:
        return lowerOpaque(cursor, "this");
    default:
        return lowerWithChildren(cursor, ExprKind::Other, spellingOf(cursor));
    }
}

ExprId FunctionLowering::lowerLiteral(CXCursor cursor) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    Expr expr = startExpression(cursor, ExprKind::Integer);
    if (kind == CXCursor_StringLiteral) {
        expr.kind = ExprKind::String;
        expr.name = spellingOf(cursor);
        return add(std::move(expr));
    }
    const ClangEvaluation value(clang_Cursor_Evaluate(cursor));
    if (kind == CXCursor_FloatingLiteral) {
        expr.kind = ExprKind::Floating;
        expr.floating = value ? clang_EvalResult_getAsDouble(value.get()) : 0;
    } else if (value && clang_EvalResult_getKind(value.get()) == CXEval_Int) {
        expr.integer = clang_EvalResult_getAsLongLong(value.get());
    }
    return add(std::move(expr));
}

ExprId FunctionLowering::lowerReference(CXCursor cursor) {
    Expr expr = startExpression(cursor, ExprKind::Variable);
    const CXCursor referenced = clang_getCursorReferenced(cursor);
    expr.name = spellingOf(cursor);
    if (clang_getCursorKind(referenced) == CXCursor_EnumConstantDecl) {
        expr.kind = ExprKind::Integer;
        expr.integer = clang_getEnumConstantDeclValue(referenced);
        return add(std::move(expr));
    }
    if (expr.name == "warpSize") {
        expr.kind = ExprKind::Integer;
        expr.integer = 32;
        return add(std::move(expr));
    }
    if (expr.name.empty())
        expr.name = std::string(slice(expr.span));
    expr.variable = variableFor(referenced);
    if (expr.variable != noId) {
        const Variable& variable = result_.body.variable(expr.variable);
        if (variable.storage == Storage::Parameter && !expr.type.arrayExtents.empty())
            expr.type = variable.type;
    }
    return add(std::move(expr));
}

ExprId FunctionLowering::lowerMember(CXCursor cursor) {
    const std::vector<CXCursor> children = expressionChildren(cursor);
    std::string name = spellingOf(cursor);
    const CXCursor object = children.empty() ? clang_getNullCursor() : unwrapped(children.front());
    if (!children.empty() && clang_getCursorKind(object) == CXCursor_DeclRefExpr) {
        const std::string base = spellingOf(object);
        if (isBuiltinIndex(base)) {
            // clang's own headers make the axes properties, which have no name here.
            if (name.empty()) {
                const std::string_view text =
                    textAt(spellingLocation(clang_getCursorLocation(object)));
                const std::vector<Token> tokens =
                    lex(text.substr(0, std::min<std::size_t>(text.size(), 64)));
                if (tokens.size() >= 3)
                    name = std::string(tokens[2].text);
            }
            if (name == "x" || name == "y" || name == "z") {
                Expr expr = startExpression(cursor, ExprKind::BuiltinIndex);
                expr.name = base;
                expr.axis = static_cast<std::uint8_t>(name[0] - 'x');
                expr.type = {};
                expr.type.spelling = expr.type.canonical = "unsigned int";
                expr.type.scalar = ScalarKind::UInt32;
                expr.type.size = expr.type.alignment = 4;
                return add(std::move(expr));
            }
        }
    }
    Expr expr = startExpression(cursor, ExprKind::Member);
    expr.name = name.empty() ? lastMemberName(slice(expr.span)) : std::move(name);
    if (!children.empty()) {
        const Span base = placeOf(children.front()).span;
        const std::uint32_t next = skipTrivia(text_, base.end);
        expr.isArrow = text_.substr(std::min<std::size_t>(next, text_.size())).starts_with("->");
        const ExprId child = lowerExpression(children.front());
        expr.children.push_back(child);
    }
    return add(std::move(expr));
}

ExprId FunctionLowering::lowerUnary(CXCursor cursor) {
    Expr expr = startExpression(cursor, ExprKind::Unary);
    expr.op = unaryOperator(clang_getCursorUnaryOperatorKind(cursor));
    const std::vector<CXCursor> children = expressionChildren(cursor);
    for (const CXCursor child : children) {
        const ExprId lowered = lowerExpression(child);
        expr.children.push_back(lowered);
    }
    if (expr.op.empty() || expr.children.size() != 1)
        expr.kind = ExprKind::Other;
    else if (expr.op == "+")
        return expr.children.front();
    return add(std::move(expr));
}

ExprId FunctionLowering::lowerBinary(CXCursor cursor) {
    Expr expr = startExpression(cursor, ExprKind::Binary);
    expr.op =
        takeString(clang_getBinaryOperatorKindSpelling(clang_getCursorBinaryOperatorKind(cursor)));
    for (const CXCursor child : expressionChildren(cursor)) {
        const ExprId lowered = lowerExpression(child);
        expr.children.push_back(lowered);
    }
    if (expr.op.empty() || expr.children.size() != 2)
        expr.kind = ExprKind::Other;
    return add(std::move(expr));
}

ExprId FunctionLowering::lowerCast(CXCursor cursor) {
    const std::vector<CXCursor> children = expressionChildren(cursor);
    if (children.empty())
        return add(startExpression(cursor, ExprKind::Other));
    const CXCursor operand = unwrapped(children.back());
    if (clang_getCursorKind(cursor) == CXCursor_CXXFunctionalCastExpr &&
        clang_getCursorKind(operand) == CXCursor_CallExpr &&
        clang_getCursorKind(clang_getCursorReferenced(operand)) == CXCursor_Constructor) {
        // For dim3(a): the construction, with the place of the cast.
        Expr expr = startExpression(cursor, ExprKind::InitList);
        expr.name = expr.type.spelling;
        for (const CXCursor argument : expressionChildren(operand)) {
            if (!isWritten(argument))
                continue;
            const ExprId lowered = lowerExpression(argument);
            expr.children.push_back(lowered);
        }
        return add(std::move(expr));
    }
    Expr expr = startExpression(cursor, ExprKind::Cast);
    const ExprId lowered = lowerExpression(children.back());
    expr.children.push_back(lowered);
    return add(std::move(expr));
}

ExprId FunctionLowering::lowerWithChildren(CXCursor cursor, ExprKind kind, std::string name) {
    Expr expr = startExpression(cursor, kind);
    expr.name = std::move(name);
    for (const CXCursor child : expressionChildren(cursor)) {
        if (!isWritten(child))
            continue;
        const ExprId lowered = lowerExpression(child);
        expr.children.push_back(lowered);
    }
    const std::size_t expected = kind == ExprKind::Subscript     ? 2
                                 : kind == ExprKind::Conditional ? 3
                                                                 : 0;
    if (expected != 0 && expr.children.size() != expected)
        expr.kind = ExprKind::Other;
    return add(std::move(expr));
}

/// Lowers an expression without its structure: its children are the variables that it mentions.
ExprId FunctionLowering::lowerOpaque(CXCursor cursor, std::string name) {
    Expr expr = startExpression(cursor, ExprKind::Other);
    expr.name = std::move(name);
    collectReferences({&cursor, 1}, expr.children);
    return add(std::move(expr));
}

ExprId FunctionLowering::lowerOmitted(CXCursor cursor, Omission::Reason reason) {
    const ExprId id = lowerOpaque(cursor, std::string(omittedCode));
    if (!result_.omission)
        result_.omission = {reason, result_.body.exprs[id].span};
    return id;
}

bool FunctionLowering::isTooLarge() const {
    return result_.body.exprs.size() > maxTreeExpressions;
}

/// One reference for each variable that is mentioned below `roots`. Keeps a stack of its own,
/// because this is what runs where code is nested too deeply to recurse.
void FunctionLowering::collectReferences(std::span<const CXCursor> roots,
                                         std::vector<ExprId>& references) {
    std::unordered_set<VariableId> mentioned;
    std::vector<CXCursor> pending(roots.rbegin(), roots.rend());
    while (!pending.empty()) {
        const CXCursor cursor = pending.back();
        pending.pop_back();
        if (clang_getCursorKind(cursor) != CXCursor_DeclRefExpr) {
            const std::vector<CXCursor> children = childrenOf(cursor);
            pending.insert(pending.end(), children.rbegin(), children.rend());
            continue;
        }
        const CXCursor referenced = clang_getCursorReferenced(cursor);
        const CXCursorKind kind = clang_getCursorKind(referenced);
        const bool isVariable = kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl;
        if (isVariable && mentioned.insert(variableFor(referenced)).second)
            references.push_back(lowerReference(cursor));
    }
}

} // namespace kernelskill::analysis
