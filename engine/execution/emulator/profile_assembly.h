/// Converts a worker's report, which names addresses, to a result that names lines.
#pragma once

#include "engine/execution/emulator/compile/line_table.h"
#include "engine/execution/emulator/wire/wire.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>

namespace kernelskill::engine::emulator {

/// The source places of an image's sites. Each is looked up once. Thread-safe.
class PlaceTable {
public:
    explicit PlaceTable(std::filesystem::path sharedObject)
        : sharedObject_(std::move(sharedObject)) {}

    /// Looks up all unknown sites at once, because a look-up starts a process.
    [[nodiscard]] Result<void> require(std::span<const Site> sites, std::stop_token stop);
    /// The file is empty if the site was not required, or if it is in no source file.
    [[nodiscard]] SourcePlace at(Site site) const;

private:
    std::filesystem::path sharedObject_;
    mutable std::mutex mutex_;
    std::map<Site, SourcePlace> places_;
};

/// A failure in the report becomes the error, with lines for sites. Suspected out-of-bounds
/// accesses become notes, because the emulator's own data caused them.
[[nodiscard]] Result<RunResult> assembleResult(WorkerReport report, const Job& job,
                                               PlaceTable& places, std::stop_token stop);

} // namespace kernelskill::engine::emulator
