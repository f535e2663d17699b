#include "engine/review/edit_reach.h"

#include "analysis/syntax/lexer.h"
#include "engine/comparison/text_difference.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Span;

constexpr const char* reachCheck = "edited code is reached";
constexpr std::size_t maxShownCondition = 60;
constexpr std::size_t maxNamed = 3;

std::string_view textOf(std::string_view text, Span span) {
    return text.substr(span.begin, span.end - span.begin);
}

/// The tokens of a part of a text, which comments and white space do not change.
std::string tokensOf(std::string_view text, std::optional<Span> span) {
    std::string tokens;
    if (!span)
        return tokens;
    for (const analysis::Token& token : analysis::lex(textOf(text, *span)))
        tokens.append(token.text).append(" ");
    return tokens;
}

std::uint32_t lineOf(std::string_view text, std::uint32_t offset) {
    return static_cast<std::uint32_t>(1 + std::ranges::count(text.substr(0, offset), '\n'));
}

/// The line of the first statement in `code`, which may begin with a brace.
std::uint32_t firstLineOf(std::string_view text, Span code) {
    std::uint32_t at = code.begin;
    while (at + 1 < code.end &&
           (text[at] == '{' || std::isspace(static_cast<unsigned char>(text[at])) != 0))
        ++at;
    return lineOf(text, at);
}

/// One outcome of a condition, and the code that hangs on it.
struct Side {
    bool isTrue = true;
    bool canBe = false;
    bool was = false;
    std::optional<Span> code;
};

std::vector<Side> sidesOf(const CodeCondition& condition, const ConditionOutcomes& seen) {
    std::vector<Side> sides{{true, seen.canBeTrue, seen.wasTrue, condition.whenTrue}};
    if (!condition.isOfLoop)
        sides.push_back({false, seen.canBeFalse, seen.wasFalse, condition.whenFalse});
    return sides;
}

/// Whether one side of a comparison is a number other than zero.
bool comparesWithNumber(const std::vector<analysis::Token>& tokens) {
    const auto isOneOf = [&](std::size_t at, std::initializer_list<std::string_view> words) {
        return at >= tokens.size() || std::ranges::find(words, tokens[at].text) != words.end();
    };
    const auto isComparison = [&](std::size_t at) {
        return at < tokens.size() && isOneOf(at, {"<", "<=", ">", ">=", "==", "!="});
    };
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].kind != analysis::TokenKind::Number || tokens[i].text == "0")
            continue;
        // Before the first token is no token either.
        if ((isComparison(i - 1) && isOneOf(i + 1, {"&&", "||", ")", "?"})) ||
            (isComparison(i + 1) && isOneOf(i - 1, {"&&", "||", "("})))
            return true;
    }
    return false;
}

/// Whether the outcome only keeps threads from work, by sizes and places: no code hangs on it that
/// computes anything, and no number in the text says when it happens.
bool onlyGuards(std::string_view text, const CodeCondition& condition, const Side& side) {
    const auto tokens = analysis::lex(textOf(text, condition.span));
    const bool readsData =
        std::ranges::any_of(tokens, [](const analysis::Token& token) { return token.is("["); });
    if (readsData || comparesWithNumber(tokens))
        return false;
    if (!side.code)
        return true;
    const auto code = analysis::lex(textOf(text, *side.code));
    for (std::size_t i = 0; i < code.size(); ++i) {
        const bool isCalled = i + 1 < code.size() && code[i + 1].is("(");
        if (code[i].is(";") || (code[i].isIdentifier() && !isCalled))
            return false;
    }
    return true;
}

std::string sentence(const ProgramSource& program, const CodeCondition& condition,
                     const Side& side) {
    const std::uint32_t line = lineOf(program.text, condition.span.begin);
    if (side.code && firstLineOf(program.text, *side.code) != line)
        return fmt::format("line {} was reached by no input",
                           firstLineOf(program.text, *side.code));
    std::string text(textOf(program.text, condition.span));
    std::ranges::replace_if(
        text, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }, ' ');
    if (text.size() > maxShownCondition)
        text = text.substr(0, maxShownCondition) + "...";
    return fmt::format("on line {}, '{}' was {} for every input", line, text,
                       side.isTrue ? "false" : "true");
}

} // namespace

EditReach::Version EditReach::versionOf(const ProgramSource& program) {
    Version version{program, codeConditions(program), {}, {}};
    for (const CodeCondition& condition : version.conditions)
        version.program.watched.push_back(condition.span);
    return version;
}

EditReach::EditReach(const ProgramSource& original, const ProgramSource& candidate)
    : original_(versionOf(original)), candidate_(versionOf(candidate)) {
    std::int64_t moved = 0;
    for (const analysis::TextEdit& edit : textDifference(original.text, candidate.text)) {
        const auto begin = static_cast<std::uint32_t>(edit.span.begin + moved);
        const Span fresh{begin, begin + static_cast<std::uint32_t>(edit.newText.size())};
        moved += static_cast<std::int64_t>(edit.newText.size()) - edit.span.size();
        if (tokensOf(original.text, edit.span) == tokensOf(candidate.text, fresh))
            continue;
        original_.edited.push_back(edit.span);
        candidate_.edited.push_back(fresh);
    }
}

void EditReach::add(const RunPair& pair) {
    unite(original_.outcomes, pair.original.profile.conditions);
    unite(candidate_.outcomes, pair.candidate.profile.conditions);
}

EditReach::Unreached EditReach::unreached(const Version& version, const Version& other) {
    const auto isEdited = [&](std::optional<Span> span) {
        return span && std::ranges::any_of(version.edited, [&](Span edit) {
                   return edit.empty() ? span->begin <= edit.begin && edit.end <= span->end
                                       : edit.overlaps(*span);
               });
    };
    const auto keyOf = [](const Version& of, const CodeCondition& condition, const Side& side) {
        return std::tuple(tokensOf(of.program.text, condition.span), side.isTrue,
                          tokensOf(of.program.text, side.code));
    };
    const auto unreachedSides = [](const Version& of, auto use) {
        for (std::size_t i = 0; i < std::min(of.conditions.size(), of.outcomes.size()); ++i)
            for (const Side& side : sidesOf(of.conditions[i], of.outcomes[i]))
                if (side.canBe && !side.was)
                    use(of.conditions[i], side);
    };
    std::set<std::tuple<std::string, bool, std::string>> known;
    unreachedSides(other, [&](const CodeCondition& condition, const Side& side) {
        known.insert(keyOf(other, condition, side));
    });
    // Code may have copies, an unrolled body and a tail: one of them that was reached is enough.
    std::set<std::tuple<std::string, bool, std::string>> reached;
    for (std::size_t i = 0; i < std::min(version.conditions.size(), version.outcomes.size()); ++i)
        for (const Side& side : sidesOf(version.conditions[i], version.outcomes[i]))
            if (side.was)
                reached.insert(keyOf(version, version.conditions[i], side));
    Unreached result;
    // Code that only another address would reach.
    std::vector<Span> untried;
    unreachedSides(version, [&](const CodeCondition& condition, const Side& side) {
        if (condition.isOfAddress && side.code)
            untried.push_back(*side.code);
    });
    unreachedSides(version, [&](const CodeCondition& condition, const Side& side) {
        if (!(isEdited(condition.span) || isEdited(side.code)) ||
            known.contains(keyOf(version, condition, side)) ||
            reached.contains(keyOf(version, condition, side)))
            return;
        std::string text = sentence(version.program, condition, side);
        const bool isUntried =
            condition.isOfAddress || onlyGuards(version.program.text, condition, side) ||
            std::ranges::any_of(untried,
                                [&](const Span& code) { return code.contains(condition.span); });
        auto& sentences = isUntried ? result.untried : result.unshown;
        if (std::ranges::find(sentences, text) == sentences.end())
            sentences.push_back(std::move(text));
    });
    return result;
}

CheckResult EditReach::check() const {
    if (original_.outcomes.empty() && candidate_.outcomes.empty())
        return held(reachCheck, "no condition of the kernel depends on its input");
    Unreached found = unreached(candidate_, original_);
    Unreached removed = unreached(original_, candidate_);
    std::vector<std::string>& sentences = found.unshown;
    for (std::string& sentence : removed.unshown)
        sentences.push_back("in the original, " + sentence);
    if (sentences.empty() && found.untried.empty())
        return held(reachCheck);
    if (sentences.empty())
        return held(
            reachCheck,
            fmt::format("not tried, because it depends on the address in a pointer or a size: {}",
                        fmt::join(found.untried, "; ")));
    const std::size_t more = sentences.size() - std::min(sentences.size(), maxNamed);
    sentences.resize(sentences.size() - more);
    return invalid(reachCheck,
                   fmt::format("{}{}, so the inputs do not show what the edit does there",
                               fmt::join(sentences, "; "),
                               more == 0 ? "" : fmt::format(" ({} more)", more)),
                   {.stage = ReviewStage::Reach});
}

} // namespace kernelskill::engine
