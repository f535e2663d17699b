/// Profiles measured on GPUs, cached in memory and on disk so that later processes find them.
#pragma once

#include "engine/findings/profile_cache.h"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>

namespace kernelskill::engine {

/// The key is everything that a profile depends on, including the launch, and the device.
/// Thread-safe. Processes share the files; a file is either whole or absent.
class MeasuredProfiles {
public:
    /// If `folder` is empty, it is measured/ in the user's cache folder.
    explicit MeasuredProfiles(std::filesystem::path folder);

    /// The profile measured for exactly `key`, with its lines moved to where they are now. Prefers
    /// the one of `device` (a UUID), else takes the latest of any device. Empty if there is none.
    /// Reads the disk; cheap if no file exists.
    [[nodiscard]] KernelFindings find(const ProfileKey& key, const std::string& device);
    /// As find(), but only what this process measured on `device`.
    [[nodiscard]] KernelFindings findOwn(const ProfileKey& key, const std::string& device);
    /// Stores `findings`, which hold a measurement. If the file cannot be written, only this
    /// process knows them.
    void insert(const ProfileKey& key, const KernelFindings& findings);

private:
    [[nodiscard]] std::filesystem::path folderOf(const ProfileKey& key) const;
    [[nodiscard]] KernelFindings read(const ProfileKey& key, const std::filesystem::path& file);
    void evict() const;

    std::filesystem::path folder_;
    ProfileCache recent_;         ///< Found by key and device, and by key alone for the latest.
    std::mutex mutex_;            ///< Guards own_.
    std::set<std::uint64_t> own_; ///< Hashes of keys and devices.
};

/// The key of a profile of `launch`. `key` alone is not enough, because the launch may hold
/// captured data.
[[nodiscard]] ProfileKey launchKey(ProfileKey key, const LaunchSpec& launch);

} // namespace kernelskill::engine
