#include "analysis/command/platform_branches.h"

#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kernelskill::analysis {

namespace {

bool namesOtherPlatform(std::string_view word) {
    constexpr auto words = std::to_array<std::string_view>(
        {"WIN32", "WIN64", "_MSC_VER", "_WIN32", "_WIN64", "__APPLE__", "__CUDACC_RTC__",
         "__HIPCC__", "__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__", "__HIP__", "__MACH__",
         "__MINGW32__"});
    static_assert(std::ranges::is_sorted(words));
    return std::ranges::binary_search(words, word);
}

/// Whether the condition is false on every supported platform, like `defined(_WIN32) ||
/// defined(_WIN64)`. Any other name in it may make it true.
bool holdsOnlyElsewhere(std::string_view condition) {
    bool named = false;
    for (const Token& token : lex(condition)) {
        if (token.text == "defined" || token.text == "(" || token.text == ")" || token.text == "||")
            continue;
        if (token.kind != TokenKind::Identifier || !namesOtherPlatform(token.text))
            return false;
        named = true;
    }
    return named;
}

} // namespace

std::vector<Span> branchesOfOtherPlatforms(std::string_view text) {
    struct Conditional {
        bool elsewhere = false;
        std::uint32_t begin = 0;
    };
    std::vector<Span> branches;
    std::vector<Conditional> open;
    const auto endBranch = [&](std::uint32_t at) {
        if (open.back().elsewhere)
            branches.push_back({open.back().begin, at});
    };
    for (const Token& token : lex(text)) {
        if (token.kind != TokenKind::Directive)
            continue;
        const auto [keyword, rest] = directiveParts(token.text);
        if (keyword == "if" || keyword == "ifdef") {
            open.push_back({holdsOnlyElsewhere(rest), token.span.end});
        } else if (keyword == "ifndef") {
            open.push_back({false, token.span.end});
        } else if (!open.empty() && (keyword == "elif" || keyword == "else")) {
            endBranch(token.span.begin);
            open.back() = {keyword == "elif" && holdsOnlyElsewhere(rest), token.span.end};
        } else if (!open.empty() && keyword == "endif") {
            endBranch(token.span.begin);
            open.pop_back();
        }
    }
    return branches;
}

} // namespace kernelskill::analysis
