/// Guesses at the intended text, with one file for each family of mistakes. A guess may be wrong:
/// each is parsed before it is offered.
#pragma once

#include "analysis/parse/translation_unit.h"
#include "analysis/syntax/lexer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Groups guesses that apply one idea at different places or in different kinds. Only one guess of
/// a ladder is taken.
enum class Ladder : std::uint8_t {
    None,
    // The first guess that parses is taken.
    OpeningBrace,
    ClosingBrace,
    ExtraBrace,
    Attribute,
    LaunchEnd,
    LaunchComma,
    LaunchBlock,
    Type,
    ForHeader,
    Quote,
    Axis,
    // All are tried. Among those that leave the fewest errors, the one most similar to the rest of
    // the file is taken.
    Bracket,
    Comma,
};
[[nodiscard]] constexpr bool takesLikest(Ladder ladder) {
    return ladder >= Ladder::Bracket;
}

/// One guess for one error.
struct FixCandidate {
    std::string cause;                     ///< "missing-semicolon", ...
    std::string title;                     ///< "insert ';'"
    std::vector<analysis::TextEdit> edits; ///< In the main file.
    Ladder ladder = Ladder::None;
};

/// The input of the families, built once per text.
struct RepairContext {
    const analysis::FileModel& model;
    const analysis::CompileCommand& command;
    const analysis::Toolchain& toolchain;
    std::string_view text;
    std::vector<analysis::Token> tokens;

    [[nodiscard]] std::string_view slice(analysis::Span span) const;
    /// The text of a token; empty after the last one.
    [[nodiscard]] std::string_view textAt(std::size_t index) const;
    /// The index of the token that contains or follows `offset`; tokens.size() after the last one.
    [[nodiscard]] std::size_t tokenAt(std::uint32_t offset) const;
    /// The end of the last token that ends at or before `offset`; 0 if there is none.
    [[nodiscard]] std::uint32_t endOfPrevious(std::uint32_t offset) const;
    [[nodiscard]] std::uint32_t lineOf(std::uint32_t offset) const;
    /// The columns of white space before the first token of a line.
    [[nodiscard]] std::uint32_t indentationOf(std::uint32_t line) const;
};
[[nodiscard]] RepairContext makeRepairContext(const analysis::FileModel& model,
                                              const analysis::CompileCommand& command,
                                              const analysis::Toolchain& toolchain);

/// Whether the compiler's message contains these words.
[[nodiscard]] bool says(const analysis::Diagnostic& error, std::string_view words);
/// The n-th text in single quotes in clang's message, counted from 0.
[[nodiscard]] std::optional<std::string> quotedName(std::string_view message,
                                                    std::size_t number = 0);

/// A candidate that inserts `inserted` at `offset`.
[[nodiscard]] FixCandidate insertion(std::string cause, std::uint32_t offset, std::string inserted,
                                     std::string title, Ladder ladder = Ladder::None);
/// A candidate that adds lines after the #include directives at the file's head.
[[nodiscard]] FixCandidate behindIncludes(const RepairContext& context, std::string cause,
                                          std::string_view lines, std::string title);

// The families. Each returns nothing for another family's errors; else the likeliest guess comes
// first.
[[nodiscard]] std::vector<FixCandidate> compilerFixes(const RepairContext& context,
                                                      const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> punctuationFixes(const RepairContext& context,
                                                         const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> braceFixes(const RepairContext& context,
                                                   const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> includeFixes(const RepairContext& context,
                                                     const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> spellingFixes(const RepairContext& context,
                                                      const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> launchFixes(const RepairContext& context,
                                                    const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> attributeFixes(const RepairContext& context,
                                                       const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> aliasFixes(const RepairContext& context,
                                                   const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> argumentFixes(const RepairContext& context,
                                                      const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> declarationFixes(const RepairContext& context,
                                                         const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> deviceIdiomFixes(const RepairContext& context,
                                                         const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> functionResultFixes(const RepairContext& context,
                                                            const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> separatorFixes(const RepairContext& context,
                                                       const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> sharedMemoryFixes(const RepairContext& context,
                                                          const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> statementBracketFixes(const RepairContext& context,
                                                              const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> templateFixes(const RepairContext& context,
                                                      const analysis::Diagnostic& error);
[[nodiscard]] std::vector<FixCandidate> typeFixes(const RepairContext& context,
                                                  const analysis::Diagnostic& error);

// Families for findings of the device's rules.
[[nodiscard]] std::vector<FixCandidate> atomicFixes(const RepairContext& context,
                                                    const analysis::Diagnostic& finding);
[[nodiscard]] std::vector<FixCandidate> extentFixes(const RepairContext& context,
                                                    const analysis::Diagnostic& finding);
[[nodiscard]] std::vector<FixCandidate> hostCodeFixes(const RepairContext& context,
                                                      const analysis::Diagnostic& finding);
[[nodiscard]] std::vector<FixCandidate> launchLimitFixes(const RepairContext& context,
                                                         const analysis::Diagnostic& finding);
[[nodiscard]] std::vector<FixCandidate> staticSharedFixes(const RepairContext& context,
                                                          const analysis::Diagnostic& finding);
[[nodiscard]] std::vector<FixCandidate> warpFunctionFixes(const RepairContext& context,
                                                          const analysis::Diagnostic& finding);

} // namespace kernelskill::engine
