#include "engine/comparison/text_difference.h"

#include <algorithm>
#include <cstdint>

namespace kernelskill::engine {
namespace {

using analysis::TextEdit;

/// Beyond this number of line pairs, the whole changed region becomes one edit, to save time.
constexpr std::size_t maxPairs = 4'000'000;

std::vector<std::string_view> linesOf(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return lines;
}

/// Adds one replacement without the common beginning and end of both sides.
void addEdit(std::vector<TextEdit>& edits, std::string_view whole, std::string_view before,
             std::string_view after) {
    auto [left, right] = std::ranges::mismatch(before, after);
    auto prefix = static_cast<std::size_t>(left - before.begin());
    before.remove_prefix(prefix);
    after.remove_prefix(prefix);
    while (!before.empty() && !after.empty() && before.back() == after.back()) {
        before.remove_suffix(1);
        after.remove_suffix(1);
    }
    if (before.empty() && after.empty())
        return;
    auto begin = static_cast<std::uint32_t>(before.data() - whole.data());
    edits.push_back(
        {{begin, begin + static_cast<std::uint32_t>(before.size())}, std::string(after)});
}

std::string_view joined(const std::vector<std::string_view>& lines, std::size_t begin,
                        std::size_t end, const char* emptyAt) {
    if (begin == end)
        return {emptyAt, emptyAt};
    const char* from = lines[begin].data();
    return {from, static_cast<std::size_t>(lines[end - 1].data() + lines[end - 1].size() - from)};
}

} // namespace

std::vector<TextEdit> textDifference(std::string_view before, std::string_view after) {
    std::vector<TextEdit> edits;
    auto old = linesOf(before);
    auto fresh = linesOf(after);
    std::size_t head = 0;
    while (head < old.size() && head < fresh.size() && old[head] == fresh[head])
        ++head;
    std::size_t tail = 0;
    while (tail < old.size() - head && tail < fresh.size() - head &&
           old[old.size() - 1 - tail] == fresh[fresh.size() - 1 - tail])
        ++tail;
    std::size_t rows = old.size() - head - tail;
    std::size_t columns = fresh.size() - head - tail;
    auto place = [](const std::vector<std::string_view>& lines, std::size_t index,
                    std::string_view text) {
        return index < lines.size() ? lines[index].data() : text.data() + text.size();
    };
    if (rows * columns > maxPairs) {
        addEdit(edits, before, joined(old, head, head + rows, place(old, head, before)),
                joined(fresh, head, head + columns, place(fresh, head, after)));
        return edits;
    }
    // The longest common subsequence of the lines in between, computed from the end.
    std::vector<std::uint32_t> common((rows + 1) * (columns + 1));
    auto at = [&](std::size_t row, std::size_t column) -> std::uint32_t& {
        return common[row * (columns + 1) + column];
    };
    for (std::size_t row = rows; row-- > 0;) {
        for (std::size_t column = columns; column-- > 0;)
            at(row, column) = old[head + row] == fresh[head + column]
                                  ? at(row + 1, column + 1) + 1
                                  : std::max(at(row + 1, column), at(row, column + 1));
    }
    std::size_t row = 0;
    std::size_t column = 0;
    while (row < rows || column < columns) {
        if (row < rows && column < columns && old[head + row] == fresh[head + column]) {
            ++row;
            ++column;
            continue;
        }
        std::size_t rowBegin = row;
        std::size_t columnBegin = column;
        while ((row < rows || column < columns) &&
               !(row < rows && column < columns && old[head + row] == fresh[head + column])) {
            if (row < rows && (column == columns || at(row + 1, column) >= at(row, column + 1)))
                ++row;
            else
                ++column;
        }
        if (row - rowBegin == column - columnBegin) {
            // Pair changed lines one by one: each is an edit of its own.
            for (; rowBegin < row; ++rowBegin, ++columnBegin)
                addEdit(edits, before, old[head + rowBegin], fresh[head + columnBegin]);
            continue;
        }
        addEdit(edits, before,
                joined(old, head + rowBegin, head + row, place(old, head + rowBegin, before)),
                joined(fresh, head + columnBegin, head + column,
                       place(fresh, head + columnBegin, after)));
    }
    return edits;
}

} // namespace kernelskill::engine
