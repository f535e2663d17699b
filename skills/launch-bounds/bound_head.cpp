#include "skills/launch-bounds/bound_head.h"

#include "analysis/queries/source_layout.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Where a file indents with tabs.
constexpr std::size_t tabWidth = 4;

/// The limit on the length of lines, as the file has them.
std::size_t widthOf(const SourceText& source) {
    std::size_t widest = 80;
    for (std::uint32_t line = 0; line < source.lineCount(); ++line)
        widest = std::max(widest, source.line(line).size());
    return widest;
}

/// White space of this width, with tabs where `like` has them.
std::string indentedTo(std::size_t width, std::string_view like) {
    const std::size_t tabs = like.contains('\t') ? width / tabWidth : 0;
    return std::string(tabs, '\t') + std::string(width - tabs * tabWidth, ' ');
}

std::size_t widthOfBlanks(std::string_view blanks) {
    return blanks.size() + (tabWidth - 1) * std::ranges::count(blanks, '\t');
}

} // namespace

std::vector<TextEdit> boundHead(const SkillContext& context, const std::string& bound) {
    const SourceText& source = *context.file.source;
    const SourceLayout layout(source, context.kernel);
    const Span name = context.kernel.nameSpan;
    const LineColumn place = source.lineColumn(name.begin);
    const std::string_view head = source.line(place.line);
    const bool isTooLong =
        !layout.startsLine(name.begin) && head.size() + bound.size() + 1 > widthOf(source);
    std::uint32_t at = name.begin;
    while (isTooLong && (source.text()[at - 1] == ' ' || source.text()[at - 1] == '\t'))
        --at;
    const std::string indentation = layout.indentation(name.begin) + layout.unit();
    std::vector<TextEdit> edits = {
        {{at, name.begin}, isTooLong ? " " + bound + layout.newline() + indentation : bound + " "}};

    const std::size_t before = widthOfBlanks(layout.indentation(name.begin)) + place.column -
                               layout.indentation(name.begin).size();
    const std::size_t after = isTooLong ? widthOfBlanks(indentation) : before + bound.size() + 1;
    const std::size_t open = head.find('(', place.column);
    const std::uint32_t last = source.lineColumn(context.kernel.bodySpan.begin).line;
    for (std::uint32_t line = place.line + 1; open != std::string_view::npos && line <= last;
         ++line) {
        const std::string_view blanks = source.indentationAt(source.lineSpan(line).begin);
        const std::size_t width = widthOfBlanks(blanks);
        if (width != before + (open + 1 - place.column))
            continue;
        const std::uint32_t begin = source.lineSpan(line).begin;
        edits.push_back({{begin, begin + static_cast<std::uint32_t>(blanks.size())},
                         indentedTo(width - before + after, blanks)});
    }
    return edits;
}

} // namespace kernelskill::skills
