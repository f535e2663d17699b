#include "analysis/syntax/nesting.h"

#include <algorithm>
#include <array>

namespace kernelskill::analysis {

namespace {

bool mayPrecedeAnOperand(const Token& token) {
    constexpr auto operators =
        std::to_array<std::string_view>({"-", "+", "!", "~", "*", "&", "&&", "--", "++"});
    return token.kind == TokenKind::Punctuator &&
           std::ranges::find(operators, token.text) != operators.end();
}

} // namespace

std::optional<Span> tooDeeplyNested(const std::vector<Token>& tokens) {
    std::uint32_t open = 0;
    std::uint32_t row = 0; // Operators since the last operand.
    std::uint32_t comparisons = 0;
    for (const Token& token : tokens) {
        if (token.is("<") || token.is(">") || token.is("<=") || token.is(">="))
            ++comparisons;
        else if (token.is(",") || token.is(";") || token.is("{") || token.is("}"))
            comparisons = 0;
        row = mayPrecedeAnOperand(token) ? row + 1 : 0;
        if (token.is("(") || token.is("[") || token.is("{"))
            ++open;
        else if (open > 0 && (token.is(")") || token.is("]") || token.is("}")))
            --open;
        if (open > maxOpenBrackets || row > maxOperatorsInARow || comparisons > maxComparisons)
            return token.span;
    }
    return std::nullopt;
}

std::optional<Span> tooDeeplyNested(std::string_view text) {
    return tooDeeplyNested(lex(text));
}

} // namespace kernelskill::analysis
