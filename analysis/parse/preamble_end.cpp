#include "analysis/parse/preamble_end.h"

#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

std::string withPreambleEndBefore(const Include& directive, std::string text) {
    // An empty declaration ends the preamble. `#import`, which is one letter shorter than
    // `#include`, and the blank behind it make room for that and a line end.
    constexpr std::string_view before = "#include ";
    constexpr std::string_view after = ";\n#import";
    static_assert(before.size() == after.size());
    if (std::string_view(text).substr(directive.span.begin, before.size()) != before)
        return text;
    const std::vector<Token> tokens = lex(text, {0, directive.span.begin});
    if (std::ranges::all_of(tokens,
                            [](const Token& token) { return token.kind == TokenKind::Directive; }))
        text.replace(directive.span.begin, before.size(), after);
    return text;
}

bool isGuarded(std::string_view content) {
    bool isFirst = true;
    for (const Token& token : lex(content)) {
        if (token.kind != TokenKind::Directive)
            return false;
        const auto [name, remainder] = directiveParts(token.text);
        if (name == "pragma" && remainder == "once")
            return true;
        if (isFirst && (name == "ifndef" || (name == "if" && remainder.contains("!defined"))))
            return true;
        isFirst = false;
    }
    return false;
}

} // namespace kernelskill::analysis
