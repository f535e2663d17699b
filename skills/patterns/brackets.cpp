#include "skills/patterns/brackets.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

// How tightly binary operators bind; what is not in the table is taken for the loosest.
constexpr std::array<std::pair<std::string_view, int>, 21> strengths = {{
    {"?", 3},   {":", 3},  {"||", 4}, {"&&", 5}, {"|", 6},   {"^", 7},   {"&", 8},
    {"==", 9},  {"!=", 9}, {"<", 10}, {">", 10}, {"<=", 10}, {">=", 10}, {"<<", 11},
    {">>", 11}, {"+", 12}, {"-", 12}, {"*", 13}, {"/", 13},  {"%", 13},  {"=", 2},
}};
constexpr int loosest = 1;
constexpr int assignment = 2;
constexpr int conditional = 3;
constexpr int unary = 14;
constexpr int primary = 15;

int strengthOf(std::string_view op) {
    const auto* known =
        std::ranges::find(strengths, op, [](const auto& entry) { return entry.first; });
    if (known != strengths.end())
        return known->second;
    const bool isCompound = op.size() >= 2 && op.ends_with('=');
    return isCompound ? assignment : loosest;
}

bool isOperator(const Token& token) {
    return token.kind == TokenKind::Punctuator && token.text != ")" && token.text != "]" &&
           token.text != "}" && token.text != "++" && token.text != "--";
}

/// True if the operator at `i` stands before its only operand.
bool isPrefix(const std::vector<Token>& tokens, std::size_t i) {
    return i == 0 || isOperator(tokens[i - 1]) || tokens[i - 1].text == "return";
}

bool joinsNames(std::string_view text) {
    return text == "." || text == "->" || text == "::";
}

/// The rank of the loosest operator outside of brackets.
int strengthOfCode(std::string_view code) {
    const std::vector<Token> tokens = lex(code);
    int strength = primary;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string_view text = tokens[i].text;
        if (text == "(" || text == "[" || text == "{") {
            const bool isCast = text == "(" && isPrefix(tokens, i);
            i = matchingBracket(tokens, i);
            // The operand of a cast follows its brackets.
            if (isCast && i + 1 < tokens.size() && !isOperator(tokens[i + 1]))
                strength = std::min(strength, unary);
            continue;
        }
        if (tokens[i].kind != TokenKind::Punctuator || joinsNames(text))
            continue;
        const bool isUnary = isPrefix(tokens, i) || text == "++" || text == "--";
        strength = std::min(strength, isUnary ? unary : strengthOf(text));
    }
    return strength;
}

bool endsOnTheLeft(std::string_view text) {
    constexpr std::array<std::string_view, 9> ends = {"(", "[",      "{",    "}",   ",",
                                                      ";", "return", "else", "case"};
    return std::ranges::find(ends, text) != ends.end();
}
bool endsOnTheRight(std::string_view text) {
    constexpr std::array<std::string_view, 6> ends = {")", "]", "}", ",", ";", "{"};
    return std::ranges::find(ends, text) != ends.end();
}

} // namespace

bool needsBrackets(std::string_view code, const std::vector<Token>& around, std::size_t first,
                   std::size_t end) {
    const int strength = strengthOfCode(code);
    if (strength == primary)
        return false;
    // Behind the condition of an `if`; a cast cannot be assigned to.
    const bool isStatement = strength == assignment && first > 0 && around[first - 1].text == ")";
    if (first > 0 && !isStatement && !endsOnTheLeft(around[first - 1].text)) {
        const std::size_t left = first - 1;
        const bool isBinary = isOperator(around[left]) && !isPrefix(around, left);
        if (!isBinary)
            return true; // A prefix, a cast, or a word such as sizeof.
        const int held = strengthOf(around[left].text);
        // Assignments are read from the right, the others from the left.
        if (held > strength || (held == strength && held != assignment))
            return true;
    }
    if (end < around.size() && !endsOnTheRight(around[end].text)) {
        const bool isBinary = isOperator(around[end]) && !joinsNames(around[end].text) &&
                              around[end].text != "(" && around[end].text != "[";
        if (!isBinary || strengthOf(around[end].text) > strength || strength <= conditional)
            return true;
    }
    return false;
}

} // namespace kernelskill::skills
