/// Runs with other contents in memory that the original only writes, so that results of an earlier
/// launch do not pass for results.
#include "engine/replay/recorder/held_launch.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine::replay {
Result<void> HeldLaunch::poison(const TryRequest& request) {
    if (poisoned_ && poisoned_->addresses == request.onlyWritten)
        return {};
    poisoned_.emplace();
    poisoned_->addresses = request.onlyWritten;
    auto chosen = choosePoisoned();
    if (!chosen)
        poisoned_.reset(); // There are no results for these places.
    return chosen;
}

/// Keeps the places that no other parameter leads to, and the original's results with them.
Result<void> HeldLaunch::choosePoisoned() {
    Poisoned& poisoned = *poisoned_;
    const auto words = original_.words();
    for (const std::uint64_t address : poisoned.addresses) {
        const auto part = memory_->partAt(address);
        const auto pointers = std::ranges::count_if(
            words, [&](std::uint64_t word) { return memory_->partAt(word) == part; });
        if (part && pointers == 1)
            poisoned.places.emplace_back(*part, address);
    }
    if (poisoned.places.empty())
        return {};
    if (!description_.variation.empty()) {
        poisoned.places.clear();
        poisoned.note = "the kernel's results vary, so it was not run with other contents";
        return {};
    }
    if (auto ran = runOnce(original_, noVariables, &poisoned, originalLimit()); !ran)
        return ran;
    OtherResults results;
    for (const auto& [part, address] : poisoned.places) {
        auto copy = memory_->copyOf(part);
        if (!copy) {
            poisoned.places.clear();
            poisoned.note = "it was not run with other contents: " + copy.error().what;
            return {};
        }
        results.insert_or_assign(part, std::move(*copy));
    }
    // If the kernel does read this memory, other parts differ.
    const auto rest = memory_->differences({}, noVariables, results);
    if (!rest)
        return std::unexpected(rest.error());
    if (!rest->empty()) {
        poisoned.places.clear();
        poisoned.note = "the kernel reads memory that its text only writes, so it was not run with "
                        "other contents there";
        return {};
    }
    poisoned.results = std::move(results);
    return {};
}

} // namespace kernelskill::engine::replay
