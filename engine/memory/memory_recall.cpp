#include "engine/memory/memory_recall.h"

#include <system_error>
#include <utility>

namespace kernelskill::engine {

MemoryRecall::Stamp MemoryRecall::stampOf(const std::filesystem::path& path) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(path, missing);
    if (missing)
        return {};
    return {size, std::filesystem::last_write_time(path, missing)};
}

MemoryRecall::Entries MemoryRecall::entries(const ShortTermMemory& memory,
                                            const std::vector<std::uint64_t>& hashes) {
    // Taken before reading: entries appended meanwhile cause another read at the next call.
    const Stamp stamp = stampOf(memory.path());
    {
        std::scoped_lock lock(mutex_);
        if (auto found = known_.find(memory.path());
            found != known_.end() && found->second.stamp == stamp && found->second.hashes == hashes)
            return found->second.entries;
    }
    auto contents = memory.readFollowing(hashes);
    auto entries = std::make_shared<const std::vector<MemoryEntry>>(
        contents ? std::move(contents->entries) : std::vector<MemoryEntry>{});
    std::scoped_lock lock(mutex_);
    known_.insert_or_assign(memory.path(), Known{stamp, hashes, entries});
    return entries;
}

} // namespace kernelskill::engine
