#include "lsp-server/features/ignored_findings.h"

#include "analysis/syntax/lexer.h"
#include "engine/inputs/marked_comments.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace kernelskill::lsp {
namespace {

constexpr std::array<std::string_view, 7> ignorable{
    "uncoalesced-access", "bank-conflicts",     "race",      "out-of-bounds",
    "barrier-divergence", "uninitialized-read", "misaligned"};

/// The words behind `ignore`.
std::vector<std::string> namesIn(const engine::MarkedComment& comment) {
    std::vector<std::string> names;
    std::string name;
    for (const char c : comment.text.substr(comment.text.find("ignore") + 6) + ",") {
        const bool isPart = (c >= 'a' && c <= 'z') || c == '-';
        if (isPart)
            name += c;
        else if (!name.empty())
            names.push_back(std::exchange(name, {}));
    }
    return names;
}

/// The line that the comment is about.
std::uint32_t lineOf(const engine::MarkedComment& comment, const analysis::SourceText& source) {
    const std::uint32_t own = source.lineColumn(comment.span.begin).line;
    const analysis::Span line = source.lineSpan(own);
    const std::string_view before =
        std::string_view(source.text()).substr(line.begin, comment.span.begin - line.begin);
    if (before.find_first_not_of(" \t") != std::string_view::npos)
        return own;
    const std::uint32_t next = analysis::skipTrivia(source.text(), comment.span.end);
    return source.lineColumn(next).line;
}

analysis::Diagnostic complaint(const engine::MarkedComment& comment, const std::string& file,
                               std::string what) {
    analysis::Diagnostic diagnostic;
    diagnostic.file = file;
    diagnostic.span = comment.span;
    diagnostic.severity = analysis::Severity::Warning;
    diagnostic.origin = analysis::DiagnosticOrigin::Notice;
    diagnostic.code = "ignore-comment";
    diagnostic.message =
        fmt::format("{}; these can be ignored: {}", what, fmt::join(ignorable, ", "));
    return diagnostic;
}

} // namespace

bool mayBeIgnored(const analysis::Diagnostic& diagnostic) {
    return std::ranges::find(ignorable, diagnostic.code) != ignorable.end();
}

void ignoreFindings(std::vector<analysis::Diagnostic>& diagnostics, const std::string& file,
                    const analysis::SourceText& source) {
    if (!source.text().contains(engine::commentMarker))
        return;
    std::map<std::uint32_t, std::set<std::string>> ignored;
    std::vector<analysis::Diagnostic> complaints;
    for (const engine::MarkedComment& comment : engine::markedComments(source.text())) {
        if (!comment.ignoresFindings())
            continue;
        const std::vector<std::string> names = namesIn(comment);
        if (names.empty())
            complaints.push_back(complaint(comment, file, "the comment names no finding"));
        for (const std::string& name : names) {
            if (std::ranges::find(ignorable, name) == ignorable.end())
                complaints.push_back(
                    complaint(comment, file, fmt::format("no finding is called '{}'", name)));
            ignored[lineOf(comment, source)].insert(name);
        }
    }
    std::erase_if(diagnostics, [&](const analysis::Diagnostic& diagnostic) {
        if (diagnostic.file != file || !mayBeIgnored(diagnostic))
            return false;
        const auto line = ignored.find(source.lineColumn(diagnostic.span.begin).line);
        return line != ignored.end() && line->second.contains(diagnostic.code);
    });
    std::ranges::move(complaints, std::back_inserter(diagnostics));
}

std::optional<analysis::TextEdit> ignoringComment(const analysis::Diagnostic& finding,
                                                  const analysis::SourceText& source) {
    const std::uint32_t line = source.lineColumn(finding.span.begin).line;
    if (line > 0 && source.line(line - 1).ends_with('\\'))
        return std::nullopt;
    const std::uint32_t begin = source.lineSpan(line).begin;
    return analysis::TextEdit{
        {begin, begin},
        fmt::format("{}// kernelskill: ignore {}\n", source.indentationAt(begin), finding.code)};
}

} // namespace kernelskill::lsp
