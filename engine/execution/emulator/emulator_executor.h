/// Runs kernels on the CPU. The host compiler compiles them with memory instrumentation; threads
/// are fibers in a sandboxed child process.
#pragma once

#include "engine/execution/executor.h"

#include <filesystem>

namespace kernelskill::engine {

struct EmulatorOptions {
    std::filesystem::path
        workerExecutable; ///< This program; it is started with the argument emulator-worker.
    std::filesystem::path
        hostCompiler; ///< If empty: $KERNELSKILL_HOST_CXX, then g++, c++, clang++ on PATH.
    std::filesystem::path cacheDirectory; ///< Compiled images; if empty, the user's cache folder.
    /// Take the counts of an earlier profile, of any process, from the cache folder.
    bool keepsReports = false;
    unsigned workers = 0; ///< Workers that share the blocks of one run; 0: one per core.
};

/// Missing, with a remedy, if there is no host compiler.
[[nodiscard]] Result<std::unique_ptr<Executor>>
makeEmulatorExecutor(EmulatorOptions options, const analysis::Toolchain& toolchain);

} // namespace kernelskill::engine
