/// From where on registers and occupancy are worth an edit, for the skills that ask the compiler.
#pragma once

#include <cstdint>

namespace kernelskill::skills {

/// Of the warps that a multiprocessor can hold: with more of them resident latency is hidden.
inline constexpr double enoughPercent = 50;
/// As the table of bottlenecks has it: less is hard to see in the time.
inline constexpr std::uint64_t fewestSpilledBytes = 32;

} // namespace kernelskill::skills
