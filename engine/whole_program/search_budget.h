/// Shares the time of a search among the kernels of a program.
#pragma once

#include "engine/diagnosis/bottleneck.h"
#include "engine/diagnosis/measured_roofline.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

namespace kernelskill::engine {

/// The time of a short try: a first look at a round's edits, and the review of the best of them,
/// which may take as long again.
inline constexpr std::chrono::seconds minSearchTime{2};

/// The part of a kernel's time that a perfect version of it would save, from 0.05 to 1: as measured
/// under the roofline, else by the gain that the diagnosis holds possible, else all of it.
[[nodiscard]] double savingAtMost(const std::optional<MeasuredRoofline>& measured,
                                  const Bottleneck& bottleneck);

/// The number of kernels that a budget is enough for, with a short try for each; at least 1.
[[nodiscard]] std::size_t searchableKernels(std::chrono::seconds budget);

/// The time that each of so many kernels has in any case: half of the budget is for all alike, but
/// no more than 5 s for each, and no less than a short try.
[[nodiscard]] std::chrono::seconds leastSearchTime(std::size_t kernels,
                                                   std::chrono::seconds budget);

/// The time for the first of the kernels that are still to be searched: its part of the weights,
/// which are share times headroom, of what is left. So time that a search leaves goes to those
/// behind it. Each of them keeps `least`, even if nothing is left.
[[nodiscard]] std::chrono::seconds
timeForNext(std::span<const double> weights, std::chrono::seconds left, std::chrono::seconds least);

} // namespace kernelskill::engine
