/// Compiles a user's .cu text to a shared object that the emulator's worker can load.
///
/// The shared object exports
///   - `void ks_entry(void** arguments)`: runs the kernel once on the calling fiber; arguments[i]
///   points at the
///     bytes of parameter i (for a pointer parameter: at the pointer);
///   - `const KsImageTable ks_image`: sizes and alignments of the parameters, addresses of the kept
///   `__device__` and
///     `__constant__` variables (see kernelskill/emulation_support.h);
/// and leaves undefined what the worker defines: the `ks_*` functions of
/// kernelskill/emulation_abi.h, `__tsan_read*`,
/// `__tsan_write*` and, with ImageOptions::traceBranches, `__sanitizer_cov_trace_pc`.
/// `__shared__` variables are the object's thread-local segment.
#pragma once

#include "engine/execution/emulator/compile/host_compiler.h"
#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct EmulationImage {
    std::filesystem::path sharedObject;
    /// The assumptions that were needed to compile it, one sentence each.
    std::vector<std::string> notes;
};

/// Slices, rewrites, compiles and caches. Errors: Unsupported, with `where` = "file:line"
/// (one-based), for features that are refused by name; Failed with the compiler's first error in
/// the user's file and line; Missing; Cancelled. Thread-safe. Several processes may share the
/// cache.
[[nodiscard]] Result<EmulationImage> buildEmulationImage(KernelRef kernel, const LaunchSpec& launch,
                                                         const ImageOptions& options,
                                                         std::stop_token stop);

} // namespace kernelskill::engine
