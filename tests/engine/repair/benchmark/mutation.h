/// Mistakes that CUDA developers make, as edits that put one into a file that compiles. One file a
/// family; the benchmark takes those that the parser rejects.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/source/text_edit.h"
#include "analysis/syntax/lexer.h"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::testing {

/// A file that compiles.
struct Subject {
    const analysis::FileModel& model;
    std::string_view text;
    std::vector<analysis::Token> tokens;

    [[nodiscard]] std::string_view at(std::size_t token) const; ///< Empty past the end.
    [[nodiscard]] bool isIdentifier(std::size_t token) const;
    [[nodiscard]] std::string_view slice(analysis::Span span) const;
};

/// The edits that put one mistake into one place.
using Breakage = std::vector<analysis::TextEdit>;

struct Mutation {
    std::string_view kind;
    /// Every place where the mistake can be made, in the file's order.
    std::vector<Breakage> (*places)(const Subject& subject);
};

[[nodiscard]] std::vector<Mutation> punctuationMutations();
[[nodiscard]] std::vector<Mutation> nameMutations();
[[nodiscard]] std::vector<Mutation> declarationMutations();
[[nodiscard]] std::vector<Mutation> typeMutations();
[[nodiscard]] std::vector<Mutation> launchMutations();
[[nodiscard]] std::vector<Mutation> deviceMutations();
[[nodiscard]] std::vector<Mutation> callMutations();
/// All of them, the kinds' names being different.
[[nodiscard]] std::vector<Mutation> allMutations();

// Functions that the families share.

[[nodiscard]] Breakage changed(analysis::Span span, std::string newText);
/// Removes the tokens [begin, end) and the white space after them on their line.
[[nodiscard]] Breakage without(const Subject& subject, std::size_t begin, std::size_t end);
/// First tokens of each place where `spellings` follow one another.
[[nodiscard]] std::vector<std::size_t> sequences(const Subject& subject,
                                                 std::initializer_list<std::string_view> spellings);
/// Spans of the arguments in the parentheses at `open`.
[[nodiscard]] std::vector<analysis::Span> argumentsAt(const Subject& subject, std::size_t open);
/// The first token that begins at or behind `offset`.
[[nodiscard]] std::size_t tokenFrom(const Subject& subject, std::uint32_t offset);
/// Levels of '(' and '[' that each token is in; those tokens themselves are outside.
[[nodiscard]] std::vector<int> nesting(const Subject& subject);

} // namespace kernelskill::testing
