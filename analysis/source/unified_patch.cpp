#include "analysis/source/unified_patch.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

namespace kernelskill::analysis {

namespace {

/// The lines of `text` without their ends; what follows the last end counts if it is not empty.
std::vector<std::string_view> linesOf(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string_view withoutReturn(std::string_view line) {
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

/// "src/a.cu" of "+++ b/src/a.cu\t2026-01-01".
std::string pathOf(std::string_view header) {
    std::string_view path = header.substr(4);
    path = path.substr(0, path.find('\t'));
    if (path.starts_with("a/") || path.starts_with("b/"))
        path.remove_prefix(2);
    return std::string(path);
}

/// 11 of "@@ -12,3 +12,4 @@"; 0 if no number is given.
std::size_t lineOf(std::string_view header) {
    const auto minus = header.find('-');
    std::size_t line = 0;
    if (minus != std::string_view::npos)
        std::from_chars(header.data() + minus + 1, header.data() + header.size(), line);
    return line == 0 ? 0 : line - 1;
}

Error badLine(std::size_t number, std::string_view line) {
    return {ErrorKind::InvalidInput,
            fmt::format("line {} of the diff is neither context nor a change: {}", number, line),
            "", "begin each line of a hunk with a space, '-' or '+'"};
}

bool standsAt(const std::vector<std::string_view>& lines, std::size_t at, const PatchHunk& hunk) {
    if (at + hunk.before.size() > lines.size())
        return false;
    for (std::size_t i = 0; i < hunk.before.size(); ++i)
        if (withoutReturn(lines[at + i]) != hunk.before[i])
            return false;
    return true;
}

/// The place at or after `from` that is nearest to `wanted`.
std::optional<std::size_t> placeOf(const std::vector<std::string_view>& lines, std::size_t from,
                                   std::size_t wanted, const PatchHunk& hunk) {
    std::optional<std::size_t> best;
    const auto distance = [&](std::size_t at) { return at > wanted ? at - wanted : wanted - at; };
    for (std::size_t at = from; at + hunk.before.size() <= lines.size(); ++at)
        if ((!best || distance(at) < distance(*best)) && standsAt(lines, at, hunk))
            best = at;
    return best;
}

Error misfit(const std::vector<std::string_view>& lines, const PatchHunk& hunk,
             std::size_t number) {
    const auto isMissing = [&](const std::string& line) {
        return std::ranges::none_of(
            lines, [&](std::string_view each) { return withoutReturn(each) == line; });
    };
    const auto missing = std::ranges::find_if(hunk.before, isMissing);
    return {ErrorKind::InvalidInput,
            missing == hunk.before.end()
                ? fmt::format("hunk {} of the diff does not fit: its lines are in the file, but do "
                              "not follow each other",
                              number)
                : fmt::format("hunk {} of the diff does not fit: the file has no line '{}'", number,
                              *missing),
            "", "make the diff against the file as it is now, or give the whole text"};
}

} // namespace

Result<std::vector<FilePatch>> parsePatch(std::string_view diff) {
    std::vector<FilePatch> patches;
    bool isInHunk = false;
    std::size_t number = 0;
    const auto lines = linesOf(diff);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = withoutReturn(lines[i]);
        ++number;
        const bool isHeader =
            line.starts_with("--- ") && i + 1 < lines.size() && lines[i + 1].starts_with("+++ ");
        if (isHeader) {
            const std::string_view name = withoutReturn(lines[i + 1]);
            patches.push_back({pathOf(name.starts_with("+++ /dev/null") ? line : name), {}});
            isInHunk = false;
            ++i;
            ++number;
        } else if (line.starts_with("@@")) {
            if (patches.empty())
                patches.emplace_back();
            patches.back().hunks.push_back({lineOf(line), {}, {}});
            isInHunk = true;
        } else if (isInHunk) {
            PatchHunk& hunk = patches.back().hunks.back();
            if (line.starts_with("diff ") || line.starts_with("index ")) {
                isInHunk = false;
                continue;
            }
            // Some writers leave the space of an empty line of context out.
            const char kind = line.empty() ? ' ' : line.front();
            const std::string text(line.empty() ? line : line.substr(1));
            if (kind == '\\') // "\ No newline at end of file"
                continue;
            if (kind != ' ' && kind != '-' && kind != '+')
                return std::unexpected(badLine(number, line));
            if (kind != '+')
                hunk.before.push_back(text);
            if (kind != '-')
                hunk.after.push_back(text);
        }
    }
    std::erase_if(patches, [](const FilePatch& patch) { return patch.hunks.empty(); });
    if (patches.empty())
        return std::unexpected(Error{ErrorKind::InvalidInput, "the diff has no hunk", "",
                                     "a hunk begins with a line such as '@@ -12,3 +12,4 @@'"});
    return patches;
}

Result<std::string> applyPatch(std::string_view text, const FilePatch& patch) {
    const auto lines = linesOf(text);
    const bool hasReturns = !lines.empty() && lines.front().ends_with('\r');
    const std::string end = hasReturns ? "\r\n" : "\n";
    std::string result;
    std::size_t next = 0;
    std::ptrdiff_t shift = 0; // The distance of the last hunk from the line that it states.
    const auto copyTo = [&](std::size_t last) {
        for (; next < last; ++next) {
            result += lines[next];
            const bool isLast = next + 1 == lines.size();
            if (!isLast || text.ends_with('\n'))
                result += '\n';
        }
    };
    for (std::size_t i = 0; i < patch.hunks.size(); ++i) {
        PatchHunk hunk = patch.hunks[i];
        // A line number larger than the text counts as its last line, so the sum cannot overflow.
        const auto stated = static_cast<std::ptrdiff_t>(std::min(hunk.line, lines.size()));
        const auto wanted = static_cast<std::size_t>(std::max<std::ptrdiff_t>(stated + shift, 0));
        auto place = placeOf(lines, next, wanted, hunk);
        // An empty line at the end of a diff belongs to no hunk.
        if (!place && !hunk.before.empty() && hunk.before.back().empty() && !hunk.after.empty() &&
            hunk.after.back().empty()) {
            hunk.before.pop_back();
            hunk.after.pop_back();
            place = placeOf(lines, next, wanted, hunk);
        }
        if (!place)
            return std::unexpected(misfit(lines, hunk, i + 1));
        shift = static_cast<std::ptrdiff_t>(*place) - stated;
        copyTo(*place);
        if (!result.empty() && !result.ends_with('\n'))
            result += end;
        for (const std::string& line : hunk.after)
            result += line + end;
        next = *place + hunk.before.size();
    }
    copyTo(lines.size());
    return result;
}

} // namespace kernelskill::analysis
