#include "analysis/parse/function_lowering.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

StmtKind statementKind(CXCursorKind kind) {
    switch (kind) {
    case CXCursor_CompoundStmt:
        return StmtKind::Compound;
    case CXCursor_DeclStmt:
        return StmtKind::Declaration;
    case CXCursor_IfStmt:
        return StmtKind::If;
    case CXCursor_ForStmt:
        return StmtKind::For;
    case CXCursor_CXXForRangeStmt:
        return StmtKind::RangeFor;
    case CXCursor_WhileStmt:
        return StmtKind::While;
    case CXCursor_DoStmt:
        return StmtKind::Do;
    case CXCursor_SwitchStmt:
        return StmtKind::Switch;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
        return StmtKind::Case;
    case CXCursor_ReturnStmt:
        return StmtKind::Return;
    case CXCursor_BreakStmt:
        return StmtKind::Break;
    case CXCursor_ContinueStmt:
        return StmtKind::Continue;
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
        return StmtKind::Goto;
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt:
        return StmtKind::Asm;
    case CXCursor_NullStmt:
        return StmtKind::Null;
    default:
        return StmtKind::Other;
    }
}

bool isExpression(CXCursor cursor) {
    return clang_isExpression(clang_getCursorKind(cursor)) != 0;
}
bool isStatement(CXCursor cursor) {
    return clang_isStatement(clang_getCursorKind(cursor)) != 0;
}

} // namespace

StmtId FunctionLowering::lowerStatement(CXCursor cursor, StmtId parent) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_UnexposedStmt) { // Attributes and pragmas wrap their statement.
        const std::vector<CXCursor> children = childrenOf(cursor);
        const auto inner = std::ranges::find_if(
            children, [](CXCursor child) { return isStatement(child) || isExpression(child); });
        if (inner != children.end() && std::ranges::count_if(children, isStatement) <= 1)
            return lowerStatement(*inner, parent);
    }
    if (depth_ >= maxTreeNesting)
        return lowerOmittedStatements({&cursor, 1}, parent, Omission::Reason::Nesting);
    ++depth_;
    const auto id = static_cast<StmtId>(result_.body.stmts.size());
    result_.body.stmts.emplace_back();
    const Place place = placeOf(cursor);
    Stmt stmt;
    stmt.kind = isExpression(cursor) ? StmtKind::Expression : statementKind(kind);
    stmt.span = place.span;
    stmt.fromMacro = place.fromMacro;
    stmt.parent = parent;
    const std::vector<CXCursor> children =
        stmt.kind == StmtKind::Expression ? std::vector<CXCursor>{} : childrenOf(cursor);
    switch (stmt.kind) {
    case StmtKind::Expression:
        stmt.expr = lowerExpression(cursor);
        stmt.span = withSemicolon(stmt.span);
        break;
    case StmtKind::Declaration:
        stmt.span = withSemicolon(stmt.span);
        lowerDeclarations(cursor, stmt);
        break;
    case StmtKind::If:
        lowerIf(children, stmt, id);
        break;
    case StmtKind::For:
        lowerFor(children, stmt, id);
        attachPragma(stmt);
        break;
    case StmtKind::RangeFor:
    case StmtKind::While:
    case StmtKind::Switch:
        lowerLoop(children, stmt, id, false);
        attachPragma(stmt);
        break;
    case StmtKind::Do:
        lowerLoop(children, stmt, id, true);
        stmt.span = withSemicolon(stmt.span);
        attachPragma(stmt);
        break;
    case StmtKind::Case:
        for (std::size_t i = 0; i < children.size(); ++i) {
            if (kind == CXCursor_CaseStmt && i + 1 < children.size())
                stmt.expr = lowerExpression(children[i]);
            else
                stmt.children.push_back(lowerStatement(children[i], id));
        }
        break;
    case StmtKind::Return:
        for (const CXCursor child : children)
            if (isExpression(child))
                stmt.expr = lowerExpression(child);
        stmt.span = withSemicolon(stmt.span);
        break;
    default:
        lowerBlock(children, stmt, id);
        if (stmt.kind != StmtKind::Compound)
            stmt.span = withSemicolon(stmt.span);
        break;
    }
    --depth_;
    // clang ends a loop at its body's last token. If the body is an expression, its ';' comes after
    // that.
    if (!stmt.fromMacro)
        for (const StmtId child : stmt.children)
            if (!result_.body.stmts[child].fromMacro)
                stmt.span.end = std::max(stmt.span.end, result_.body.stmts[child].span.end);
    result_.body.stmts[id] = std::move(stmt);
    return id;
}

void FunctionLowering::lowerBlock(std::span<const CXCursor> children, Stmt& stmt, StmtId id) {
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (!isStatement(children[i]) && !isExpression(children[i]))
            continue;
        if (isTooLarge()) {
            stmt.children.push_back(
                lowerOmittedStatements(children.subspan(i), id, Omission::Reason::Size));
            return;
        }
        stmt.children.push_back(lowerStatement(children[i], id));
    }
}

/// `statements` as one: an expression that mentions what they mention.
StmtId FunctionLowering::lowerOmittedStatements(std::span<const CXCursor> statements, StmtId parent,
                                                Omission::Reason reason) {
    const Place first = placeOf(statements.front());
    const Place last = placeOf(statements.back());
    Stmt stmt;
    stmt.kind = StmtKind::Expression;
    stmt.span = withSemicolon({first.span.begin, std::max(first.span.end, last.span.end)});
    stmt.fromMacro = first.fromMacro || last.fromMacro;
    stmt.parent = parent;
    Expr expr;
    expr.name = omittedCode;
    expr.span = stmt.span;
    expr.fromMacro = stmt.fromMacro;
    collectReferences(statements, expr.children);
    stmt.expr = add(std::move(expr));
    if (!result_.omission)
        result_.omission = {reason, stmt.span};
    result_.body.stmts.push_back(std::move(stmt));
    return static_cast<StmtId>(result_.body.stmts.size() - 1);
}

void FunctionLowering::lowerDeclarations(CXCursor cursor, Stmt& stmt) {
    forEachChild(cursor, [&](CXCursor child) {
        if (clang_getCursorKind(child) == CXCursor_VarDecl)
            stmt.declared.push_back(addLocal(child, stmt.span));
    });
}

/// The children are: [init statement] [condition's declaration] condition, then, [else].
void FunctionLowering::lowerIf(const std::vector<CXCursor>& children, Stmt& stmt, StmtId id) {
    std::size_t i = 0;
    while (i < children.size() && (clang_getCursorKind(children[i]) == CXCursor_DeclStmt ||
                                   clang_isDeclaration(clang_getCursorKind(children[i])) != 0)) {
        if (clang_getCursorKind(children[i]) == CXCursor_DeclStmt)
            stmt.init = lowerStatement(children[i], id);
        else if (clang_getCursorKind(children[i]) == CXCursor_VarDecl)
            stmt.declared.push_back(addLocal(children[i], placeOf(children[i]).span));
        ++i;
    }
    if (i < children.size() && isExpression(children[i]))
        stmt.condition = lowerExpression(children[i++]);
    for (; i < children.size(); ++i)
        if (isStatement(children[i]) || isExpression(children[i]))
            stmt.children.push_back(lowerStatement(children[i], id));
}

/// The semicolons tell which of init, condition and increment are present.
void FunctionLowering::lowerFor(const std::vector<CXCursor>& children, Stmt& stmt, StmtId id) {
    if (children.empty())
        return;
    const std::uint32_t bodyBegin = placeOf(children.back()).span.begin;
    const std::vector<Token> tokens =
        lex(text_, {stmt.span.begin, std::max(bodyBegin, stmt.span.begin)});
    std::vector<std::uint32_t> semicolons;
    int depth = 0;
    for (const Token& token : tokens) {
        if (token.text == "(" || token.text == "{" || token.text == "[")
            ++depth;
        else if (token.text == ")" || token.text == "}" || token.text == "]")
            --depth;
        else if (token.text == ";" && depth == 1)
            semicolons.push_back(token.span.begin);
    }
    const bool knownLayout = semicolons.size() == 2 && !stmt.fromMacro;
    for (std::size_t i = 0; i + 1 < children.size(); ++i) {
        const std::uint32_t begin = placeOf(children[i]).span.begin;
        const std::size_t role = knownLayout ? (begin < semicolons[0]   ? 0
                                                : begin < semicolons[1] ? 1
                                                                        : 2)
                                             : (children.size() == 4 ? i : i + 1);
        if (role == 0)
            stmt.init = lowerStatement(children[i], id);
        else if (!isExpression(children[i]))
            continue;
        else if (role == 1)
            stmt.condition = lowerExpression(children[i]);
        else
            stmt.increment = lowerExpression(children[i]);
    }
    stmt.children.push_back(lowerStatement(children.back(), id));
}

void FunctionLowering::lowerLoop(const std::vector<CXCursor>& children, Stmt& stmt, StmtId id,
                                 bool bodyFirst) {
    for (std::size_t i = 0; i < children.size(); ++i) {
        const bool isBody = bodyFirst ? i == 0 : i + 1 == children.size();
        if (isBody)
            stmt.children.push_back(lowerStatement(children[i], id));
        else if (isExpression(children[i]))
            stmt.condition = lowerExpression(children[i]);
        else if (clang_getCursorKind(children[i]) == CXCursor_VarDecl)
            stmt.declared.push_back(addLocal(children[i], placeOf(children[i]).span));
        else if (clang_getCursorKind(children[i]) == CXCursor_DeclStmt)
            stmt.init = lowerStatement(children[i], id);
    }
}

void FunctionLowering::attachPragma(Stmt& stmt) const {
    if (stmt.fromMacro || stmt.span.begin > text_.size())
        return;
    // The line of the loop, then the nearest line above it that is not blank.
    auto lineBegin = text_.substr(0, stmt.span.begin).rfind('\n');
    while (lineBegin != std::string_view::npos && lineBegin > 0) {
        const auto previous = text_.substr(0, lineBegin).rfind('\n');
        const auto begin = previous == std::string_view::npos ? 0 : previous + 1;
        std::string_view line = text_.substr(begin, lineBegin - begin);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        const auto first = line.find_first_not_of(" \t");
        if (first == std::string_view::npos) {
            lineBegin = previous;
            continue;
        }
        const std::vector<Token> tokens = lex(line);
        if (tokens.empty() || tokens[0].kind != TokenKind::Directive)
            return;
        const std::vector<Token> words = lex(tokens[0].text, {1, tokens[0].span.size()});
        if (words.size() < 2 || words[0].text != "pragma" || !words[1].text.contains("unroll"))
            return;
        stmt.pragma = std::string(tokens[0].text.substr(words[1].span.begin));
        stmt.pragmaSpan = {static_cast<std::uint32_t>(begin),
                           static_cast<std::uint32_t>(begin + line.size())};
        return;
    }
}

} // namespace kernelskill::analysis
