#include "analysis/syntax/brackets.h"

namespace kernelskill::analysis {
namespace {

std::optional<std::size_t> otherThan(std::size_t token, const std::vector<std::size_t>& table) {
    return token < table.size() && table[token] != token ? std::optional(table[token])
                                                         : std::nullopt;
}

} // namespace

Brackets::Brackets(const std::vector<Token>& tokens)
    : partners_(tokens.size()), around_(tokens.size()) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        const bool closes = token.is(")") || token.is("]") || token.is("}");
        partners_[i] = i;
        if (closes && !open.empty()) {
            partners_[i] = open.back();
            partners_[open.back()] = i;
            open.pop_back();
        }
        around_[i] = open.empty() ? i : open.back();
        if (token.is("(") || token.is("[") || token.is("{"))
            open.push_back(i);
    }
}

std::optional<std::size_t> Brackets::partnerOf(std::size_t token) const {
    return otherThan(token, partners_);
}

std::optional<std::size_t> Brackets::around(std::size_t token) const {
    return otherThan(token, around_);
}

} // namespace kernelskill::analysis
