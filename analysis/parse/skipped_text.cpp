#include "analysis/parse/skipped_text.h"

#include "analysis/parse/clang_handle.h"
#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <memory>
#include <string_view>

namespace kernelskill::analysis {
namespace {

struct RangesDeleter {
    void operator()(CXSourceRangeList* ranges) const { clang_disposeSourceRangeList(ranges); }
};

/// Whether the range is what a header's guard leaves out when the header is read again: the first
/// directive of the file asks for a macro, and the next one defines it as nothing.
bool isGuardsRange(std::string_view text, Span range) {
    const std::vector<Token> tokens = lex(text.substr(0, range.end));
    const auto first = std::ranges::find(tokens, TokenKind::Directive, &Token::kind);
    if (first == tokens.end() || first->span.begin < range.begin || first + 1 == tokens.end())
        return false;
    const auto [asks, condition] = directiveParts(first->text);
    const auto [defines, name] = directiveParts((first + 1)->text);
    return (asks == "ifndef" || asks == "if") && defines == "define" && !name.empty() &&
           condition.ends_with(asks == "if" ? std::string(name) + ")" : std::string(name));
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
        std::vector<Span> spans;
        for (unsigned i = 0; ranges && i < ranges->count; ++i) {
            const CXSourceRange range = ranges->ranges[i];
            const Span span{fileLocation(clang_getRangeStart(range)).offset,
                            fileLocation(clang_getRangeEnd(range)).offset};
            if (!isGuardsRange(contentOf(unit, file), span))
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
