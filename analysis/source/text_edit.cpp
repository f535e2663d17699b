#include "analysis/source/text_edit.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

namespace kernelskill::analysis {

namespace {

std::vector<std::string_view> splitLines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto length = end == std::string_view::npos ? text.size() : end + 1;
        lines.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

struct DiffLine {
    char mark; // ' ', '-' or '+'
    std::string_view text;
};

/// The longest common subsequence of the lines between the common head and tail.
std::vector<DiffLine> diffLines(const std::vector<std::string_view>& a,
                                const std::vector<std::string_view>& b) {
    std::size_t head = 0;
    while (head < a.size() && head < b.size() && a[head] == b[head])
        ++head;
    std::size_t tail = 0;
    while (tail < a.size() - head && tail < b.size() - head &&
           a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
        ++tail;
    const std::size_t rows = a.size() - head - tail;
    const std::size_t columns = b.size() - head - tail;
    std::vector<std::vector<std::uint32_t>> common(rows + 1,
                                                   std::vector<std::uint32_t>(columns + 1, 0));
    for (std::size_t i = rows; i-- > 0;)
        for (std::size_t j = columns; j-- > 0;)
            common[i][j] = a[head + i] == b[head + j]
                               ? common[i + 1][j + 1] + 1
                               : std::max(common[i + 1][j], common[i][j + 1]);
    std::vector<DiffLine> lines;
    for (std::size_t i = 0; i < head; ++i)
        lines.push_back({' ', a[i]});
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < rows || j < columns) {
        if (i < rows && j < columns && a[head + i] == b[head + j]) {
            lines.push_back({' ', a[head + i]});
            ++i;
            ++j;
        } else if (i < rows && (j == columns || common[i + 1][j] >= common[i][j + 1])) {
            lines.push_back({'-', a[head + i++]});
        } else {
            lines.push_back({'+', b[head + j++]});
        }
    }
    for (std::size_t k = a.size() - tail; k < a.size(); ++k)
        lines.push_back({' ', a[k]});
    return lines;
}

/// The name relative to the current folder if it is below that, else without its leading '/':
/// `patch -p1` finds the file here, or with `-d /`.
std::string nameInDiff(const std::filesystem::path& path) {
    if (!path.is_absolute())
        return path.lexically_normal().generic_string();
    std::error_code error;
    const auto here = std::filesystem::current_path(error);
    const auto relative = error ? std::filesystem::path() : path.lexically_relative(here);
    const bool isBelow = !relative.empty() && *relative.begin() != "..";
    return (isBelow ? relative : path.relative_path()).generic_string();
}

/// A part of a text that edits replaced, before and behind them.
struct Replaced {
    Span before;
    Span after;
};

std::vector<Replaced> replacedBy(std::vector<TextEdit> edits) {
    std::ranges::stable_sort(edits, {}, [](const TextEdit& edit) { return edit.span; });
    std::vector<Replaced> changed;
    std::int64_t moved = 0;
    for (const TextEdit& edit : edits) {
        const auto begin = static_cast<std::uint32_t>(edit.span.begin + moved);
        const auto size = static_cast<std::uint32_t>(edit.newText.size());
        changed.push_back({edit.span, {begin, begin + size}});
        moved += static_cast<std::int64_t>(size) - edit.span.size();
    }
    return changed;
}

/// Returns how far the edit moves the text behind it: its place before minus its place after.
std::int64_t distanceBehind(const Replaced& change) {
    return static_cast<std::int64_t>(change.before.end) - change.after.end;
}

} // namespace

Result<std::vector<TextEdit>> composedEdits(std::string_view text, std::vector<TextEdit> first,
                                            std::vector<TextEdit> second) {
    auto between = applyEdits(text, first);
    if (!between)
        return std::unexpected(between.error());
    if (auto valid = applyEdits(*between, second); !valid)
        return std::unexpected(valid.error());
    const std::vector<Replaced> changed = replacedBy(std::move(first));
    std::ranges::stable_sort(second, {}, [](const TextEdit& edit) { return edit.span; });
    // Edits of both that meet in the text between become one.
    std::vector<TextEdit> composed;
    std::size_t nextFirst = 0;
    std::size_t nextSecond = 0;
    while (nextFirst < changed.size() || nextSecond < second.size()) {
        const bool beginsWithFirst =
            nextSecond == second.size() ||
            (nextFirst < changed.size() && changed[nextFirst].after < second[nextSecond].span);
        Span joined = beginsWithFirst ? changed[nextFirst].after : second[nextSecond].span;
        const std::size_t firstBegin = nextFirst;
        const std::size_t secondBegin = nextSecond;
        while (true) {
            if (nextFirst < changed.size() && changed[nextFirst].after.begin <= joined.end)
                joined.end = std::max(joined.end, changed[nextFirst++].after.end);
            else if (nextSecond < second.size() && second[nextSecond].span.begin <= joined.end)
                joined.end = std::max(joined.end, second[nextSecond++].span.end);
            else
                break;
        }
        std::vector<TextEdit> inside(second.begin() + static_cast<std::ptrdiff_t>(secondBegin),
                                     second.begin() + static_cast<std::ptrdiff_t>(nextSecond));
        for (TextEdit& edit : inside)
            edit.span = {edit.span.begin - joined.begin, edit.span.end - joined.begin};
        auto newText = applyEdits(std::string_view(*between).substr(joined.begin, joined.size()),
                                  std::move(inside));
        if (!newText)
            return std::unexpected(newText.error());
        // Outside of what the first edits replaced, both texts differ by a fixed distance.
        const std::int64_t before =
            firstBegin > 0 ? distanceBehind(changed[firstBegin - 1]) : std::int64_t{0};
        const std::int64_t behind =
            nextFirst > 0 ? distanceBehind(changed[nextFirst - 1]) : std::int64_t{0};
        composed.push_back({{static_cast<std::uint32_t>(joined.begin + before),
                             static_cast<std::uint32_t>(joined.end + behind)},
                            *std::move(newText)});
    }
    return composed;
}

Span spanBefore(std::vector<TextEdit> edits, Span span) {
    std::int64_t before = 0;
    std::int64_t behind = 0;
    Span result = span;
    bool beginsInside = false;
    bool endsInside = false;
    for (const Replaced& change : replacedBy(std::move(edits))) {
        if (change.after.end <= span.begin && !change.after.contains(span.begin))
            before = distanceBehind(change);
        else if (change.after.contains(span.begin)) {
            result.begin = change.before.begin;
            beginsInside = true;
        }
        if (change.after.end <= span.end)
            behind = distanceBehind(change);
        else if (change.after.begin < span.end) {
            result.end = change.before.end;
            endsInside = true;
        }
    }
    if (!beginsInside)
        result.begin = static_cast<std::uint32_t>(span.begin + before);
    if (!endsInside)
        result.end = static_cast<std::uint32_t>(span.end + behind);
    return {result.begin, std::max(result.begin, result.end)};
}

Result<std::string> applyEdits(std::string_view text, std::vector<TextEdit> edits) {
    std::ranges::stable_sort(edits, {}, [](const TextEdit& edit) { return edit.span; });
    std::string result;
    std::uint32_t done = 0;
    for (const TextEdit& edit : edits) {
        if (edit.span.begin < done || edit.span.end < edit.span.begin ||
            edit.span.end > text.size())
            return std::unexpected(Error{
                ErrorKind::InvalidInput, "edits overlap or reach past the end of the file",
                "bytes " + std::to_string(edit.span.begin) + ".." + std::to_string(edit.span.end),
                ""});
        result.append(text.substr(done, edit.span.begin - done));
        result.append(edit.newText);
        done = edit.span.end;
    }
    result.append(text.substr(done));
    return result;
}

std::string unifiedDiff(std::string_view path, std::string_view before, std::string_view after) {
    if (before == after)
        return {};
    constexpr std::size_t context = 3;
    const std::vector<DiffLine> lines = diffLines(splitLines(before), splitLines(after));
    const std::string name = nameInDiff(path);
    std::string out = "--- a/" + name + "\n+++ b/" + name + "\n";
    std::size_t lineA = 1;
    std::size_t lineB = 1;
    std::size_t at = 0;
    const auto advance = [&](std::size_t to) {
        for (; at < to; ++at) {
            lineA += lines[at].mark != '+' ? 1 : 0;
            lineB += lines[at].mark != '-' ? 1 : 0;
        }
    };
    const auto nextChange = [&](std::size_t from) {
        while (from < lines.size() && lines[from].mark == ' ')
            ++from;
        return from;
    };
    for (std::size_t first = nextChange(0); first < lines.size();) {
        std::size_t last = first;
        std::size_t next = nextChange(first + 1);
        while (next < lines.size() && next - last <= 2 * context) {
            last = next;
            next = nextChange(next + 1);
        }
        const std::size_t begin = std::max(at, first > context ? first - context : 0);
        const std::size_t end = std::min(lines.size(), last + context + 1);
        advance(begin);
        std::size_t countA = 0;
        std::size_t countB = 0;
        std::string body;
        for (std::size_t k = begin; k < end; ++k) {
            countA += lines[k].mark != '+' ? 1 : 0;
            countB += lines[k].mark != '-' ? 1 : 0;
            body += lines[k].mark;
            body += lines[k].text;
            if (!lines[k].text.ends_with('\n'))
                body += "\n\\ No newline at end of file\n";
        }
        const auto range = [](std::size_t line, std::size_t count) {
            return std::to_string(count == 0 ? line - 1 : line) + "," + std::to_string(count);
        };
        out += "@@ -" + range(lineA, countA) + " +" + range(lineB, countB) + " @@\n" + body;
        advance(end);
        first = next;
    }
    return out;
}

} // namespace kernelskill::analysis
