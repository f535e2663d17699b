/// Code with metavariables, and what it becomes: what a skill says that needs no C++. The language
/// is described in docs/user-skills.md.
#pragma once

#include "analysis/syntax/lexer.h"

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

enum class MetavariableKind : std::uint8_t {
    Expression, ///< A whole expression of the syntax tree, in parentheses or not.
    Identifier, ///< One name.
    Constant,   ///< One number as written.
    Type,       ///< A type as written, where a declaration has it.
    Statement,  ///< One statement.
    Statements, ///< Any number of statements in a row, none included.
};

struct Metavariable {
    std::string name; ///< Without the '$'.
    MetavariableKind kind = MetavariableKind::Expression;
    std::string type; ///< That an expression must have, const and references aside; empty: any.
    int line = 0;     ///< The line of its declaration, for reports.
};

/// A token of the code to be found: its text, or a metavariable.
struct PatternToken {
    std::string text;
    int metavariable = -1; ///< Index; -1: the text itself.
};

struct CodePattern {
    std::vector<Metavariable> metavariables;
    std::vector<PatternToken> before;
    std::string after; ///< With "$name" where a metavariable's code goes. Lines end in '\n'.
    /// Whole statements are replaced, else one expression.
    bool isStatements = false;
    /// Per metavariable: `after` has it another number of times than `before`, so that its code
    /// may do nothing but yield a value.
    std::vector<bool> isRepeated;
};

/// Code of a document, and the line that it starts on.
struct CodeBlock {
    std::string text;
    int line = 1;
};

struct PatternError {
    int line = 1; ///< In the document.
    std::string what;
};

/// Refuses a pattern that cannot be meant: a metavariable that is not declared or that nothing
/// binds, brackets that do not close, preprocessor directives other than `#pragma unroll` in
/// `after`, an expression that would become a statement or the other way round, code that would
/// match everywhere.
[[nodiscard]] std::expected<CodePattern, PatternError>
makePattern(const CodeBlock& before, const CodeBlock& after,
            const std::vector<Metavariable>& metavariables);

/// The metavariable that a token names; -1 when it names none.
[[nodiscard]] int metavariableNamed(const std::vector<Metavariable>& metavariables,
                                    std::string_view token);

} // namespace kernelskill::skills
