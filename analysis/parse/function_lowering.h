/// Lowers one function of a translation unit to plain data. Implementation detail of the parser.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/parse/clang_handle.h"
#include "analysis/parse/type_lowering.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kernelskill::analysis {

/// The target of a call, beyond its written name.
struct Callee {
    std::string qualifiedName;
    bool inSystemHeader = false;
};

/// Code that is not lowered to a tree, so that every walk over a tree is short: it becomes one
/// expression of kind Other named "omitted", whose children are the variables that it mentions.
struct Omission {
    enum class Reason : std::uint8_t {
        Nesting, ///< Expressions and statements are nested deeper than maxTreeNesting.
        Size,    ///< The function has more than maxTreeExpressions expressions.
    };
    Reason reason = Reason::Nesting;
    Span span;
};

/// Far more than usual code has. Walks over trees are recursive, and some take quadratic time.
inline constexpr int maxTreeNesting = 512;
inline constexpr std::size_t maxTreeExpressions = 40'000;

struct LoweredFunction {
    CXFile file = nullptr;
    Span span;
    Span nameSpan;
    Span bodySpan;
    bool fromMacro = false;
    FunctionBody body;
    std::vector<VariableId> parameters;
    std::vector<Span> parameterSpans;
    std::vector<TemplateParameter> templateParameters;
    std::map<ExprId, std::vector<Callee>> callees; ///< A dependent call has several.
    std::vector<LaunchSite> launches;              ///< Without `host`.
    std::optional<Omission> omission;              ///< The first part that was left out.
};

/// "blas::axpy" for a declaration in a namespace or class, without anonymous ones.
[[nodiscard]] std::string qualifiedNameOf(CXCursor declaration);

class FunctionLowering {
public:
    FunctionLowering(CXTranslationUnit unit, TypeLowering& types) : unit_(unit), types_(types) {}

    /// `function` is a definition: FunctionDecl, CXXMethod, Constructor or FunctionTemplate.
    [[nodiscard]] LoweredFunction lower(CXCursor function);

private:
    struct Place {
        Span span;
        bool fromMacro = false;
    };

    // function_lowering.cpp
    void lowerParameters(CXCursor function);
    void lowerTemplateParameter(CXCursor parameter);
    VariableId variableFor(CXCursor declaration);
    VariableId addLocal(CXCursor declaration, Span declarationSpan);
    Variable describeVariable(CXCursor declaration);
    [[nodiscard]] Place placeOf(CXCursor cursor) const;
    [[nodiscard]] Span withSemicolon(Span span) const;
    [[nodiscard]] std::string_view slice(Span span) const;
    /// The text of another file from `place` on, for tokens in a macro's definition.
    [[nodiscard]] std::string_view textAt(ClangPlace place) const;

    // statement_lowering.cpp
    StmtId lowerStatement(CXCursor cursor, StmtId parent);
    void lowerBlock(std::span<const CXCursor> children, Stmt& stmt, StmtId id);
    StmtId lowerOmittedStatements(std::span<const CXCursor> statements, StmtId parent,
                                  Omission::Reason reason);
    void lowerDeclarations(CXCursor cursor, Stmt& stmt);
    void lowerIf(const std::vector<CXCursor>& children, Stmt& stmt, StmtId id);
    void lowerFor(const std::vector<CXCursor>& children, Stmt& stmt, StmtId id);
    void lowerLoop(const std::vector<CXCursor>& children, Stmt& stmt, StmtId id, bool bodyFirst);
    void attachPragma(Stmt& stmt) const;

    // expression_lowering.cpp
    ExprId lowerExpression(CXCursor cursor);
    ExprId add(Expr expr);
    Expr startExpression(CXCursor cursor, ExprKind kind);
    ExprId lowerReference(CXCursor cursor);
    ExprId lowerMember(CXCursor cursor);
    ExprId lowerLiteral(CXCursor cursor);
    ExprId lowerUnary(CXCursor cursor);
    ExprId lowerBinary(CXCursor cursor);
    ExprId lowerCast(CXCursor cursor);
    ExprId lowerOpaque(CXCursor cursor, std::string name);
    ExprId lowerOmitted(CXCursor cursor, Omission::Reason reason);
    ExprId lowerWithChildren(CXCursor cursor, ExprKind kind, std::string name);
    void collectReferences(std::span<const CXCursor> roots, std::vector<ExprId>& references);
    [[nodiscard]] bool isTooLarge() const;

    // call_lowering.cpp
    ExprId lowerCall(CXCursor cursor);
    ExprId lowerOperatorCall(CXCursor cursor, const std::string& op,
                             const std::vector<CXCursor>& arguments);
    ExprId lowerConstruction(CXCursor cursor, const std::vector<CXCursor>& children);
    void describeCallee(CXCursor callee, Expr& call);
    std::vector<Callee> calleesOf(CXCursor call, CXCursor callee);
    void recordLaunch(CXCursor call, CXCursor callee, CXCursor configuration, const Expr& lowered);

    CXTranslationUnit unit_;
    TypeLowering& types_;
    LoweredFunction result_;
    std::string_view text_; ///< The text of the function's file.
    std::unordered_map<CXCursor, VariableId, CursorHash, CursorEqual> variables_;
    std::vector<CXCursor> globals_;
    int depth_ = 0;
};

/// The children that are expressions, in order.
[[nodiscard]] std::vector<CXCursor> expressionChildren(CXCursor cursor);
/// Skips implicit casts and parentheses.
[[nodiscard]] CXCursor unwrapped(CXCursor cursor);
/// False for defaulted arguments, which have no place.
[[nodiscard]] bool isWritten(CXCursor cursor);
/// The text of `<...>` after a name, split at its commas; empty if there is none.
[[nodiscard]] std::vector<std::string> writtenTemplateArguments(std::string_view nameText);

} // namespace kernelskill::analysis
