/// What GPUs have measured of kernels: in memory, and on disk for the processes that come after.
#pragma once

#include "engine/findings/profile_cache.h"

#include <filesystem>
#include <string>

namespace kernelskill::engine {

/// By what a profile depends on, launch included, and by the device. Thread-safe; files are shared
/// by processes, whole or absent.
class MeasuredProfiles {
public:
    /// `folder` empty: measured/ in the user's cache folder.
    explicit MeasuredProfiles(std::filesystem::path folder);

    /// What was measured of exactly `key`, with its lines where they are now: on `device` (its
    /// UUID), else on whichever device has done so last. Without a profile where none has. Looks
    /// at the disk; cheap where there is nothing.
    [[nodiscard]] KernelFindings find(const ProfileKey& key, const std::string& device);
    /// `findings` with a measurement. What cannot be written is known to this process alone.
    void insert(const ProfileKey& key, const KernelFindings& findings);

private:
    [[nodiscard]] std::filesystem::path folderOf(const ProfileKey& key) const;
    [[nodiscard]] KernelFindings read(const ProfileKey& key, const std::filesystem::path& file);
    void evict() const;

    std::filesystem::path folder_;
    ProfileCache recent_; ///< By key and device, and by key alone: the last measured.
};

/// The key of a profile of `launch`, which `key` alone does not tell: captured data may stand
/// behind it.
[[nodiscard]] ProfileKey launchKey(ProfileKey key, const LaunchSpec& launch);

} // namespace kernelskill::engine
