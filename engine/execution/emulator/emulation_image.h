/// From a user's .cu text to a shared object that the emulator worker can load, and from addresses
/// in it back to lines.
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

#include "engine/execution/executor.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct ImageOptions {
    std::filesystem::path hostCompiler;   ///< As findHostCompiler gives it.
    std::filesystem::path preludeInclude; ///< analysis::Toolchain::preludeInclude
    std::filesystem::path
        cacheDirectory; ///< Empty: $XDG_CACHE_HOME/kernelskill, else ~/.cache/kernelskill.
    std::chrono::milliseconds compileTime{60'000};
    std::uint64_t cacheBytes = 512ull << 20; ///< Least recently used images beyond it are removed.
    bool traceBranches = true;
};

struct EmulationImage {
    std::filesystem::path sharedObject;
    std::vector<std::string> notes; ///< What had to be assumed to compile it, one sentence each.
};

/// Place of a machine address, as the user sees it.
struct SourcePlace {
    std::string
        file; ///< Absolute path of the user's file; empty when no inlined frame lies in one.
    std::uint32_t line = 0; ///< Zero-based.
    std::string function;   ///< Demangled name of the frame's function.
};

/// The compiler that builds images: `wanted`, else $KERNELSKILL_HOST_CXX, else g++, c++, clang++ on
/// PATH. Absolute. Missing, with the remedy, when there is none.
[[nodiscard]] Result<std::filesystem::path> findHostCompiler(const std::filesystem::path& wanted);

/// Slices, rewrites, compiles and caches. Errors: Unsupported with `where` = "file:line" (one-based
/// line) for what is refused by name; Failed with the compiler's first error in the user's own file
/// and line; Missing; Cancelled. Thread-safe; several processes may share the cache.
[[nodiscard]] Result<EmulationImage>
buildEmulationImage(const ProgramSource& program, const analysis::KernelModel& kernel,
                    const LaunchSpec& launch, const ImageOptions& options, std::stop_token stop);

/// Places of code addresses, given as offsets from the load base of `sharedObject`, in order. An
/// address is looked up as it is: give "return address - 1" for a call. Uses addr2line; Missing
/// when it is not there.
[[nodiscard]] Result<std::vector<SourcePlace>>
resolvePlaces(const std::filesystem::path& sharedObject, std::span<const std::uint64_t> offsets,
              std::stop_token stop);

} // namespace kernelskill::engine
