#include "engine/inputs/floating_literals.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

namespace kernelskill::engine {
namespace {

using analysis::Token;
using analysis::TokenKind;

void collect(std::string_view text, std::multiset<double>& numbers) {
    for (const Token& token : analysis::lex(text)) {
        if (token.kind == TokenKind::Directive) {
            const auto hash = token.text.find('#');
            if (token.text.find("define") != std::string_view::npos)
                collect(token.text.substr(hash + 1), numbers);
            continue;
        }
        const bool isHexadecimal = token.text.starts_with("0x") || token.text.starts_with("0X");
        if (token.kind != TokenKind::Number ||
            token.text.find_first_of(isHexadecimal ? "pP" : ".eE") == std::string_view::npos)
            continue;
        std::string digits;
        std::ranges::remove_copy(token.text, std::back_inserter(digits), '\'');
        char* end = nullptr;
        numbers.insert(std::strtod(digits.c_str(), &end));
    }
}

} // namespace

std::multiset<double> floatingLiterals(std::string_view text) {
    std::multiset<double> numbers;
    collect(text, numbers);
    return numbers;
}

} // namespace kernelskill::engine
