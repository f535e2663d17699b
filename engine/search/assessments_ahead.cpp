#include "engine/search/assessments_ahead.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kernelskill::engine {

const AssessmentsAhead::Entry* AssessmentsAhead::find(const KernelVersion& text) const {
    const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
        const ProgramSource& program = entry.text.program;
        return program.text == text.program.text && program.unsaved == text.program.unsaved &&
               entry.text.kernelName == text.kernelName;
    });
    return found == entries_.end() ? nullptr : &*found;
}

void AssessmentsAhead::begin(const KernelVersion& text) {
    if (find(text) != nullptr)
        return;
    entries_.push_back({text, std::async(std::launch::async,
                                         [this, text] { return steps_.assess(text, stop_, {}); })});
}

std::optional<Standing> AssessmentsAhead::take(const KernelVersion& text,
                                               const std::stop_token& stop) {
    constexpr std::chrono::milliseconds betweenLooks{20};
    const Entry* entry = find(text);
    if (entry == nullptr)
        return std::nullopt;
    while (entry->standing.wait_for(betweenLooks) != std::future_status::ready)
        if (stop.stop_requested())
            return std::nullopt;
    const Result<Standing>& standing = entry->standing.get();
    return standing ? std::optional(*standing) : std::nullopt;
}

} // namespace kernelskill::engine
