/// Guesses at what was meant, one file a family of mistakes. A guess need not be right: each is
/// parsed before anyone sees it.
#pragma once

#include "analysis/parse/translation_unit.h"
#include "analysis/syntax/lexer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Guesses of one ladder are steps of one idea at different places or of different kinds; one of
/// them is taken.
enum class Ladder : std::uint8_t {
    None,
    // The first that parses.
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
    // All are tried; of those that leave the fewest errors the one whose text is most like the rest
    // of the file.
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

/// What the families look at. Built once per text.
struct RepairContext {
    const analysis::FileModel& model;
    const analysis::CompileCommand& command;
    const analysis::Toolchain& toolchain;
    std::string_view text;
    std::vector<analysis::Token> tokens;

    [[nodiscard]] std::string_view slice(analysis::Span span) const;
    /// Text of a token; empty past the last.
    [[nodiscard]] std::string_view textAt(std::size_t index) const;
    /// Index of the token that holds or follows `offset`; tokens.size() past the last.
    [[nodiscard]] std::size_t tokenAt(std::uint32_t offset) const;
    /// End of the last token that ends at or before `offset`; 0 when there is none.
    [[nodiscard]] std::uint32_t endOfPrevious(std::uint32_t offset) const;
    [[nodiscard]] std::uint32_t lineOf(std::uint32_t offset) const;
    /// Columns of white space before the first token of a line.
    [[nodiscard]] std::uint32_t indentationOf(std::uint32_t line) const;
};
[[nodiscard]] RepairContext makeRepairContext(const analysis::FileModel& model,
                                              const analysis::CompileCommand& command,
                                              const analysis::Toolchain& toolchain);

/// Whether these words are in the compiler's message.
[[nodiscard]] bool says(const analysis::Diagnostic& error, std::string_view words);
/// The n-th text between single quotes of clang's message, from 0.
[[nodiscard]] std::optional<std::string> quotedName(std::string_view message,
                                                    std::size_t number = 0);

/// A candidate that inserts `inserted` at `offset`.
[[nodiscard]] FixCandidate insertion(std::string cause, std::uint32_t offset, std::string inserted,
                                     std::string title, Ladder ladder = Ladder::None);
/// One that adds lines behind the #include directives of the file's head.
[[nodiscard]] FixCandidate behindIncludes(const RepairContext& context, std::string cause,
                                          std::string_view lines, std::string title);

// The families. Each returns nothing for an error that is not its own; the likeliest guess comes
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

// Those for what the device's rules find.
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
