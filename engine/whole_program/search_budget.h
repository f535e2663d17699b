/// Shares the time of a search among the kernels of a program.
#pragma once

#include "engine/diagnosis/bottleneck.h"
#include "engine/diagnosis/measured_roofline.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

namespace kernelskill::engine {

/// A search that has less is not worth its compilations.
inline constexpr std::chrono::seconds minSearchTime{5};

/// The part of a kernel's time that a perfect version of it would save, from 0.05 to 1: as measured
/// under the roofline, else by the gain that the diagnosis holds possible, else all of it.
[[nodiscard]] double savingAtMost(const std::optional<MeasuredRoofline>& measured,
                                  const Bottleneck& bottleneck);

/// The number of kernels that a budget is enough for; 1 or more if there is a kernel.
[[nodiscard]] std::size_t searchableKernels(std::size_t kernels, std::chrono::seconds budget);

/// The time for the first of the kernels that are still to be searched: its part of the weights,
/// which are share times headroom, of what is left. So time that a search leaves goes to those
/// behind it. Each of them keeps minSearchTime, even if nothing is left.
[[nodiscard]] std::chrono::seconds timeForNext(std::span<const double> weights,
                                               std::chrono::seconds left);

} // namespace kernelskill::engine
