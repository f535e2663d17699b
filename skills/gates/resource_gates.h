/// From where on registers and occupancy are worth an edit, for the skills that ask the compiler.
#pragma once

#include "analysis/compile/occupancy.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <optional>

namespace kernelskill::skills {

/// As the table of bottlenecks has it: less is hard to see in the time.
inline constexpr std::uint64_t minSpilledBytes = 32;

/// Refuses with `unknown-occupancy`, or with `enough-warps` where more than half of the warps that
/// a multiprocessor can hold are resident, which hide latency.
[[nodiscard]] Gated<analysis::Occupancy>
requireRoomForWarps(const std::optional<analysis::Occupancy>& occupancy);

/// With so many static bytes of shared memory more for each block. Refuses with
/// `unknown-occupancy`, with `too-much-shared-memory` where a kernel cannot declare as many, or
/// with `loses-blocks` where fewer blocks would be resident than now.
[[nodiscard]] Gated<analysis::Occupancy> requireRoomForShared(const CompiledKernel& compiled,
                                                              std::uint64_t moreBytes);

} // namespace kernelskill::skills
