#include "engine/inputs/known_texts.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <span>

namespace kernelskill::engine {
namespace {

using analysis::Token;

std::vector<std::string> wordsOf(std::string_view text) {
    std::vector<std::string> words;
    for (const Token& token : analysis::lex(text))
        words.emplace_back(token.text);
    return words;
}

bool isOneOf(std::string_view word, std::string_view spaced) {
    for (std::size_t begin = 0; begin < spaced.size();) {
        const std::size_t end = std::min(spaced.find(' ', begin), spaced.size());
        if (spaced.substr(begin, end - begin) == word)
            return true;
        begin = end + 1;
    }
    return false;
}

/// The texts between the commas of `dim3(a, b)` or `{a, b}`; empty if `text` is no such list.
std::vector<std::string_view> listed(std::string_view text) {
    const std::vector<Token> tokens = analysis::lex(text);
    std::size_t open = 0;
    while (open < tokens.size() && !tokens[open].is("(") && !tokens[open].is("{"))
        ++open;
    const bool isNamed = open > 0 && tokens[open - 1].is("dim3");
    if (open >= tokens.size() || !(isNamed || tokens[open].is("{")) ||
        analysis::matchingBracket(tokens, open) + 1 != tokens.size())
        return {};
    std::vector<std::string_view> parts;
    std::uint32_t begin = tokens[open].span.end;
    for (std::size_t at = open + 1; at < tokens.size(); ++at) {
        const bool isEnd = at + 1 == tokens.size();
        if (tokens[at].is(",") || isEnd) {
            parts.push_back(text.substr(begin, tokens[at].span.begin - begin));
            begin = tokens[at].span.end;
        } else if (tokens[at].is("(") || tokens[at].is("[") || tokens[at].is("{")) {
            at = analysis::matchingBracket(tokens, at);
        }
    }
    return parts;
}

} // namespace

void KnownTexts::addExtents(std::string_view text, const Dim3& extents) {
    const std::array<std::uint32_t, 3> values{extents.x, extents.y, extents.z};
    const std::vector<Token> tokens = analysis::lex(text);
    if (tokens.size() == 1 && tokens.front().isIdentifier())
        for (std::size_t axis = 0; axis < values.size(); ++axis)
            add(std::string(text) + '.' + "xyz"[axis], values[axis]);
    const std::vector<std::string_view> parts = listed(text);
    for (std::size_t axis = 0; axis < std::min(parts.size(), values.size()); ++axis)
        add(parts[axis], values[axis]);
    if (parts.empty())
        add(text, extents.x);
}

void KnownTexts::add(std::string_view text, std::uint32_t value) {
    Part part{wordsOf(text), std::to_string(value)};
    part.binding = bindingOf(part.tokens);
    const bool isNumber =
        part.tokens.size() == 1 && analysis::lex(text).front().kind == analysis::TokenKind::Number;
    if (part.tokens.empty() || isNumber || part.binding == Binding::Never)
        return;
    const auto at = std::ranges::find_if(
        parts_, [&](const Part& other) { return other.tokens.size() < part.tokens.size(); });
    parts_.insert(at, std::move(part));
}

KnownTexts::Binding KnownTexts::bindingOf(const std::vector<std::string>& tokens) {
    Binding binding = Binding::Operand;
    int depth = 0;
    for (const std::string& token : tokens) {
        if (isOneOf(token, "( [ {"))
            ++depth;
        else if (isOneOf(token, ") ] }"))
            --depth;
        else if (depth == 0 && isOneOf(token, "+ -"))
            binding = std::min(binding, Binding::Sum);
        else if (depth == 0 && isOneOf(token, "* / %"))
            binding = std::min(binding, Binding::Product);
        else if (depth == 0 &&
                 isOneOf(token, "? : , << >> < > <= >= == != & | ^ && || = ! ~ ++ --"))
            return Binding::Never;
    }
    return binding;
}

bool KnownTexts::stands(const Part& part, std::string_view before, std::string_view behind) {
    switch (part.binding) {
    case Binding::Sum:
        return isOneOf(before, "( , {") && isOneOf(behind, ") , } + -");
    case Binding::Product:
        return isOneOf(before, "( , { + -") && isOneOf(behind, ") , } + - * / %");
    case Binding::Operand:
        return !isOneOf(before, ". -> ::") && !isOneOf(behind, ". -> :: ( [ {");
    case Binding::Never:
        break;
    }
    return false;
}

std::string KnownTexts::numbersIn(std::string_view text) const {
    const std::vector<std::string> words = wordsOf(text);
    // The text stands alone, as if in brackets.
    const auto wordAt = [&](std::ptrdiff_t at) -> std::string_view {
        if (at < 0)
            return "(";
        return at < std::ssize(words) ? std::string_view(words[static_cast<std::size_t>(at)]) : ")";
    };
    std::string result;
    for (std::size_t at = 0; at < words.size();) {
        const auto known = std::ranges::find_if(parts_, [&](const Part& part) {
            const std::span rest = std::span(words).subspan(at);
            return part.tokens.size() <= rest.size() &&
                   std::ranges::equal(part.tokens, rest.first(part.tokens.size())) &&
                   stands(part, wordAt(static_cast<std::ptrdiff_t>(at) - 1),
                          wordAt(static_cast<std::ptrdiff_t>(at + part.tokens.size())));
        });
        result += known != parts_.end() ? known->number : words[at];
        result += ' ';
        at += known != parts_.end() ? known->tokens.size() : 1;
    }
    return result;
}

} // namespace kernelskill::engine
