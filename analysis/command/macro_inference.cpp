#include "analysis/command/macro_inference.h"

#include "analysis/command/platform_branches.h"
#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace kernelskill::analysis {

namespace {

/// A branch that is open at a place of a text.
struct OpenBranch {
    std::string needed; ///< The macro of an `#ifdef`; empty otherwise.
    /// Whether it is an `#ifndef` up to its `#else`, as around a header or in front of a default.
    bool isUnless = false;
};

/// Returns M of `#ifdef M`, `#if defined(M)` and `#if defined M`.
std::optional<std::string> onlyMacro(std::string_view keyword, std::string_view condition) {
    std::vector<Token> tokens = lex(condition);
    if (keyword == "if") {
        if (tokens.empty() || tokens.front().text != "defined")
            return std::nullopt;
        std::erase_if(tokens, [](const Token& token) {
            return token.text == "defined" || token.text == "(" || token.text == ")";
        });
    }
    return tokens.size() == 1 && tokens[0].kind == TokenKind::Identifier
               ? std::optional(std::string(tokens[0].text))
               : std::nullopt;
}

/// The name of `#define NAME ...` and `#undef NAME`.
std::string definedName(std::string_view rest) {
    const std::vector<Token> tokens = lex(rest);
    return tokens.empty() ? std::string() : std::string(tokens.front().text);
}

/// Goes through a text with the branches that are open.
template <class OnToken>
void walk(std::string_view text, const OnToken& onToken) {
    std::vector<OpenBranch> open;
    for (const Token& token : lex(text)) {
        onToken(token, open);
        if (token.kind != TokenKind::Directive)
            continue;
        const auto [keyword, rest] = directiveParts(token.text);
        if (keyword == "if" || keyword == "ifdef")
            open.push_back({onlyMacro(keyword, rest).value_or(""), false});
        else if (keyword == "ifndef")
            open.push_back({{}, true});
        else if (!open.empty() && (keyword == "else" || keyword == "elif"))
            open.back() = {};
        else if (!open.empty() && keyword == "endif")
            open.pop_back();
    }
}

class Conditions {
public:
    void readHeader(std::string_view text) {
        const std::vector<Span> foreign = branchesOfOtherPlatforms(text);
        walk(text, [&](const Token& token, const std::vector<OpenBranch>& open) {
            const auto name = defined(token);
            if (!name || std::ranges::any_of(
                             foreign, [&](Span branch) { return branch.contains(token.span); }))
                return;
            std::string needed;
            bool isPlain = true;
            for (const OpenBranch& branch : open) {
                isPlain =
                    isPlain && (branch.isUnless || (!branch.needed.empty() && needed.empty()));
                if (!branch.needed.empty())
                    needed = branch.needed;
            }
            if (!isPlain)
                needed.clear();
            if (const auto known = needs_.try_emplace(*name, needed);
                !known.second && known.first->second != needed)
                known.first->second.clear();
            else if (known.second)
                order_.push_back(*name);
        });
    }

    [[nodiscard]] std::vector<std::string> neededBy(std::string_view text) const {
        std::set<std::string, std::less<>> used;
        std::set<std::string, std::less<>> own;
        std::string_view before;
        walk(text, [&](const Token& token, const std::vector<OpenBranch>& open) {
            if (const auto name = defined(token))
                own.insert(*name);
            const bool isAlways = std::ranges::all_of(open, &OpenBranch::isUnless);
            if (token.kind == TokenKind::Identifier) {
                // A name behind a name is declared there.
                const bool isDeclared =
                    !before.empty() && before != "return" && before != "else" && before != "case";
                if (isDeclared)
                    own.emplace(token.text);
                else if (isAlways)
                    used.emplace(token.text);
            }
            before = token.kind == TokenKind::Identifier ? token.text : std::string_view{};
        });
        std::vector<std::string> result;
        for (const std::string& name : order_) {
            const std::string& needed = needs_.at(name);
            if (needed.empty() || needed.starts_with('_') || !used.contains(name) ||
                own.contains(name) || own.contains(needed) || needs_.contains(needed) ||
                std::ranges::find(result, needed) != result.end())
                continue;
            result.push_back(needed);
        }
        return result;
    }

private:
    [[nodiscard]] static std::optional<std::string> defined(const Token& token) {
        if (token.kind != TokenKind::Directive)
            return std::nullopt;
        const auto [keyword, rest] = directiveParts(token.text);
        return keyword == "define" || keyword == "undef" ? std::optional(definedName(rest))
                                                         : std::nullopt;
    }

    /// Maps each macro to the one under which all texts define it; empty where they differ.
    std::map<std::string, std::string, std::less<>> needs_;
    std::vector<std::string> order_;
};

} // namespace

std::vector<std::string> neededMacros(std::string_view text,
                                      const std::vector<std::string>& headers) {
    Conditions conditions;
    for (const std::string& header : headers)
        conditions.readHeader(header);
    return conditions.neededBy(text);
}

} // namespace kernelskill::analysis
