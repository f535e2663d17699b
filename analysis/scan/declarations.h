/// The declarations of a C++ text at namespace and class level, found from its tokens alone.
///
/// Declarations are recognised by their shape, not parsed. The result decides what to leave out of
/// a text; the caller must cope with a declaration that is classified wrongly.
#pragma once

#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::analysis {

enum class DeclarationKind : std::uint8_t {
    Function,
    Type, ///< struct, class, union, with or without body
    Enum,
    Alias, ///< typedef, using X = …
    Using, ///< using A::b;
    UsingNamespace,
    NamespaceAlias,
    Variable,
    MacroCall, ///< A macro that makes whole declarations: DEFINE_KERNEL(float)
    Other,     ///< static_assert, explicit instantiation, friend, stray text
};

struct Declaration {
    DeclarationKind kind = DeclarationKind::Other;
    Span span;                      ///< Template header and final ';' included.
    Span bodySpan;                  ///< '{' to '}' of a function or type; empty without one.
    Span parameterSpan;             ///< '(' to ')' of a function.
    std::vector<std::string> names; ///< The declared names, enumerators included.
    std::string owner;              ///< The class, for members and `Owner::name` definitions.
    std::string scope;              ///< Enclosing named namespaces, "a::b".
    bool isTemplate = false;
    bool isKernel = false; ///< __global__
    bool isDevice = false; ///< __device__, __constant__, __managed__, __shared__, texture, surface
    bool isDeviceMemory = false;   ///< A variable that is __device__, __constant__ or __managed__.
    bool isConstantMemory = false; ///< __constant__
    bool isInitialised = false;    ///< A variable with an initialiser.
    bool isConstexpr = false;
    bool isConst = false;
    bool isOperator = false;
    bool isDefaulted = false; ///< = default, = delete
    bool isExtern = false;
    std::vector<Declaration> members; ///< Members of a type with a body.
};

struct DeclarationScan {
    std::vector<Declaration> declarations; ///< In order.
    /// `namespace a {`, `extern "C" {` and their closing braces: they hold declarations and are
    /// none.
    std::vector<Span> blockDelimiters;
};

/// `tokens` as structuralTokens gives them.
[[nodiscard]] DeclarationScan scanDeclarations(const std::vector<Token>& tokens,
                                               const MacroTable& macros);

} // namespace kernelskill::analysis
