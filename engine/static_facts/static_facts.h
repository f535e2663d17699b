/// The facts that the GPU's own compiler reports of a kernel: registers, spills, stack, shared
/// memory. They need a CUDA toolkit but no GPU. They are exact or an error, never a guess.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/compile/occupancy.h"
#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct StaticFacts {
    std::string symbol;       ///< The kernel's mangled name.
    std::string architecture; ///< "sm_90"
    std::string compiler;     ///< "nvcc 13.0", "NVRTC 13.0"
    /// The count of this compiler. For the same text NVRTC sometimes needs a few more or less than
    /// nvcc.
    std::uint32_t registers = 0;
    /// Spills of the kernel itself; `notes` tell about functions that it calls.
    std::uint64_t spillStoreBytes = 0;
    std::uint64_t spillLoadBytes = 0;
    std::uint64_t stackBytes = 0;
    std::uint64_t staticSharedBytes = 0;
    std::uint32_t barriers = 0;
    std::vector<std::string> notes; ///< Limits of the numbers, one sentence each.
};

class ScannedProgram; // engine/unit/slice.h
/// The program's files, read once for all its kernels: for StaticFactsOptions::program.
[[nodiscard]] std::shared_ptr<const ScannedProgram>
scannedProgram(const ProgramSource& program, const std::filesystem::path& preludeInclude);

struct StaticFactsOptions {
    std::filesystem::path workerExecutable; ///< Started with the argument compile-worker.
    std::optional<analysis::CudaToolkit> toolkit;
    std::filesystem::path preludeInclude;   ///< Its headers are not the user's.
    std::filesystem::path cacheDirectory;   ///< If empty, facts/ in the user's cache folder.
    std::chrono::milliseconds time{30'000}; ///< Time limit of one compiler run.
    bool preferNvcc = true;  ///< Use nvcc if the toolkit has it; if not, or if it fails, NVRTC.
    bool onlyCached = false; ///< Compile nothing: Missing if the facts are not cached.
    std::shared_ptr<const ScannedProgram> program = nullptr; ///< Null: the files are read.
};

/// The architecture to compile for: the first one in the command, else `fallback`.
[[nodiscard]] std::string targetArchitecture(const analysis::CompileCommand& command,
                                             std::string fallback);

/// The facts of `kernel` with `templateArguments` (empty if it is no template), compiled for
/// `architecture` ("sm_90") with the flags of the program's command. Cached by content. The first
/// call takes 0.2 s to 3 s, depending on headers; later calls take a few milliseconds. Thread-safe.
/// Errors: Missing without a compiler; Unsupported, with the reason, for an unknown architecture
/// and for code of several files; Failed, with the first message and its line, if the code does not
/// compile.
[[nodiscard]] Result<StaticFacts> staticFacts(KernelRef kernel,
                                              const std::vector<std::string>& templateArguments,
                                              const std::string& architecture,
                                              const StaticFactsOptions& options,
                                              std::stop_token stop);

/// Occupancy of a launch on the facts' own architecture.
[[nodiscard]] Result<analysis::Occupancy> occupancyOf(const StaticFacts& facts,
                                                      const LaunchSpec& launch);

} // namespace kernelskill::engine
