/// Finds functions, calls and variables from tokens alone, in a text that may not parse.
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
    std::string type; ///< As written, with a '*' of the declarator: "const float *".
    bool isPointer = false;
    TokenRange tokens; ///< For a parameter, all its tokens; for a variable, only its name.
};

struct FunctionTokens {
    std::size_t name = 0;
    TokenRange head; ///< From the first token after a template header to the ')' of the parameters.
    TokenRange body; ///< With braces; empty for a declaration without a body.
    std::vector<DeclaredName> parameters;
    [[nodiscard]] bool isMarked(const RepairContext& context, std::string_view attribute) const;
};

/// All declarations and definitions of functions named `name`.
[[nodiscard]] std::vector<FunctionTokens> functionsNamed(const RepairContext& context,
                                                         std::string_view name);
/// The definition whose head or body contains `offset`; nullopt outside functions, and if the
/// braces do not tell.
[[nodiscard]] std::optional<FunctionTokens> functionAround(const RepairContext& context,
                                                           std::uint32_t offset);
/// The variables that the function declares before `offset`, parameters first. Ignores the scope of
/// blocks.
[[nodiscard]] std::vector<DeclaredName>
namesBefore(const RepairContext& context, const FunctionTokens& function, std::uint32_t offset);

/// `callee<templates><<<configuration>>>(arguments)`.
struct CallText {
    std::size_t name = 0;
    TokenRange templates;     ///< With angle brackets; empty if there are none.
    TokenRange configuration; ///< With `<<<` and `>>>`; empty for a plain call.
    std::size_t open = 0;
    std::size_t close = 0;
    std::vector<TokenRange> arguments;
};

/// The call whose callee's name is token `name`.
[[nodiscard]] std::optional<CallText> callAt(const RepairContext& context, std::size_t name);
/// The calls that contain `offset`, innermost first.
[[nodiscard]] std::vector<CallText> callsAround(const RepairContext& context, std::uint32_t offset);

[[nodiscard]] analysis::Span spanOf(const RepairContext& context, TokenRange range);
[[nodiscard]] std::string_view textOf(const RepairContext& context, TokenRange range);
/// Divides [begin, end) at commas outside brackets. No part is empty.
[[nodiscard]] std::vector<TokenRange> dividedAtCommas(const RepairContext& context,
                                                      TokenRange range);

/// The tokens of the statement around `offset`, by lines: from the line after one that ends in ';',
/// '{', '}' or ':' to the next line with such an end. Includes all of `for (a; b; c) {`.
[[nodiscard]] TokenRange statementLines(const RepairContext& context, std::uint32_t offset);

} // namespace kernelskill::engine
