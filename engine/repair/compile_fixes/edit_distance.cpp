#include "engine/repair/compile_fixes/edit_distance.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace kernelskill::engine {
namespace {

constexpr std::size_t step = 2;

std::size_t costOf(char left, char right) {
    if (left == right)
        return 0;
    bool isCaseOnly = std::tolower(static_cast<unsigned char>(left)) ==
                      std::tolower(static_cast<unsigned char>(right));
    return isCaseOnly ? 1 : step;
}

} // namespace

std::size_t editDistance(std::string_view from, std::string_view to, std::size_t limit) {
    std::size_t difference =
        from.size() > to.size() ? from.size() - to.size() : to.size() - from.size();
    if (difference * step >= limit)
        return limit;
    std::vector<std::size_t> beforeLast(to.size() + 1);
    std::vector<std::size_t> last(to.size() + 1);
    std::vector<std::size_t> row(to.size() + 1);
    for (std::size_t column = 0; column <= to.size(); ++column)
        last[column] = column * step;
    for (std::size_t line = 1; line <= from.size(); ++line) {
        row[0] = line * step;
        std::size_t best = row[0];
        for (std::size_t column = 1; column <= to.size(); ++column) {
            std::size_t cost =
                std::min({last[column] + step, row[column - 1] + step,
                          last[column - 1] + costOf(from[line - 1], to[column - 1])});
            bool isSwap = line > 1 && column > 1 && from[line - 1] == to[column - 2] &&
                          from[line - 2] == to[column - 1];
            if (isSwap)
                cost = std::min(cost, beforeLast[column - 2] + step);
            row[column] = cost;
            best = std::min(best, cost);
        }
        if (best >= limit)
            return limit;
        std::swap(beforeLast, last);
        std::swap(last, row);
    }
    return std::min(last[to.size()], limit);
}

std::string inLowerCase(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(),
                           [](unsigned char letter) { return std::tolower(letter); });
    return lower;
}

} // namespace kernelskill::engine
