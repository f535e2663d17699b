/// A cache of short-term memories, because they are needed on each cursor move. A file is read
/// again only if it may have changed.
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

    /// The result of ShortTermMemory::readFollowing() for kernels with these hashes; empty if the
    /// memory cannot be read. If neither the file nor `hashes` changed, it costs one look at the
    /// file's size and time. Entries that another process adds under another file's name appear
    /// after the next change.
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
