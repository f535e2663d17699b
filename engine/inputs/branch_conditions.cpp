#include "engine/inputs/branch_conditions.h"

#include <optional>
#include <string_view>

namespace kernelskill::engine {
namespace {

using analysis::Token;

/// Longer chains of `else if` are not followed.
constexpr std::size_t maxConditions = 64;

class BranchReader {
public:
    explicit BranchReader(const ProgramText::File& file)
        : tokens_(file.tokens), brackets_(file.brackets) {}

    std::vector<BranchCondition> around(std::size_t token, std::size_t place) const {
        std::vector<BranchCondition> result;
        std::optional<std::size_t> begin = statementBegin(token);
        while (begin && *begin > 0 && result.size() < maxConditions) {
            const std::size_t before = *begin - 1;
            if (tokens_[before].is("{")) {
                if (brackets_.partnerOf(before).value_or(tokens_.size()) >= place)
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
            const auto open = brackets_.partnerOf(begin - 1);
            if (!open || keywordBefore(*open))
                return open ? std::optional(begin) : std::nullopt;
            begin = *open;
        }
        return begin;
    }

    /// The first token of the innermost block that holds the token; nullopt inside of parentheses.
    std::optional<std::size_t> blockBegin(std::size_t token) const {
        const auto open = brackets_.around(token);
        return open && tokens_[*open].is("{") ? std::optional(*open + 1) : std::nullopt;
    }

    /// The condition that ends with this parenthesis.
    std::optional<BranchCondition> conditionBefore(std::size_t close) const {
        const auto open = brackets_.partnerOf(close);
        const auto keyword = open ? keywordBefore(*open) : std::nullopt;
        if (!keyword)
            return std::nullopt;
        const bool isIf = tokens_[*keyword].is("if");
        return BranchCondition{
            *keyword, {*open + 1, close}, isIf ? BranchRule::IfTrue : BranchRule::Unknown};
    }

    /// The `if` of the `else` at this token.
    std::optional<BranchCondition> ifOfElse(std::size_t otherwise) const {
        if (otherwise < 2)
            return std::nullopt;
        std::optional<std::size_t> begin;
        if (tokens_[otherwise - 1].is("}"))
            begin = brackets_.partnerOf(otherwise - 1);
        else if (tokens_[otherwise - 1].is(";"))
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
    const analysis::Brackets& brackets_;
};

} // namespace

std::vector<BranchCondition> branchConditions(const ProgramText::File& file, std::size_t token,
                                              std::size_t place) {
    return BranchReader(file).around(token, place);
}

} // namespace kernelskill::engine
