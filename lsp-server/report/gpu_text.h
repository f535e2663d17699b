/// A kernel's use of a GPU and its time there, as sentences and as JSON.
#pragma once

#include "engine/workbench/workbench.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// One a line: registers and spills, occupancy and what limits it, the roofline's interval, or the
/// place under it where that was measured. An unknown is left out, or given with its reason.
[[nodiscard]] std::vector<std::string> gpuLines(const engine::KernelReport& report);

/// What a GPU has measured of a kernel; what is not known is empty.
struct MeasuredTexts {
    std::string time;    ///< "72.1 µs"
    std::string percent; ///< "88 %": of the roofline.
};
[[nodiscard]] MeasuredTexts measuredTexts(const engine::KernelReport& report);
/// "72.1 µs · 88 % of roofline", or the time alone where the rest is not known; empty for what no
/// GPU has timed.
[[nodiscard]] std::string measuredHeadline(const engine::KernelReport& report);
/// "on NVIDIA H200, 2026-11-22T03:00:00Z"; empty for what no GPU has measured.
[[nodiscard]] std::string measuredWhere(const engine::KernelReport& report);

/// {architecture, compiler, registers, spill_store_bytes, spill_load_bytes, stack_bytes,
/// shared_bytes, barriers, occupancy: {percent, warps, blocks, limiters, fewer_registers,
/// fewer_shared_bytes}, notes}; {error} where they could not be had; null without a toolkit.
[[nodiscard]] nlohmann::json factsJson(const engine::KernelReport& report);

/// {gpu, least_seconds, intensity: [low, high], ridge, ridge_basis, position, text}; null if
/// nothing was counted.
[[nodiscard]] nlohmann::json rooflineJson(const engine::KernelReport& report);

/// {gpu, microseconds, bytes_per_second, flops, intensity, memory_percent, compute_percent,
/// roofline_percent, ceilings: {bytes_per_second, fp32_flops, fp64_flops}, text}; null unless it
/// was measured.
[[nodiscard]] nlohmann::json measuredJson(const engine::KernelReport& report);

} // namespace kernelskill::lsp
