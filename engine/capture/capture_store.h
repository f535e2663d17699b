/// Stores the captures of a workspace in `.kernelskill/captures/`.
#pragma once

#include "engine/capture/captured_launch.h"
#include "engine/capture/kernel_symbol.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A launch that can be repeated. Its buffers' `before` and `after` are absolute paths.
struct StoredLaunch {
    CapturedLaunch launch;
    KernelSymbol kernel;
    std::filesystem::path manifest;
};

struct StoredCaptures {
    /// By kernel, then in the order of its launches; those of a store's `first` before all.
    std::vector<StoredLaunch> launches;
    std::vector<Error> problems; ///< One for each file that cannot be read.

    /// The launches whose symbol names `kernel`.
    [[nodiscard]] std::vector<const StoredLaunch*> of(const analysis::KernelModel& kernel) const;
};

/// Reads the captures in `folder`; empty if there is no such folder.
[[nodiscard]] StoredCaptures readCaptures(const std::filesystem::path& folder);

/// Caches the captures until one is added or removed. Thread-safe.
class CaptureStore {
public:
    /// Launches of the symbol `first` come first: of several instantiations of a kernel, it is the
    /// one that is asked about.
    explicit CaptureStore(std::filesystem::path folder, std::string first = {})
        : folder_(std::move(folder)), first_(std::move(first)) {}

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    /// Returns the same object until something changes. Cheap: looks only at one folder's time.
    [[nodiscard]] std::shared_ptr<const StoredCaptures> captures() const;

private:
    std::filesystem::path folder_;
    std::string first_;
    mutable std::mutex mutex_;
    mutable std::filesystem::file_time_type changed_;
    mutable std::shared_ptr<const StoredCaptures> known_;
};

/// Empty if `store` is null.
[[nodiscard]] std::shared_ptr<const StoredCaptures>
capturesOf(const std::shared_ptr<const CaptureStore>& store);

/// Moves the recording in `incoming`, a folder of the same file system, into the store `folder`.
/// New launches of a kernel replace all its old ones. Removes `incoming`, and data that no launch
/// names. Returns what was added.
[[nodiscard]] Result<StoredCaptures> adoptCaptures(const std::filesystem::path& folder,
                                                   const std::filesystem::path& incoming);

/// Removes every capture. Returns how many there were.
[[nodiscard]] Result<std::size_t> clearCaptures(const std::filesystem::path& folder);

} // namespace kernelskill::engine
