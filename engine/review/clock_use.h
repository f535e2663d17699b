/// Judges edits of what a kernel computes from a clock, which tells another time in each run.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/verdict/check_result.h"

#include <optional>
#include <span>
#include <string>

namespace kernelskill::engine {

/// Performs the check that `edited`, parts of the kernel's text, changes no expression that follows
/// from clock64() or another clock, in the kernel or a function that it calls. nullopt if it reads
/// no clock. A check that holds says that such results were compared only as the emulator counts.
[[nodiscard]] std::optional<CheckResult> checkClocks(KernelRef subject,
                                                     std::span<const analysis::Span> edited);

} // namespace kernelskill::engine
