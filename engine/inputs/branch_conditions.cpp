#include "engine/inputs/branch_conditions.h"

#include "analysis/syntax/lexer.h"

#include <optional>
#include <string_view>

namespace kernelskill::engine {
namespace {

using analysis::matchingBracket;
using analysis::Token;

class BranchReader {
public:
    explicit BranchReader(const std::vector<Token>& tokens) : tokens_(tokens) {}

    std::vector<BranchCondition> around(std::size_t token, std::size_t place) const {
        std::vector<BranchCondition> result;
        std::optional<std::size_t> begin = statementBegin(token);
        while (begin && *begin > 0) {
            const std::size_t before = *begin - 1;
            if (tokens_[before].is("{")) {
                if (matchingBracket(tokens_, before) >= place)
                    return result;
                begin = before;
            } else if (tokens_[before].is(")") || tokens_[before].is("else")) {
                const auto condition =
                    tokens_[before].is(")") ? conditionBefore(before) : ifOfElse(before);
                if (!condition)
                    break;
                result.push_back(*condition);
                begin = condition->statement;
            } else if (tokens_[before].is("do")) {
                result.push_back({before, {}, BranchRule::Unknown});
                begin = before;
            } else {
                begin = blockBegin(before);
            }
        }
        result.push_back({token, {}, BranchRule::Unknown});
        return result;
    }

private:
    static bool endsStatement(const Token& token) {
        return token.is(";") || token.is("{") || token.is("}") || token.is("else") ||
               token.is("do") || token.is(":");
    }

    /// The bracket that the one at `close` closes.
    std::optional<std::size_t> openOf(std::size_t close) const {
        std::size_t depth = 0;
        for (std::size_t i = close + 1; i-- > 0;) {
            const Token& token = tokens_[i];
            if (token.is(")") || token.is("]") || token.is("}"))
                ++depth;
            else if ((token.is("(") || token.is("[") || token.is("{")) && --depth == 0)
                return i;
        }
        return std::nullopt;
    }

    /// The `if`, `for`, `while` or `switch` whose parenthesis this is.
    std::optional<std::size_t> keywordBefore(std::size_t open) const {
        std::size_t i = open;
        if (i > 0 && tokens_[i - 1].is("constexpr"))
            --i;
        if (i == 0)
            return std::nullopt;
        for (const std::string_view word : {"if", "for", "while", "switch"})
            if (tokens_[i - 1].is(word))
                return i - 1;
        return std::nullopt;
    }

    /// The first token of the statement that holds the token; nullopt inside of parentheses.
    std::optional<std::size_t> statementBegin(std::size_t token) const {
        std::size_t begin = token;
        while (begin > 0 && !endsStatement(tokens_[begin - 1])) {
            if (tokens_[begin - 1].is("(") || tokens_[begin - 1].is("["))
                return std::nullopt;
            if (!tokens_[begin - 1].is(")") && !tokens_[begin - 1].is("]")) {
                --begin;
                continue;
            }
            const auto open = openOf(begin - 1);
            if (!open || keywordBefore(*open))
                return open ? std::optional(begin) : std::nullopt;
            begin = *open;
        }
        return begin;
    }

    /// The first token of the innermost block that holds the token, past whole statements.
    std::optional<std::size_t> blockBegin(std::size_t token) const {
        for (std::size_t i = token + 1; i-- > 0;) {
            if (tokens_[i].is("{"))
                return i + 1;
            if (tokens_[i].is("(") || tokens_[i].is("["))
                return std::nullopt;
            if (tokens_[i].is(")") || tokens_[i].is("]") || tokens_[i].is("}")) {
                const auto open = openOf(i);
                if (!open)
                    return std::nullopt;
                i = *open;
            }
        }
        return std::nullopt;
    }

    /// The condition that ends with this parenthesis.
    std::optional<BranchCondition> conditionBefore(std::size_t close) const {
        const auto open = openOf(close);
        const auto keyword = open ? keywordBefore(*open) : std::nullopt;
        if (!keyword)
            return std::nullopt;
        const bool isIf = tokens_[*keyword].is("if");
        return BranchCondition{
            *keyword, {*open + 1, close}, isIf ? BranchRule::IfTrue : BranchRule::Unknown};
    }

    /// The `if` of the `else` at this token.
    std::optional<BranchCondition> ifOfElse(std::size_t otherwise) const {
        if (otherwise == 0)
            return std::nullopt;
        std::optional<std::size_t> begin;
        if (tokens_[otherwise - 1].is("}"))
            begin = openOf(otherwise - 1);
        else if (tokens_[otherwise - 1].is(";") && otherwise > 1)
            begin = statementBegin(otherwise - 2);
        while (begin && *begin > 0 && tokens_[*begin - 1].is(")")) {
            auto condition = conditionBefore(*begin - 1);
            if (condition && condition->rule == BranchRule::IfTrue) {
                condition->rule = BranchRule::IfFalse;
                return condition;
            }
            begin = condition ? std::optional(condition->statement) : std::nullopt;
        }
        return std::nullopt;
    }

    const std::vector<Token>& tokens_;
};

} // namespace

std::vector<BranchCondition> branchConditions(const std::vector<Token>& tokens, std::size_t token,
                                              std::size_t place) {
    return BranchReader(tokens).around(token, place);
}

} // namespace kernelskill::engine
