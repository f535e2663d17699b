#include "engine/repair/compile_fixes/fix_candidate.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

/// After the last #include at the file's head, or before the first token if there is none.
std::uint32_t insertionPlace(const RepairContext& context) {
    std::uint32_t place = 0;
    bool hasInclude = false;
    for (const analysis::Token& token : context.tokens) {
        if (token.kind != analysis::TokenKind::Directive)
            break;
        if (token.text.find("include") != std::string_view::npos &&
            token.text.find("#if") == std::string_view::npos) {
            place = token.span.end;
            hasInclude = true;
        }
    }
    if (!hasInclude)
        return context.tokens.empty() ? 0 : context.tokens.front().span.begin;
    // The token may include its line end.
    while (place > 0 && (context.text[place - 1] == '\n' || context.text[place - 1] == '\r'))
        --place;
    return place;
}

} // namespace

std::string_view RepairContext::textAt(std::size_t index) const {
    return index < tokens.size() ? tokens[index].text : std::string_view{};
}

bool says(const analysis::Diagnostic& error, std::string_view words) {
    return error.message.find(words) != std::string::npos;
}

std::string_view RepairContext::slice(analysis::Span span) const {
    auto begin = std::min<std::size_t>(span.begin, text.size());
    auto end = std::clamp<std::size_t>(span.end, begin, text.size());
    return text.substr(begin, end - begin);
}

std::size_t RepairContext::tokenAt(std::uint32_t offset) const {
    auto after = std::ranges::upper_bound(
        tokens, offset, {}, [](const analysis::Token& token) { return token.span.end; });
    return static_cast<std::size_t>(after - tokens.begin());
}

std::uint32_t RepairContext::endOfPrevious(std::uint32_t offset) const {
    std::size_t index = tokenAt(offset);
    if (index < tokens.size() && tokens[index].span.end <= offset)
        return tokens[index].span.end;
    return index > 0 ? tokens[index - 1].span.end : 0;
}

std::uint32_t RepairContext::lineOf(std::uint32_t offset) const {
    return model.source->lineColumn(offset).line;
}

std::uint32_t RepairContext::indentationOf(std::uint32_t line) const {
    constexpr std::uint32_t tabWidth = 4;
    std::uint32_t columns = 0;
    for (char character : model.source->line(line)) {
        if (character == ' ')
            ++columns;
        else if (character == '\t')
            columns += tabWidth;
        else
            break;
    }
    return columns;
}

RepairContext makeRepairContext(const analysis::FileModel& model,
                                const analysis::CompileCommand& command,
                                const analysis::Toolchain& toolchain) {
    std::string_view text = model.source->text();
    return RepairContext{model, command, toolchain, text, analysis::lex(text)};
}

std::optional<std::string> quotedName(std::string_view message, std::size_t number) {
    std::size_t from = 0;
    for (;; --number) {
        std::size_t open = message.find('\'', from);
        std::size_t close = open == std::string_view::npos ? open : message.find('\'', open + 1);
        if (close == std::string_view::npos)
            return std::nullopt;
        if (number == 0)
            return std::string(message.substr(open + 1, close - open - 1));
        from = close + 1;
    }
}

FixCandidate insertion(std::string cause, std::uint32_t offset, std::string inserted,
                       std::string title, Ladder ladder) {
    return {std::move(cause), std::move(title), {{{offset, offset}, std::move(inserted)}}, ladder};
}

FixCandidate behindIncludes(const RepairContext& context, std::string cause, std::string_view lines,
                            std::string title) {
    std::uint32_t place = insertionPlace(context);
    bool isBehind =
        place > 0 && std::ranges::any_of(context.tokens, [&](const analysis::Token& token) {
            return token.span.begin < place;
        });
    std::string inserted(lines);
    return insertion(std::move(cause), place, isBehind ? "\n" + inserted : inserted + "\n",
                     std::move(title));
}

} // namespace kernelskill::engine
