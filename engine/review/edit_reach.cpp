#include "engine/review/edit_reach.h"

#include "analysis/scan/macros.h"
#include "analysis/source/files.h"
#include "analysis/syntax/lexer.h"
#include "engine/comparison/text_difference.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
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

/// The tokens of a part of a text; empty without one.
std::string tokensOf(std::string_view text, std::optional<Span> span) {
    return span ? analysis::tokenText(textOf(text, *span)) : std::string();
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
    // A label has one side: where it is not chosen, another label is. A condition that no thread
    // reached has one side too, so that one sentence tells of it.
    if (!condition.switched && (seen.wasTrue || seen.wasFalse || !seen.canBeTrue))
        sides.push_back({false, seen.canBeFalse, seen.wasFalse, condition.whenFalse});
    return sides;
}

/// Whether the outcome only keeps threads from work, by sizes and places: no code hangs on it that
/// computes anything, and no number says when it happens but bounds that the other version has.
bool onlyGuards(std::string_view text, const CodeCondition& condition, const Side& side,
                const std::set<std::string>& bounds) {
    const auto tokens = analysis::lex(textOf(text, condition.span));
    const bool readsData =
        std::ranges::any_of(tokens, [](const analysis::Token& token) { return token.is("["); });
    const bool hasNewBound = std::ranges::any_of(
        condition.bounds, [&](const std::string& bound) { return !bounds.contains(bound); });
    if (readsData || condition.equalsNumber || hasNewBound)
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

/// "line 7", with the file's name for a header.
std::string placeOf(const std::string& file, std::string_view text, std::uint32_t offset,
                    bool ofCode) {
    const std::uint32_t line =
        ofCode ? firstLineOf(text, {offset, static_cast<std::uint32_t>(text.size())})
               : lineOf(text, offset);
    return file.empty() ? fmt::format("line {}", line)
                        : fmt::format("line {} of {}", line,
                                      std::filesystem::path(file).filename().string());
}

/// In one line, and not too long.
std::string shown(std::string_view condition) {
    std::string text(condition);
    std::ranges::replace_if(
        text, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }, ' ');
    if (text.size() > maxShownCondition)
        text = text.substr(0, maxShownCondition) + "...";
    return text;
}

std::string sentence(const std::string& file, std::string_view text, const CodeCondition& condition,
                     const Side& side) {
    const std::string place = placeOf(file, text, condition.span.begin, false);
    if (condition.switched) {
        const std::string_view label = textOf(text, condition.span);
        return fmt::format("no input chose '{}{}' on {}", label == "default" ? "" : "case ",
                           shown(label), place);
    }
    if (side.code) {
        const std::string code = placeOf(file, text, side.code->begin, true);
        if (code != place)
            return fmt::format("{} was reached by no input", code);
    }
    return fmt::format("on {}, '{}' was {} for every input", place,
                       shown(textOf(text, condition.span)), side.isTrue ? "false" : "true");
}

bool isEdited(const std::vector<Span>& edited, Span span) {
    return std::ranges::any_of(edited, [&](Span edit) {
        return edit.empty() ? span.begin <= edit.begin && edit.end <= span.end
                            : edit.overlaps(span);
    });
}

/// Whether code that is not read as trees has conditions.
bool hasConditions(std::string_view code) {
    const auto tokens = analysis::lex(code);
    return std::ranges::any_of(tokens, [](const analysis::Token& token) {
        return token.is("?") || token.is("if") || token.is("switch") || token.is("while") ||
               token.is("&&") || token.is("||") || token.is("for");
    });
}

/// The lambda's or the macro's text behind its name.
std::string_view codeOf(std::string_view unread) {
    return unread.starts_with("#") ? analysis::directiveParts(unread).remainder : unread;
}

/// The text of a header in a program.
std::optional<std::string> headerText(const ProgramSource& program, const std::string& file) {
    const auto open = program.unsaved.find(file);
    return open != program.unsaved.end() ? std::optional(open->second) : analysis::readFile(file);
}

} // namespace

EditReach::EditReach(const ProgramSource& original, const ProgramSource& candidate) {
    original_.program = original;
    candidate_.program = candidate;
    addFile("", original.text, candidate.text);
    for (const auto& [file, text] : candidate.unsaved) {
        const std::optional<std::string> before = headerText(original, file);
        if (before && *before != text)
            addFile(file, *before, text);
    }
    findConditions(original_, candidate_);
    findConditions(candidate_, original_);
}

void EditReach::addFile(const std::string& name, std::string before, std::string after) {
    File original{name, std::move(before), {}};
    File candidate{name, std::move(after), {}};
    std::int64_t moved = 0;
    for (const analysis::TextEdit& edit : textDifference(original.text, candidate.text)) {
        const auto begin = static_cast<std::uint32_t>(edit.span.begin + moved);
        const Span fresh{begin, begin + static_cast<std::uint32_t>(edit.newText.size())};
        moved += static_cast<std::int64_t>(edit.newText.size()) - edit.span.size();
        if (tokensOf(original.text, edit.span) == tokensOf(candidate.text, fresh))
            continue;
        original.edited.push_back(edit.span);
        candidate.edited.push_back(fresh);
    }
    original_.files.push_back(std::move(original));
    candidate_.files.push_back(std::move(candidate));
}

/// Drops conditions beyond the max number. A `switch` that loses a label loses them all.
void EditReach::dropBeyondLimit(std::vector<Watched>& conditions) {
    if (conditions.size() <= maxWatched)
        return;
    std::set<std::pair<std::size_t, Span>> cut;
    for (std::size_t i = maxWatched; i < conditions.size(); ++i)
        if (conditions[i].condition.switched)
            cut.insert({conditions[i].file, *conditions[i].condition.switched});
    conditions.resize(maxWatched);
    std::erase_if(conditions, [&](const Watched& one) {
        return one.condition.switched && cut.contains({one.file, *one.condition.switched});
    });
}

void EditReach::findConditions(Version& version, const Version& other) {
    std::set<std::string> known; // Code that cannot be watched, and that both versions have.
    const auto unreadOf = [](const Version& of, const File& file) {
        return unreadCode(of.program, file.name.empty() ? of.program.file : file.name, file.text);
    };
    for (const File& file : other.files)
        for (const Span span : unreadOf(other, file))
            known.insert(tokensOf(codeOf(textOf(file.text, span)), Span{0, span.size()}));
    for (std::size_t i = 0; i < version.files.size(); ++i) {
        const File& file = version.files[i];
        const std::string& name = file.name.empty() ? version.program.file : file.name;
        for (CodeCondition& condition : codeConditions(version.program, name, file.text))
            version.conditions.push_back({std::move(condition), i});
        for (const Span span : unreadOf(version, file)) {
            const std::string_view code = codeOf(textOf(file.text, span));
            if (isEdited(file.edited, span) && hasConditions(code) &&
                !known.contains(tokensOf(code, Span{0, span.size()})))
                version.unwatched.push_back(
                    fmt::format("the conditions in '{}' on {} cannot be watched", shown(code),
                                placeOf(file.name, file.text, span.begin, false)));
        }
    }
    // Their order is part of the image: without need it must not depend on the edit, so that all
    // reviews of edits of one text share the image of the original.
    if (version.conditions.size() > maxWatched)
        std::ranges::stable_partition(version.conditions, [&](const Watched& one) {
            const auto& edited = version.files[one.file].edited;
            const CodeCondition& condition = one.condition;
            return isEdited(edited, condition.span) ||
                   (condition.whenTrue && isEdited(edited, *condition.whenTrue)) ||
                   (condition.whenFalse && isEdited(edited, *condition.whenFalse));
        });
    dropBeyondLimit(version.conditions);
    for (const auto& [condition, file] : version.conditions)
        version.program.watched.push_back({version.files[file].name, condition.span,
                                           condition.switched, condition.isInConstexpr});
    version.program.followsLocals = true;
}

void EditReach::add(const RunPair& pair) {
    unite(original_.outcomes, pair.original.profile.conditions);
    unite(candidate_.outcomes, pair.candidate.profile.conditions);
}

bool EditReach::hasEditedConditions(const Version& version) {
    return std::ranges::any_of(version.conditions, [&](const Watched& one) {
        const auto& edited = version.files[one.file].edited;
        return isEdited(edited, one.condition.span) ||
               (one.condition.switched && isEdited(edited, *one.condition.switched));
    });
}

EditReach::Unreached EditReach::unreached(const Version& version, const Version& other) {
    const auto textIn = [](const Version& of, const Watched& one) -> std::string_view {
        return of.files[one.file].text;
    };
    const auto keyOf = [&](const Version& of, const Watched& one, const Side& side) {
        const std::string_view text = textIn(of, one);
        return std::tuple(tokensOf(text, one.condition.span), side.isTrue,
                          tokensOf(text, side.code));
    };
    const auto eachSide = [](const Version& of, auto use) {
        for (std::size_t i = 0; i < std::min(of.conditions.size(), of.outcomes.size()); ++i)
            for (const Side& side : sidesOf(of.conditions[i].condition, of.outcomes[i]))
                use(of.conditions[i], side);
    };
    const auto isUnreached = [](const Side& side) { return side.canBe && !side.was; };
    using Key = std::tuple<std::string, bool, std::string>;
    std::set<Key> known;
    eachSide(other, [&](const Watched& one, const Side& side) {
        if (isUnreached(side))
            known.insert(keyOf(other, one, side));
    });
    std::set<std::string> bounds;
    for (const Watched& one : other.conditions)
        bounds.insert(one.condition.bounds.begin(), one.condition.bounds.end());
    // Code may have copies, an unrolled body and a tail: one of them that was reached is enough.
    std::set<Key> reached;
    // Code that only another address would reach.
    std::vector<std::pair<std::size_t, Span>> untried;
    eachSide(version, [&](const Watched& one, const Side& side) {
        if (side.was)
            reached.insert(keyOf(version, one, side));
        if (isUnreached(side) && one.condition.isOfAddress && side.code)
            untried.emplace_back(one.file, *side.code);
    });
    Unreached result;
    eachSide(version, [&](const Watched& one, const Side& side) {
        const CodeCondition& condition = one.condition;
        const File& file = version.files[one.file];
        const bool concernsEdit =
            isEdited(file.edited, condition.span) ||
            (side.code && isEdited(file.edited, *side.code)) ||
            (condition.switched && isEdited(file.edited, *condition.switched));
        if (!isUnreached(side) || !concernsEdit || known.contains(keyOf(version, one, side)) ||
            reached.contains(keyOf(version, one, side)))
            return;
        std::string text = sentence(file.name, file.text, condition, side);
        const bool isUntried =
            condition.isOfAddress ||
            (!condition.switched && onlyGuards(file.text, condition, side, bounds)) ||
            std::ranges::any_of(untried, [&](const auto& code) {
                return code.first == one.file && code.second.contains(condition.span);
            });
        auto& sentences = isUntried ? result.untried : result.unshown;
        if (std::ranges::find(sentences, text) == sentences.end())
            sentences.push_back(std::move(text));
    });
    return result;
}

CheckResult EditReach::check() const {
    if (isLost_ && (hasEditedConditions(original_) || hasEditedConditions(candidate_)))
        return invalid(reachCheck,
                       "the kernel does not compile for the emulator with its conditions watched, "
                       "so no run tells whether the edited ones were met",
                       {.stage = ReviewStage::Reach});
    if (original_.outcomes.empty() && candidate_.outcomes.empty() && original_.unwatched.empty() &&
        candidate_.unwatched.empty())
        return held(reachCheck, "no condition of the kernel depends on its input");
    Unreached found = unreached(candidate_, original_);
    Unreached removed = unreached(original_, candidate_);
    std::vector<std::string>& sentences = found.unshown;
    std::ranges::copy(candidate_.unwatched, std::back_inserter(sentences));
    std::ranges::copy(original_.unwatched, std::back_inserter(removed.unshown));
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
    const std::string all = fmt::format("{}{}", fmt::join(sentences, "; "),
                                        more == 0 ? "" : fmt::format(" ({} more)", more));
    if (isShownBySteps_)
        return held(reachCheck, all + ", but by the inputs on which each step was reviewed");
    return invalid(reachCheck, all + ", so the inputs do not show what the edit does there",
                   {.stage = ReviewStage::Reach});
}

} // namespace kernelskill::engine
