/// A function's code as plain data, lowered from libclang once and free of it afterwards. Skills,
/// features, launch evaluation and repair read this; nothing below analysis/parse includes clang's
/// headers.
///
/// Nodes live in per-function arenas and are named by index, so that a model can be copied,
/// compared and kept while the translation unit is reparsed.
#pragma once

#include "analysis/source/source_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kernelskill::analysis {

using ExprId = std::uint32_t;
using StmtId = std::uint32_t;
using VariableId = std::uint32_t;
inline constexpr std::uint32_t noId = 0xffffffffu;

enum class ScalarKind : std::uint8_t {
    Unknown, // class types, dependent types
    Void,
    Bool,
    Char, // 8-bit integers
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Half,
    BFloat16,
    Float,
    Double,
};

/// A type as far as the product needs it. `float4*` is {scalar Float, lanes 4, pointerDepth 1}.
struct Type {
    std::string
        spelling; ///< The type as written, "const float *__restrict": to show and to rewrite.
    std::string canonical;                   ///< With aliases resolved, e.g. "const float *".
    ScalarKind scalar = ScalarKind::Unknown; ///< The innermost element's kind.
    std::uint8_t lanes = 1;                  ///< 4 for float4, 2 for half2 and __half2.
    std::uint8_t pointerDepth = 0; ///< Levels of pointer (a decayed array parameter counts as one).
    bool isReference = false;
    bool isConst =
        false; ///< The object itself is const: true for `float* const`, false for `const float*`.
    bool pointeeConst = false; ///< True if the outermost pointer points to something const.
    bool isRestrict = false;
    bool isVolatile = false; ///< The object, or what the outermost pointer points to, is volatile.
    /// A class (or an array of one) whose fields, and theirs, are numbers and enumerators alone.
    bool isPlainClass = false;
    bool isDependent = false;      ///< Depends on a template parameter; sizes are then 0.
    std::uint32_t size = 0;        ///< Size of an object in bytes; 0 when unknown.
    std::uint32_t elementSize = 0; ///< Size of the pointee or array element in bytes; 0 when there
                                   ///< is none or it is unknown.
    std::uint32_t alignment = 0;
    std::vector<std::int64_t>
        arrayExtents; ///< Outermost first; -1 where unknown. Empty: not an array.
};

enum class ExprKind : std::uint8_t {
    Integer,  ///< `integer` holds the value. Also char and bool literals, enumerators, sizeof
              ///< results.
    Floating, ///< `floating` holds the value.
    String,
    Variable, ///< `variable` names it; noId when it is not a variable of this function, see `name`.
    BuiltinIndex, ///< threadIdx.x and its kin: `name` is "threadIdx", `axis` 0..2. `warpSize` is an
                  ///< Integer.
    Member,       ///< children[0].name (or ->)
    Subscript,    ///< children[0] [ children[1] ]
    Call,         ///< `name` is the callee as written without template arguments ("atomicAdd",
          ///< "cg::this_thread_block"); children are the arguments. A method call has children[0] =
          ///< object and `isMethod`.
    Unary,  ///< `op` is "-", "!", "~", "*", "&", "++", "--" (prefix), "p++", "p--" (postfix)
    Binary, ///< `op` is the operator, "=" and compound assignments included, also overloaded ones.
    Conditional, ///< children: condition, then, else
    Cast,        ///< children[0], to `type`; implicit casts are left out
    InitList,    ///< also constructor calls: `name` is the type when written, e.g. dim3(a, b)
    Other,       ///< anything else; children in order
};

/// The name of an Other that stands for code which is left out because it is nested too deeply or
/// too long; its children are the variables that the code mentions.
inline constexpr std::string_view omittedCode = "omitted";

struct Expr {
    ExprKind kind = ExprKind::Other;
    Span span; ///< In the function's file; the macro's use when it comes out of a macro.
    bool fromMacro =
        false; ///< True if any token of it comes out of a macro expansion: do not edit.
    bool isMethod = false;
    bool isArrow = false;
    bool isOutput = false; ///< An argument that the callee may write to, through a reference.
    Type type;
    std::string op;
    std::string name;
    std::uint8_t axis = 0;
    VariableId variable = noId;
    std::int64_t integer = 0;
    double floating = 0;
    std::vector<std::string> templateArguments; ///< Template arguments of a call, as written.
    std::vector<ExprId> children;
};

enum class StmtKind : std::uint8_t {
    Compound,
    Declaration, ///< `declared` lists its variables
    Expression,  ///< `expr`
    If,          ///< `condition`, children: then [, else]
    For,         ///< `init` statement, `condition`, `increment`, children: body
    RangeFor,
    While, ///< `condition`, children: body
    Do,
    Switch,
    Case,   ///< Case and default labels; children: what follows
    Return, ///< `expr` or noId
    Break,
    Continue,
    Goto,
    Asm,
    Null,
    Other,
};

struct Stmt {
    StmtKind kind = StmtKind::Other;
    Span span; ///< With the closing ';' where there is one.
    bool fromMacro = false;
    StmtId parent = noId;
    ExprId expr = noId;
    ExprId condition = noId;
    ExprId increment = noId;
    StmtId init = noId;
    std::vector<VariableId> declared;
    std::vector<StmtId> children;
    std::string pragma; ///< Text of a `#pragma unroll ...` right before a loop, without "#pragma";
                        ///< else empty.
    Span pragmaSpan;    ///< Whole line of that pragma.
};

enum class Storage : std::uint8_t {
    Local,
    Parameter,
    Shared,        ///< __shared__ with known extents
    DynamicShared, ///< extern __shared__
    DeviceGlobal,  ///< __device__ / __managed__ at namespace scope
    Constant,      ///< __constant__
    HostGlobal,    ///< any other namespace-scope variable, constexpr included
};

struct Variable {
    std::string name;
    Type type;
    Storage storage = Storage::Local;
    Span span;            ///< The declarator, e.g. `tile[32][32]` or `i = 0`.
    Span declarationSpan; ///< The whole declaration with ';', shared by declarators of one
                          ///< statement.
    bool fromMacro = false;
    ExprId init = noId; ///< In the owning function's arena; noId for globals of other scopes.
    std::optional<std::int64_t> constantValue; ///< constexpr / const integral with known value.
};

/// One function's code. Variables holds parameters first, in order, then globals it names and
/// locals.
struct FunctionBody {
    std::vector<Expr> exprs;
    std::vector<Stmt> stmts;
    std::vector<Variable> variables;
    StmtId root = noId; ///< The outermost compound statement; noId for a mere declaration.

    [[nodiscard]] const Expr& expr(ExprId id) const { return exprs.at(id); }
    [[nodiscard]] const Stmt& stmt(StmtId id) const { return stmts.at(id); }
    [[nodiscard]] const Variable& variable(VariableId id) const { return variables.at(id); }
};

} // namespace kernelskill::analysis
