/// Divides one run among several workers: each runs a part of the blocks, and their reports are
/// merged.
///
/// In one worker, blocks run one after the other, so a block sees the writes of earlier blocks.
/// Parts do not see each other's writes. Therefore each part reports which words it read and wrote.
/// If no part wrote a word that another one touched, and none did anything whose outcome depends on
/// other parts, every block ran as in a single worker, and the merged report is that of a single
/// worker. Otherwise there is no merged report, and one worker has to run all blocks.
#pragma once

#include "engine/execution/emulator/wire/wire.h"
#include "engine/execution/emulator/worker_process.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace kernelskill::engine::emulator {

/// The number of parts that the run should have, at most `most`; 1 if it cannot be divided.
[[nodiscard]] std::uint64_t partsFor(const Job& job, std::uint64_t most);

/// Merges the reports of all parts, in the order of their blocks; nullopt if they depend on each
/// other.
[[nodiscard]] std::optional<WorkerReport> mergeParts(std::vector<WorkerReport> parts,
                                                     const Job& job);

/// Runs the parts concurrently. nullopt if one worker has to run all blocks.
[[nodiscard]] std::optional<Result<WorkerReport>>
runInParts(WorkerPool& workers, const WorkerJob& job, std::uint64_t parts, std::stop_token stop);

} // namespace kernelskill::engine::emulator
