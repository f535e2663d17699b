#include "engine/whole_program/whole_statements.h"

#include "analysis/source/try.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::string_view ends = ";{}";

/// The statement around the span, without the end of the one before it.
analysis::Span statementAround(std::string_view text, analysis::Span span) {
    const std::size_t before =
        span.begin == 0 ? std::string_view::npos : text.find_last_of(ends, span.begin - 1);
    const std::size_t behind = text.find_first_of(ends, span.end);
    return {before == std::string_view::npos ? 0 : static_cast<std::uint32_t>(before + 1),
            static_cast<std::uint32_t>(behind == std::string_view::npos ? text.size() : behind)};
}

} // namespace

Result<std::vector<analysis::TextEdit>> asWholeStatements(std::string_view text,
                                                          std::vector<analysis::TextEdit> edits) {
    KERNELSKILL_CHECK(analysis::applyEdits(text, edits));
    std::ranges::stable_sort(edits, {},
                             [](const analysis::TextEdit& edit) { return edit.span.begin; });
    std::vector<std::pair<analysis::Span, std::vector<analysis::TextEdit>>> groups;
    for (analysis::TextEdit& edit : edits) {
        const analysis::Span around = statementAround(text, edit.span);
        if (groups.empty() || around.begin > groups.back().first.end)
            groups.emplace_back(around, std::vector<analysis::TextEdit>());
        analysis::Span& group = groups.back().first;
        group.end = std::max(group.end, around.end);
        groups.back().second.push_back(std::move(edit));
    }
    std::vector<analysis::TextEdit> result;
    for (auto& [span, inside] : groups) {
        for (analysis::TextEdit& edit : inside)
            edit.span = {edit.span.begin - span.begin, edit.span.end - span.begin};
        KERNELSKILL_TRY(auto replaced, analysis::applyEdits(text.substr(span.begin, span.size()),
                                                            std::move(inside)));
        result.push_back({span, std::move(replaced)});
    }
    return result;
}

} // namespace kernelskill::engine
