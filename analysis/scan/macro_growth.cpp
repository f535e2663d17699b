#include "analysis/scan/macro_growth.h"

#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"
#include "analysis/syntax/nesting.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::analysis {

namespace {

/// Counts tokens as a preprocessor would make them, without making them.
class ExpansionCounter {
public:
    /// The arguments' tokens, counted, by the names of the macro's parameters.
    using Sizes = std::map<std::string, std::size_t, std::less<>>;

    ExpansionCounter(const MacroTable& macros, std::size_t maxMade)
        : macros_(macros), maxMade_(maxMade) {}

    [[nodiscard]] bool isTooMuch() const { return made_ > maxMade_; }

    /// Tokens of the macro whose name is at `at`; sets `at` to the last token of its use.
    std::size_t use(const std::vector<Token>& tokens, std::size_t& at, const Sizes& around = {}) {
        const Macro& macro = *macros_.find(tokens[at].text);
        Sizes arguments;
        if (macro.isFunctionLike) {
            if (at + 1 >= tokens.size() || !tokens[at + 1].is("("))
                return 1;
            const std::size_t close = std::min(matchingBracket(tokens, at + 1), tokens.size() - 1);
            arguments = argumentsOf(macro, tokens, at + 1, close, around);
            at = close;
        }
        constexpr std::size_t maxOpen = 500;
        if (isOpen(macro) || open_.size() > maxOpen)
            return 1; // A macro is not expanded within itself.
        const auto known = sizes_.find(macro.name);
        if (!macro.isFunctionLike && known != sizes_.end()) {
            made_ += known->second;
            return known->second;
        }
        const std::vector<Token> body = lex(macro.body);
        if (tooDeeplyNested(body)) {
            made_ = maxMade_ + 1;
            return 1;
        }
        open_.push_back(&macro);
        const std::size_t size = count(body, 0, body.size(), arguments);
        open_.pop_back();
        if (!macro.isFunctionLike && open_.empty())
            sizes_.emplace(macro.name, size);
        return size;
    }

private:
    [[nodiscard]] bool isOpen(const Macro& macro) const {
        return std::ranges::find(open_, &macro) != open_.end();
    }

    std::size_t count(const std::vector<Token>& tokens, std::size_t begin, std::size_t end,
                      const Sizes& arguments) {
        std::size_t size = 0;
        for (std::size_t i = begin; i < end && !isTooMuch(); ++i) {
            ++made_;
            if (!tokens[i].isIdentifier())
                ++size;
            else if (const auto given = arguments.find(tokens[i].text); given != arguments.end()) {
                size += given->second;
                made_ += given->second;
            } else if (macros_.contains(tokens[i].text))
                size += use(tokens, i, arguments);
            else
                ++size;
        }
        return size;
    }

    Sizes argumentsOf(const Macro& macro, const std::vector<Token>& tokens, std::size_t open,
                      std::size_t close, const Sizes& around) {
        Sizes result;
        std::size_t begin = open + 1;
        std::size_t index = 0;
        int depth = 0;
        for (std::size_t i = open + 1; i <= close; ++i) {
            const bool ends = i == close || (depth == 0 && tokens[i].is(","));
            if (ends) {
                if (index < macro.parameters.size())
                    result[macro.parameters[index++]] += count(tokens, begin, i, around);
                begin = i + 1;
            }
            depth += tokens[i].is("(") ? 1 : tokens[i].is(")") ? -1 : 0;
        }
        return result;
    }

    const MacroTable& macros_;
    std::size_t maxMade_;
    std::map<std::string, std::size_t, std::less<>> sizes_; ///< Of macros without parameters.
    std::vector<const Macro*> open_;                        ///< The macros that are being expanded.
    std::size_t made_ = 0;
};

} // namespace

std::optional<Span> findMacroExplosion(std::string_view text) {
    if (!text.contains("#"))
        return std::nullopt;
    const std::vector<Token> tokens = lex(text);
    MacroTable macros;
    macros.addDefinitionsOf(tokens);
    constexpr std::size_t maxGrowth = 4;
    ExpansionCounter counter(macros, std::max(maxExpandedTokens, maxGrowth * tokens.size()));
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!tokens[i].isIdentifier() || !macros.contains(tokens[i].text))
            continue;
        const Span name = tokens[i].span;
        counter.use(tokens, i);
        if (counter.isTooMuch())
            return name;
    }
    return std::nullopt;
}

} // namespace kernelskill::analysis
