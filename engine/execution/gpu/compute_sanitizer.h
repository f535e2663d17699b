/// NVIDIA's compute-sanitizer around a runner: what it finds in one launch of a kernel.
#pragma once

#include "engine/execution/gpu/runner_wire.h"
#include "engine/execution/gpu/start_runner.h"

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::gpu {

struct SanitizerFinding {
    std::string tool;  ///< "memcheck", "racecheck" or "synccheck"
    std::string what;  ///< In its words: "Invalid __global__ read of size 4 bytes".
    std::string place; ///< "scale in a.cu:12"; for a race both places; empty if it names none.
    bool operator==(const SanitizerFinding&) const = default;
};

/// The findings in kernels that a log of `tool` reports, in its order, each place once. Errors of
/// API calls are left out: they are the runner's.
[[nodiscard]] std::vector<SanitizerFinding> readSanitizerLog(std::string_view tool,
                                                             std::string_view log);

/// Launches `subject` once under memcheck, racecheck and synccheck each, in processes of their own.
/// Kernels run 10 to 100 times slower there. Missing if `sanitizer` cannot be started; Failed if
/// the launch does not end in time or a log cannot be read; Unsupported on Slurm, whose nodes need
/// not share the folder of the log.
[[nodiscard]] Result<std::vector<SanitizerFinding>>
runSanitizer(const std::filesystem::path& sanitizer, const RunnerCommand& runner,
             const Subject& subject, std::uint64_t seed, const std::stop_token& stop);

/// The findings of `candidate` of which the original has fewer. Places are not compared, because an
/// edit moves lines.
[[nodiscard]] std::vector<SanitizerFinding>
newFindings(const std::vector<SanitizerFinding>& original,
            const std::vector<SanitizerFinding>& candidate);

} // namespace kernelskill::engine::gpu
