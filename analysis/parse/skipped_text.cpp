#include "analysis/parse/skipped_text.h"

#include "analysis/parse/clang_handle.h"
#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

namespace kernelskill::analysis {
namespace {

struct RangesDeleter {
    void operator()(CXSourceRangeList* ranges) const { clang_disposeSourceRangeList(ranges); }
};

/// Returns the first directive of the text, if it begins a header's guard: it asks for a macro, and
/// the next one defines that as nothing. A range that holds it is left out when the header is read
/// again, and says nothing of the first time.
std::optional<Span> guardOf(std::string_view text) {
    std::vector<Token> directives = lex(text);
    std::erase_if(directives,
                  [](const Token& token) { return token.kind != TokenKind::Directive; });
    if (directives.size() < 2)
        return std::nullopt;
    const auto [asks, condition] = directiveParts(directives[0].text);
    const auto [defines, name] = directiveParts(directives[1].text);
    const bool isGuard =
        (asks == "ifndef" || asks == "if") && defines == "define" && !name.empty() &&
        condition.ends_with(asks == "if" ? std::string(name) + ")" : std::string(name));
    return isGuard ? std::optional(directives[0].span) : std::nullopt;
}

std::string_view contentOf(CXTranslationUnit unit, CXFile file) {
    std::size_t size = 0;
    const char* text = clang_getFileContents(unit, file, &size);
    return text != nullptr ? std::string_view(text, size) : std::string_view();
}

} // namespace

std::map<std::string, std::vector<Span>, std::less<>>
skippedText(CXTranslationUnit unit, const std::vector<std::string>& files) {
    std::map<std::string, std::vector<Span>, std::less<>> result;
    for (const std::string& path : files) {
        CXFile file = clang_getFile(unit, path.c_str());
        if (file == nullptr)
            continue;
        const std::unique_ptr<CXSourceRangeList, RangesDeleter> ranges(
            clang_getSkippedRanges(unit, file));
        if (!ranges || ranges->count == 0)
            continue;
        const std::optional<Span> guard = guardOf(contentOf(unit, file));
        std::vector<Span> spans;
        for (unsigned i = 0; i < ranges->count; ++i) {
            const CXSourceRange range = ranges->ranges[i];
            const Span span{fileLocation(clang_getRangeStart(range)).offset,
                            fileLocation(clang_getRangeEnd(range)).offset};
            if (!guard || !span.contains(guard->begin))
                spans.push_back(span);
        }
        std::ranges::sort(spans, {}, &Span::begin);
        std::vector<Span> apart;
        for (const Span& span : spans) {
            if (!apart.empty() && span.begin <= apart.back().end)
                apart.back().end = std::max(apart.back().end, span.end);
            else
                apart.push_back(span);
        }
        if (!apart.empty())
            result.emplace(path, std::move(apart));
    }
    return result;
}

} // namespace kernelskill::analysis
