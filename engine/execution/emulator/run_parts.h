/// One run by several workers: each takes some of the blocks, and their reports make one.
///
/// Blocks run one after the other in one worker, so a block sees what those in front of it wrote.
/// Parts do not see each other. Each therefore reports which words it read and wrote; where no part
/// wrote what another touched, and none did something whose outcome hangs on the others, every
/// block ran as it would have in its turn, and the whole report is that of one worker. Otherwise
/// there is none, and the run has to be done by one.
#pragma once

#include "engine/execution/emulator/wire/wire.h"
#include "engine/execution/emulator/worker_process.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace kernelskill::engine::emulator {

/// How many parts the run is worth, of at most `most`; 1 for one that cannot be shared.
[[nodiscard]] std::uint64_t partsFor(const Job& job, std::uint64_t most);

/// Reports of the parts, in the order of their blocks, as one; nullopt where they do not make one.
[[nodiscard]] std::optional<WorkerReport> mergeParts(std::vector<WorkerReport> parts,
                                                     const Job& job);

/// Runs the parts side by side. nullopt when one worker has to run them all.
[[nodiscard]] std::optional<Result<WorkerReport>>
runInParts(WorkerPool& workers, const WorkerJob& job, std::uint64_t parts, std::stop_token stop);

} // namespace kernelskill::engine::emulator
