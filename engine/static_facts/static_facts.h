/// What the GPU's own compiler makes of a kernel: registers, spills, stack, shared memory. Found
/// without a GPU, where a CUDA toolkit is; exact, or an error, never a guess.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/compile/occupancy.h"
#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct StaticFacts {
    std::string symbol;       ///< Of the kernel, mangled.
    std::string architecture; ///< "sm_90"
    std::string compiler;     ///< "nvcc 13.0", "NVRTC 13.0"
    /// Of this compiler: from the same text NVRTC now and then makes a few more or less than nvcc.
    std::uint32_t registers = 0;
    std::uint64_t spillStoreBytes = 0; ///< Of the kernel; what it calls out of line is in `notes`.
    std::uint64_t spillLoadBytes = 0;
    std::uint64_t stackBytes = 0;
    std::uint64_t staticSharedBytes = 0;
    std::uint32_t barriers = 0;
    std::vector<std::string> notes; ///< What limits the truth of the numbers, one sentence each.
};

struct StaticFactsOptions {
    std::filesystem::path workerExecutable; ///< Started as `<it> compile-worker`.
    std::optional<analysis::CudaToolkit> toolkit;
    std::filesystem::path preludeInclude;   ///< Its headers are not the user's.
    std::filesystem::path cacheDirectory;   ///< Empty: facts/ in the user's cache folder.
    std::chrono::milliseconds time{30'000}; ///< Of one run of a compiler.
    bool preferNvcc = true;  ///< Where the toolkit has it; else, and where it fails, NVRTC.
    bool onlyCached = false; ///< Compile nothing: Missing where nobody has asked before.
};

/// The architecture to ask for: the first that the command names, else `fallback`.
[[nodiscard]] std::string targetArchitecture(const analysis::CompileCommand& command,
                                             std::string fallback);

/// Of `kernel` with `templateArguments` (none for a plain kernel), compiled for `architecture`
/// ("sm_90") with the flags of the program's command. Cached by content. Slow the first time (0.2 s
/// to 3 s, as its headers are), a few milliseconds after. Thread-safe.
/// Missing without a compiler; Unsupported, with the reason, for an architecture that it does not
/// know and for code of several files; Failed, with the first message and its line, for what does
/// not compile.
[[nodiscard]] Result<StaticFacts> staticFacts(KernelRef kernel,
                                              const std::vector<std::string>& templateArguments,
                                              const std::string& architecture,
                                              const StaticFactsOptions& options,
                                              std::stop_token stop);

/// Occupancy of a launch on the facts' own architecture.
[[nodiscard]] Result<analysis::Occupancy> occupancyOf(const StaticFacts& facts,
                                                      const LaunchSpec& launch);

} // namespace kernelskill::engine
