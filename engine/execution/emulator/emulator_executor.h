/// Runs kernels on the CPU: compiled by the host compiler with memory instrumentation, threads as
/// fibers, in a sandboxed child process.
#pragma once

#include "engine/execution/executor.h"

#include <filesystem>

namespace kernelskill::engine {

struct EmulatorOptions {
    std::filesystem::path
        workerExecutable; ///< This program; it is started as `<it> emulator-worker`.
    std::filesystem::path
        hostCompiler; ///< Empty: $KERNELSKILL_HOST_CXX, then g++, c++, clang++ on PATH.
    std::filesystem::path cacheDirectory; ///< Compiled images; empty: the user's cache folder.
    /// Takes the counts of a profile that was made before, by any process, from the cache folder.
    bool keepsReports = false;
    unsigned workers = 0; ///< That share the blocks of one run; 0: one for each core.
};

/// Missing when there is no host compiler, with the remedy.
[[nodiscard]] Result<std::unique_ptr<Executor>>
makeEmulatorExecutor(EmulatorOptions options, const analysis::Toolchain& toolchain);

} // namespace kernelskill::engine
