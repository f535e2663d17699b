#include "analysis/scan/conditional_text.h"

#include "analysis/scan/macros.h"

#include <algorithm>

namespace kernelskill::analysis {
namespace {

enum class ConditionalKind { None, Open, Alternative, Close };

ConditionalKind conditionalKind(const Token& token) {
    if (token.kind != TokenKind::Directive)
        return ConditionalKind::None;
    const auto name = directiveParts(token.text).name;
    if (name == "if" || name == "ifdef" || name == "ifndef")
        return ConditionalKind::Open;
    if (name == "else" || name == "elif" || name == "elifdef" || name == "elifndef")
        return ConditionalKind::Alternative;
    return name == "endif" ? ConditionalKind::Close : ConditionalKind::None;
}

bool isNeverTrue(const Token& token) {
    const auto parts = directiveParts(token.text);
    return (parts.name == "if" || parts.name == "elif") && lex(parts.remainder).size() == 1 &&
           (parts.remainder.starts_with("0") || parts.remainder.starts_with("false")) &&
           lex(parts.remainder)[0].text.size() == (parts.remainder.starts_with("0") ? 1 : 5);
}

/// Whether every bracket of [begin, end) closes inside it.
bool isBalanced(const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
    int depth = 0;
    for (auto i = begin; i < end; ++i) {
        const auto& token = tokens[i];
        if (token.is("{") || token.is("("))
            ++depth;
        else if (token.is("}") || token.is(")"))
            --depth;
        if (depth < 0)
            return false;
    }
    return depth == 0;
}

/// Copies tokens[begin, end) into `result`, conditionals resolved as structuralTokens says.
class StructureBuilder {
public:
    explicit StructureBuilder(const std::vector<Token>& tokens) : tokens_(tokens) {}

    /// `depth` counts the conditionals around; those that are nested too deeply are copied whole.
    void copy(std::size_t begin, std::size_t end, std::vector<Token>& result, int depth = 0) const {
        constexpr int maxDepth = 64;
        for (auto i = begin; i < end; ++i) {
            if (depth < maxDepth && conditionalKind(tokens_[i]) == ConditionalKind::Open)
                i = copyConditional(i, end, result, depth);
            else if (tokens_[i].kind != TokenKind::Directive)
                result.push_back(tokens_[i]);
        }
    }

private:
    /// Returns the index of the #endif.
    std::size_t copyConditional(std::size_t open, std::size_t end, std::vector<Token>& result,
                                int around) const {
        std::vector<std::size_t> marks{open};
        std::size_t depth = 0;
        auto i = open;
        for (; i < end; ++i) {
            const auto kind = conditionalKind(tokens_[i]);
            if (kind == ConditionalKind::Open)
                ++depth;
            else if (kind == ConditionalKind::Alternative && depth == 1)
                marks.push_back(i);
            else if (kind == ConditionalKind::Close && --depth == 0)
                break;
        }
        marks.push_back(i);
        std::vector<std::vector<Token>> branches(marks.size() - 1);
        for (std::size_t b = 0; b < branches.size(); ++b)
            copy(marks[b] + 1, marks[b + 1], branches[b], around + 1);
        const bool allBalanced = std::ranges::all_of(
            branches, [](const auto& branch) { return isBalanced(branch, 0, branch.size()); });
        for (const auto& branch : branches) {
            result.insert(result.end(), branch.begin(), branch.end());
            if (!allBalanced && !branch.empty())
                break;
        }
        return i;
    }

    const std::vector<Token>& tokens_;
};

} // namespace

bool isConditional(const Token& token) {
    return conditionalKind(token) != ConditionalKind::None;
}

std::vector<Token> withoutDisabled(const std::vector<Token>& tokens) {
    std::vector<Token> result;
    std::size_t disabledDepth = 0; // > 0 inside an #if 0
    for (const auto& token : tokens) {
        const auto kind = conditionalKind(token);
        if (disabledDepth > 0) {
            if (kind == ConditionalKind::Open)
                ++disabledDepth;
            else if (kind == ConditionalKind::Close)
                --disabledDepth;
            else if (kind == ConditionalKind::Alternative && disabledDepth == 1 &&
                     !isNeverTrue(token))
                disabledDepth = 0;
            if (disabledDepth > 0 || kind == ConditionalKind::None)
                continue;
        }
        result.push_back(token);
        if (kind == ConditionalKind::Open && isNeverTrue(token))
            disabledDepth = 1;
    }
    return result;
}

std::vector<Token> structuralTokens(const std::vector<Token>& tokens) {
    const auto enabled = withoutDisabled(tokens);
    std::vector<Token> result;
    StructureBuilder(enabled).copy(0, enabled.size(), result);
    return result;
}

} // namespace kernelskill::analysis
