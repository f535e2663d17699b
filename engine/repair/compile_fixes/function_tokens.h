/// Functions, calls and variables found from tokens alone, in a text that may not parse.
#pragma once

#include "engine/repair/compile_fixes/fix_candidate.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Half-open range of token indices.
struct TokenRange {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] bool isEmpty() const { return begin >= end; }
};

struct DeclaredName {
    std::string name;
    std::string type; ///< As written, a '*' of the declarator included: "const float *".
    bool isPointer = false;
    TokenRange tokens; ///< Of a parameter: all of it. Of a variable: its name alone.
};

struct FunctionTokens {
    std::size_t name = 0;
    TokenRange
        head; ///< From the first token behind a template header to the ')' of the parameters.
    TokenRange body; ///< Braces included; empty for a mere declaration.
    std::vector<DeclaredName> parameters;
    [[nodiscard]] bool isMarked(const RepairContext& context, std::string_view attribute) const;
};

/// Declarations and definitions of functions called `name`.
[[nodiscard]] std::vector<FunctionTokens> functionsNamed(const RepairContext& context,
                                                         std::string_view name);
/// The definition whose head or body holds `offset`; nullopt outside of functions, and where the
/// braces do not tell.
[[nodiscard]] std::optional<FunctionTokens> functionAround(const RepairContext& context,
                                                           std::uint32_t offset);
/// Variables that the function declares before `offset`, parameters first; blocks are not asked.
[[nodiscard]] std::vector<DeclaredName>
namesBefore(const RepairContext& context, const FunctionTokens& function, std::uint32_t offset);

/// `callee<templates><<<configuration>>>(arguments)`.
struct CallText {
    std::size_t name = 0;
    TokenRange templates;     ///< Angles included; empty when there are none.
    TokenRange configuration; ///< With `<<<` and `>>>`; empty for a plain call.
    std::size_t open = 0;
    std::size_t close = 0;
    std::vector<TokenRange> arguments;
};

/// The call whose callee stands at token `name`.
[[nodiscard]] std::optional<CallText> callAt(const RepairContext& context, std::size_t name);
/// Calls that hold `offset`, the innermost first.
[[nodiscard]] std::vector<CallText> callsAround(const RepairContext& context, std::uint32_t offset);

[[nodiscard]] analysis::Span spanOf(const RepairContext& context, TokenRange range);
[[nodiscard]] std::string_view textOf(const RepairContext& context, TokenRange range);
/// [begin, end) divided at commas outside of brackets; no empty parts.
[[nodiscard]] std::vector<TokenRange> dividedAtCommas(const RepairContext& context,
                                                      TokenRange range);

/// Tokens of the statement around `offset`, by lines: from the line behind one that ends in ';',
/// '{', '}' or ':', to the line that ends so. Takes all of `for (a; b; c) {`.
[[nodiscard]] TokenRange statementLines(const RepairContext& context, std::uint32_t offset);

} // namespace kernelskill::engine
