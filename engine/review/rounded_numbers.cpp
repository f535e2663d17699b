#include "engine/review/rounded_numbers.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <variant>

namespace kernelskill::engine {
namespace {

using analysis::Token;
using analysis::TokenKind;

/// Adds the value of each floating literal that float rounds, also in macros. Ignores suffixes.
void collectRounded(std::string_view text, std::set<double>& numbers) {
    for (const Token& token : analysis::lex(text)) {
        if (token.kind == TokenKind::Directive) {
            const auto hash = token.text.find('#');
            if (token.text.find("define") != std::string_view::npos)
                collectRounded(token.text.substr(hash + 1), numbers);
            continue;
        }
        const bool isHexadecimal = token.text.starts_with("0x") || token.text.starts_with("0X");
        if (token.kind != TokenKind::Number ||
            token.text.find_first_of(isHexadecimal ? "pP" : ".eE") == std::string_view::npos)
            continue;
        std::string digits;
        std::ranges::remove_copy(token.text, std::back_inserter(digits), '\'');
        char* end = nullptr;
        const double value = std::strtod(digits.c_str(), &end);
        if (value != static_cast<double>(static_cast<float>(value)))
            numbers.insert(value);
    }
}

std::set<double> roundedNumbers(std::string_view text) {
    std::set<double> numbers;
    collectRounded(text, numbers);
    return numbers;
}

std::set<double> floatingScalars(const LaunchSpec& launch) {
    std::set<double> scalars;
    for (const auto& argument : launch.arguments)
        if (const auto* scalar = std::get_if<ScalarSpec>(&argument); scalar && scalar->floating)
            scalars.insert(*scalar->floating);
    return scalars;
}

} // namespace

bool bringsRoundedNumbers(std::string_view original, std::string_view edited,
                          const LaunchSpec& originalLaunch, const LaunchSpec& editedLaunch) {
    return !std::ranges::includes(roundedNumbers(original), roundedNumbers(edited)) ||
           !std::ranges::includes(floatingScalars(originalLaunch), floatingScalars(editedLaunch));
}

} // namespace kernelskill::engine
