/// Short-term memories, read again only when they may have changed: the paths that run on each
/// cursor move ask for them.
#pragma once

#include "engine/memory/short_term_memory.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace kernelskill::engine {

/// Thread-safe.
class MemoryRecall {
public:
    using Entries = std::shared_ptr<const std::vector<MemoryEntry>>;

    /// What ShortTermMemory::readFollowing() says of kernels with these hashes; empty when the
    /// memory cannot be read. Costs one look at the file's size and time while neither it nor
    /// `hashes` changed; what another process writes about the same kernel under another file's
    /// name is seen after the next change.
    [[nodiscard]] Entries entries(const ShortTermMemory& memory,
                                  const std::vector<std::uint64_t>& hashes);

private:
    struct Stamp {
        std::uintmax_t size = 0;
        std::filesystem::file_time_type time;
        bool operator==(const Stamp&) const = default;
    };
    struct Known {
        Stamp stamp;
        std::vector<std::uint64_t> hashes;
        Entries entries;
    };
    [[nodiscard]] static Stamp stampOf(const std::filesystem::path& path);

    std::mutex mutex_;
    std::map<std::filesystem::path, Known> known_;
};

} // namespace kernelskill::engine
