#include "engine/generate/written_function.h"

#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// The first name with its object: `a` for `a + 1`, `m.x` for `&m.x[0]`.
std::string rootOf(const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
    constexpr auto ignored = std::to_array<std::string_view>({"const", "nullptr", "NULL"});
    std::string root;
    for (std::size_t at = begin; at < end; ++at) {
        const Token& token = tokens[at];
        const bool isName = token.kind == TokenKind::Identifier && !token.text.ends_with("_cast") &&
                            std::ranges::find(ignored, token.text) == ignored.end();
        const bool joins = token.text == "." || token.text == "->" || token.text == "::";
        if (isName || (joins && !root.empty()))
            root += token.text;
        else if (!root.empty())
            break;
    }
    return root;
}

/// Whether the name is called: `return f(` and `x = f(` call, `float f(` declares.
bool isCall(const std::vector<Token>& tokens, std::size_t name) {
    if (name == 0)
        return false;
    const Token& before = tokens[name - 1];
    return before.text == "return" || before.text == "else" || before.text == "do" ||
           (before.kind != TokenKind::Identifier && before.text != "*" && before.text != "&" &&
            before.text != ">");
}

std::string roundsCode(const SteppedRounds& stepped, const FunctionBody& body) {
    const IndexExpression rounded = stepped.distance + IndexExpression::constant(stepped.step - 1);
    const std::string sum = codeOf(rounded, body, false);
    return fmt::format("{} / {}", rounded.terms().size() > 1 ? "(" + sum + ")" : sum, stepped.step);
}

} // namespace

std::vector<CallInText> callsOf(const SourceText& source, const KernelModel& function) {
    const std::vector<Token> tokens = lex(source.text());
    std::vector<CallInText> calls;
    for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
        if (tokens[at].text != function.name || tokens[at + 1].text != "(" || !isCall(tokens, at))
            continue;
        const std::size_t close = matchingBracket(tokens, at + 1);
        CallInText call{tokens[at].span.begin, {}};
        int depth = 0;
        std::size_t begin = at + 2;
        for (std::size_t inner = begin; inner <= close && inner < tokens.size(); ++inner) {
            const std::string_view text = tokens[inner].text;
            if (inner == close || (depth == 0 && text == ",")) {
                call.roots.push_back(rootOf(tokens, begin, inner));
                begin = inner + 1;
            }
            depth += text == "(" || text == "[" || text == "{" ? 1 : 0;
            depth -= text == ")" || text == "]" || text == "}" ? 1 : 0;
        }
        calls.push_back(std::move(call));
    }
    return calls;
}

bool isLoopPragma(std::string_view directive) {
    const std::vector<Token> words =
        lex(directive, {1, static_cast<std::uint32_t>(directive.size())});
    constexpr auto known =
        std::to_array<std::string_view>({"omp", "unroll", "GCC", "clang", "ivdep", "acc"});
    return words.size() > 1 && words[0].text == "pragma" &&
           std::ranges::find(known, words[1].text) != known.end();
}

std::string parameterText(const SourceText& source, const Parameter& parameter) {
    Span span = parameter.span;
    for (const Token& token : lex(source.text(), span)) {
        if (token.text != "=")
            continue;
        span.end = token.span.begin;
        break;
    }
    std::string text(source.slice(span));
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    return text;
}

std::string numberType(const Type& type) {
    const bool isPlain =
        type.spelling != "auto" && type.spelling.find_first_of("[(") == std::string::npos;
    const std::string& spelling = isPlain ? type.spelling : type.canonical;
    std::string result;
    for (const Token& token : lex(spelling)) {
        if (token.text == "*")
            break;
        if (token.text == "const" || token.text == "[")
            continue;
        if (!result.empty() && token.text != "::" && !result.ends_with("::"))
            result += ' ';
        result += token.text;
    }
    return result;
}

std::string resultType(const SourceText& source, const KernelModel& function) {
    constexpr auto specifiers = std::to_array<std::string_view>(
        {"static", "inline", "extern", "constexpr", "__host__", "const"});
    std::string result;
    for (const Token& token : lex(source.text(), {function.span.begin, function.nameSpan.begin})) {
        if (std::ranges::find(specifiers, token.text) != specifiers.end())
            continue;
        const bool joins = token.text == "::";
        if ((token.kind != TokenKind::Identifier && !joins) || token.text == "auto" ||
            token.text.starts_with("__"))
            return {};
        if (!result.empty() && !joins && !result.ends_with("::"))
            result += ' ';
        result += token.text;
    }
    return result;
}

DerivedNames::DerivedNames(const SourceText& source, const KernelModel& function)
    : function_(function.name),
      isCamel_(!function.name.contains('_') &&
               std::ranges::any_of(function.name, [](unsigned char character) {
                   return std::isupper(character) != 0;
               })) {
    for (const Token& token : lex(source.text()))
        taken_.emplace(token.text);
}

std::string DerivedNames::joined(std::string_view first, std::string_view second) const {
    std::string result(first);
    if (!isCamel_)
        return result + "_" + std::string(second);
    result += static_cast<char>(std::toupper(static_cast<unsigned char>(second.front())));
    result += second.substr(1);
    return result;
}

std::string DerivedNames::next(const std::vector<std::string>& words) {
    std::string wanted = function_;
    for (const std::string& word : words)
        wanted = joined(wanted, word);
    std::string result = wanted;
    for (int number = 2; !taken_.insert(result).second; ++number)
        result = wanted + std::to_string(number);
    return result;
}

std::string codeOf(const IndexExpression& value, const FunctionBody& body, bool isWide,
                   const RoundsBySymbol& rounds) {
    std::vector<std::pair<Monomial, std::int64_t>> terms(value.terms().begin(),
                                                         value.terms().end());
    // Positive terms come first, so that no sum begins with a minus.
    std::ranges::stable_sort(terms, [](const auto& a, const auto& b) {
        return std::pair(a.second < 0, a.first.empty()) < std::pair(b.second < 0, b.first.empty());
    });
    std::string text;
    for (const auto& [monomial, coefficient] : terms) {
        const bool isNegative = coefficient < 0;
        if (!text.empty())
            text += isNegative ? " - " : " + ";
        else if (isNegative)
            text += "-";
        const std::uint64_t size = isNegative ? 0 - static_cast<std::uint64_t>(coefficient)
                                              : static_cast<std::uint64_t>(coefficient);
        std::string product;
        if (size != 1 || monomial.empty())
            product = std::to_string(size);
        const bool isProduct = monomial.size() + (size != 1 ? 1 : 0) > 1;
        for (std::size_t factor = 0; factor < monomial.size(); ++factor) {
            const auto stepped = rounds.find(monomial[factor]);
            const bool isNamed = stepped == rounds.end();
            std::string text = isNamed ? body.variable(monomial[factor].id).name
                                       : roundsCode(stepped->second, body);
            if (isWide && isProduct && factor == 0 &&
                (!isNamed || body.variable(monomial[factor].id).type.size < 8))
                text = fmt::format("static_cast<size_t>({})", text);
            else if (!isNamed)
                text = "(" + text + ")";
            if (!product.empty())
                product += " * ";
            product += text;
        }
        text += product;
    }
    return text.empty() ? "0" : text;
}

std::string checkMacro(const SourceText& source, std::uint32_t offset) {
    for (const Token& token : lex(source.text(), {0, offset})) {
        if (token.kind != TokenKind::Directive ||
            (!token.text.contains("cudaSuccess") && !token.text.contains("cudaError_t")))
            continue;
        const std::vector<Token> words =
            lex(token.text, {1, static_cast<std::uint32_t>(token.text.size())});
        // For #define NAME(parameter) without a space between the name and the bracket.
        if (words.size() > 4 && words[0].text == "define" && words[2].text == "(" &&
            words[2].span.begin == words[1].span.end && words[4].text == ")")
            return std::string(words[1].text);
    }
    return {};
}

} // namespace kernelskill::engine
