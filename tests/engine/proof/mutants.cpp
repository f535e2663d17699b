#include "tests/engine/proof/mutants.h"

#include "analysis/syntax/lexer.h"

#include <cstddef>
#include <map>
#include <string_view>

namespace kernelskill::engine {

using analysis::Span;
using analysis::Token;
using analysis::TokenKind;

namespace {

/// Other tokens for one token.
const std::map<std::string_view, std::vector<std::string_view>>& replacements() {
    static const std::map<std::string_view, std::vector<std::string_view>> table{
        {"<", {"<=", ">"}},
        {"<=", {"<"}},
        {">", {">=", "<"}},
        {">=", {">"}},
        {"==", {"!="}},
        {"!=", {"=="}},
        {"+", {"-", "*"}},
        {"-", {"+"}},
        {"*", {"+"}},
        {"/", {"*"}},
        {"%", {"/"}},
        {"+=", {"-=", "="}},
        {"-=", {"+="}},
        {"*=", {"+="}},
        {"++", {"--"}},
        {"--", {"++"}},
        {"&&", {"||"}},
        {"||", {"&&"}},
        {"&", {"|"}},
        {"|", {"&"}},
        {"^", {"&"}},
        {"<<", {">>"}},
        {"int", {"short", "unsigned", "float"}},
        {"unsigned", {"unsigned char"}},
        {"float", {"double", "int"}},
        {"double", {"float"}},
        {"blockIdx", {"threadIdx"}},
        {"threadIdx", {"blockIdx"}},
        {"blockDim", {"gridDim"}},
        {"x", {"y"}},
        {"y", {"x"}},
        {"atomicAdd", {"atomicSub", "atomicMax"}},
        {"fmaxf", {"fminf"}},
        {"expf", {"logf"}},
        {"return", {";"}},
        {"break", {"continue"}},
        {"__syncthreads", {"__syncwarp", "__threadfence_block"}},
        {"__shfl_xor_sync", {"__shfl_down_sync"}},
    };
    return table;
}

} // namespace

std::vector<Mutant> mutantsOf(const std::string& text, Span body) {
    std::vector<Mutant> mutants;
    const std::vector<Token> tokens = analysis::lex(text, body);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        if (const auto known = replacements().find(token.text); known != replacements().end())
            for (const std::string_view other : known->second)
                mutants.push_back({token.span, std::string(other)});
        if (token.kind == TokenKind::Number)
            mutants.push_back({token.span, "(" + std::string(token.text) + " + 1)"});
        const bool opensCondition =
            token.is("(") && i > 0 && (tokens[i - 1].is("if") || tokens[i - 1].is("while"));
        if (opensCondition) {
            const std::size_t close = analysis::matchingBracket(tokens, i);
            if (close < tokens.size()) {
                const Span inside{token.span.end, tokens[close].span.begin};
                mutants.push_back({inside, "true"});
                mutants.push_back({inside, "!(" + text.substr(inside.begin, inside.size()) + ")"});
            }
        }
        if (token.is("["))
            mutants.push_back({{token.span.end, token.span.end}, "1 + "});
        // A statement that is left out.
        const bool begins =
            i > 0 && (tokens[i - 1].is(";") || tokens[i - 1].is("{") || tokens[i - 1].is("}"));
        if (begins && token.isIdentifier() && i + 1 < tokens.size() &&
            (tokens[i + 1].is("[") || tokens[i + 1].is("(") || tokens[i + 1].is("=") ||
             tokens[i + 1].is("+=")) &&
            !token.is("if") && !token.is("for") && !token.is("while")) {
            std::size_t end = i;
            while (end < tokens.size() && !tokens[end].is(";"))
                ++end;
            if (end < tokens.size())
                mutants.push_back({{token.span.begin, tokens[end].span.begin}, ""});
        }
    }
    return mutants;
}

std::string mutated(std::string text, const Mutant& mutant) {
    return text.replace(mutant.span.begin, mutant.span.size(), mutant.text);
}

std::string lineOf(const std::string& mutated, const Mutant& mutant) {
    const auto begin = mutated.rfind('\n', mutant.span.begin) + 1;
    return mutated.substr(begin, mutated.find('\n', begin) - begin);
}

} // namespace kernelskill::engine
