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

bool isFixedValue(const CodeMap& code, ExprId value) {
    return std::ranges::all_of(code.expressionsBelow(value), [&](ExprId id) {
        const Expr& expr = code.body().expr(id);
        switch (expr.kind) {
        case ExprKind::Variable:
            return expr.variable == noId || !code.isEverWritten(expr.variable);
        case ExprKind::Integer:
        case ExprKind::BuiltinIndex:
        case ExprKind::Cast:
            return true;
        case ExprKind::Unary:
            return expr.op == "-" || expr.op == "+" || expr.op == "!" || expr.op == "~";
        case ExprKind::Binary:
            return !isAssignment(expr.op);
        default:
            return false;
        }
    });
}

} // namespace kernelskill::skills
