#include "engine/execution/emulator/unit/watched_conditions.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace kernelskill::engine {
namespace {

struct Insertion {
    std::uint32_t at = 0;
    bool opens = false;
    std::uint32_t length = 0; ///< Of the condition.
    std::string text;
};

} // namespace

std::string withWatched(std::string text, const std::vector<analysis::Span>& watched) {
    std::vector<Insertion> insertions;
    for (std::size_t i = 0; i < watched.size(); ++i) {
        const analysis::Span span = watched[i];
        if (span.empty() || span.end > text.size())
            continue;
        const auto condition = std::string_view(text).substr(span.begin, span.end - span.begin);
        const bool isBlank = std::ranges::all_of(
            condition, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
        if (isBlank || condition.contains('#'))
            continue;
        const std::uint32_t length = span.end - span.begin;
        insertions.push_back({span.begin, true, length, "__extension__({ const bool ksHolds = ("});
        insertions.push_back({span.end, false, length,
                              ") ? true : false; if (ksHolds) KS_OUTCOME(" + std::to_string(2 * i) +
                                  "); else KS_OUTCOME(" + std::to_string(2 * i + 1) +
                                  "); ksHolds; })"});
    }
    // The inner one of nested conditions closes first and opens last.
    std::ranges::stable_sort(insertions, {}, [](const Insertion& one) {
        return std::tuple(one.at, one.opens, one.opens ? ~one.length : one.length);
    });
    std::string result;
    std::uint32_t done = 0;
    for (const Insertion& insertion : insertions) {
        result.append(text, done, insertion.at - done).append(insertion.text);
        done = insertion.at;
    }
    return result.append(text, done);
}

} // namespace kernelskill::engine
