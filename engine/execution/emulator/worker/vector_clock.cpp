#include "engine/execution/emulator/worker/vector_clock.h"

#include <algorithm>

namespace kernelskill::engine::emulator {

Time VectorClock::timeOf(std::uint64_t key) const {
    const auto found = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
    return found != entries_.end() && found->key == key ? found->time : 0;
}

void VectorClock::raise(std::uint64_t key, Time time) {
    const auto place = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
    if (place == entries_.end() || place->key != key)
        entries_.insert(place, {key, time});
    else
        place->time = std::max(place->time, time);
}

bool VectorClock::covers(std::uint32_t block, unsigned thread, Time time) const {
    return timeOf(keyOf(block, wholeBlock)) >= time || timeOf(keyOf(block, thread)) >= time ||
           timeOf(keyOf(block, firstWarp + thread / 32)) >= time;
}

bool VectorClock::knowsWithin(std::uint32_t block, Time since) const {
    const auto first = std::ranges::lower_bound(entries_, keyOf(block, 0), {}, &Entry::key);
    const auto last = std::ranges::lower_bound(entries_, keyOf(block + 1, 0), {}, &Entry::key);
    return std::any_of(first, last, [since](const Entry& entry) { return entry.time >= since; });
}

bool VectorClock::join(const VectorClock& other) {
    std::vector<Entry> joined;
    joined.reserve(std::max(entries_.size(), other.entries_.size()));
    bool grew = false;
    auto mine = entries_.begin();
    for (const Entry& theirs : other.entries_) {
        while (mine != entries_.end() && mine->key < theirs.key)
            joined.push_back(*mine++);
        if (mine != entries_.end() && mine->key == theirs.key) {
            grew |= theirs.time > mine->time;
            joined.push_back({theirs.key, std::max(theirs.time, mine->time)});
            ++mine;
        } else {
            grew = true;
            joined.push_back(theirs);
        }
    }
    if (!grew)
        return false;
    joined.insert(joined.end(), mine, entries_.end());
    entries_ = std::move(joined);
    return true;
}

} // namespace kernelskill::engine::emulator
