#include "skills/kernel-fusion/compared_code.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

std::string tokensOf(std::string_view text, const std::map<std::string, std::string>& renamed) {
    std::string tokens;
    for (const Token& token : lex(text)) {
        const auto other =
            token.isIdentifier() ? renamed.find(std::string(token.text)) : renamed.end();
        tokens.append(other == renamed.end() ? token.text : std::string_view(other->second));
        tokens += " ";
    }
    return tokens;
}

} // namespace kernelskill::skills
