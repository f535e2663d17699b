/// From a worker's report, which speaks of addresses, to a result that speaks of lines.
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

/// Places of an image's sites, looked up once each. Thread-safe.
class PlaceTable {
public:
    explicit PlaceTable(std::filesystem::path sharedObject)
        : sharedObject_(std::move(sharedObject)) {}

    /// Looks up what is not known yet, all at once: a look-up starts a process.
    [[nodiscard]] Result<void> require(std::span<const Site> sites, std::stop_token stop);
    /// Empty file for a site that was not required or is in nobody's source.
    [[nodiscard]] SourcePlace at(Site site) const;

private:
    std::filesystem::path sharedObject_;
    mutable std::mutex mutex_;
    std::map<Site, SourcePlace> places_;
};

/// The report's failure becomes the error, with lines for sites. Suspected accesses out of bounds
/// become notes: the emulator's own data led there.
[[nodiscard]] Result<RunResult> assembleResult(WorkerReport report, const Job& job,
                                               PlaceTable& places, std::stop_token stop);

} // namespace kernelskill::engine::emulator
