/// Runs kernels on the emulator and keeps each access.
#pragma once

#include "engine/execution/executor.h"
#include "tests/nest/nest_run.h"

#include <memory>
#include <string>
#include <vector>

namespace kernelskill::testing {

struct RecordedAccess {
    Index3 block{};
    Index3 thread{};
    char kind = 'r'; ///< 'r', 'w', or 'a' for an atomic.
    std::int64_t bytes = 0;
    std::string object;      ///< The parameter's or variable's name; "-": dynamic shared memory.
    std::int64_t offset = 0; ///< In bytes.
};

/// Makes executors whose workers record accesses. As executors, they are not for profiles.
[[nodiscard]] Result<std::unique_ptr<engine::Executor>>
makeRecordingExecutor(const analysis::Toolchain& toolchain);

/// All accesses to global and shared memory of the first `blocks` sampled blocks, in each thread's
/// order. Failed if they are too many to record.
[[nodiscard]] Result<std::vector<RecordedAccess>> recordRun(engine::Executor& recorder,
                                                            engine::KernelRef kernel,
                                                            const engine::LaunchSpec& launch,
                                                            std::uint64_t blocks);

} // namespace kernelskill::testing
