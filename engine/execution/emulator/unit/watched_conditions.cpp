#include "engine/execution/emulator/unit/watched_conditions.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Span;

struct Insertion {
    std::uint32_t at = 0;
    bool opens = false;
    std::uint32_t length = 0; ///< Of the condition.
    std::string text;
};

std::string_view textOf(std::string_view text, Span span) {
    return span.end > text.size() ? std::string_view{}
                                  : text.substr(span.begin, span.end - span.begin);
}

/// Whether marks can be set around it.
bool canBeMarked(std::string_view condition) {
    return !condition.contains('#') && !std::ranges::all_of(condition, [](char c) {
        return std::isspace(static_cast<unsigned char>(c)) != 0;
    });
}

std::string mark(const WatchedCondition& condition, std::size_t outcome) {
    return fmt::format("{}({});", condition.isInConstexpr ? "KS_CONSTEXPR_OUTCOME" : "KS_OUTCOME",
                       outcome);
}

/// Notes, behind the value of a `switch`, which of its labels is chosen. A label is what stands in
/// the text, which may be a range.
std::string marksOfLabels(std::string_view text, const std::vector<WatchedCondition>& watched,
                          const std::vector<std::size_t>& labels) {
    std::string marks = "bool ksChosen = false; ";
    std::string others;
    for (const std::size_t label : labels) {
        const std::string_view value = textOf(text, watched[label].span);
        const std::string yes = mark(watched[label], 2 * label);
        const std::string no = mark(watched[label], 2 * label + 1);
        if (value == "default") {
            others += fmt::format("if (!ksChosen) {} else {} ", yes, no);
            continue;
        }
        const auto range = value.find("...");
        marks += range == std::string_view::npos
                     ? fmt::format("if (ksValue == ({}))", value)
                     : fmt::format("if (ksValue >= ({}) && ksValue <= ({}))",
                                   value.substr(0, range), value.substr(range + 3));
        marks += fmt::format(" {{ ksChosen = true; {} }} else {} ", yes, no);
    }
    std::ranges::replace(marks, '\n', ' ');
    return marks + others;
}

} // namespace

std::string withWatched(std::string text, std::string_view file,
                        const std::vector<WatchedCondition>& watched) {
    std::vector<Insertion> insertions;
    const auto enclose = [&](Span span, std::string before, std::string after) {
        const std::uint32_t length = span.end - span.begin;
        insertions.push_back({span.begin, true, length, std::move(before)});
        insertions.push_back({span.end, false, length, std::move(after)});
    };
    std::map<Span, std::vector<std::size_t>> switches;
    for (std::size_t i = 0; i < watched.size(); ++i) {
        const WatchedCondition& one = watched[i];
        if (one.file != file || !canBeMarked(textOf(text, one.span)))
            continue;
        if (one.switched)
            switches[*one.switched].push_back(i);
        else
            enclose(one.span, "__extension__({ const bool ksHolds = (",
                    fmt::format(") ? true : false; if (ksHolds) {} else {} ksHolds; }})",
                                mark(one, 2 * i), mark(one, 2 * i + 1)));
    }
    for (const auto& [span, labels] : switches) {
        if (canBeMarked(textOf(text, span)))
            enclose(span, "__extension__({ const auto ksValue = (",
                    fmt::format("); {}ksValue; }})", marksOfLabels(text, watched, labels)));
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
