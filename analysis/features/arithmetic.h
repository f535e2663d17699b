/// What a kernel computes with what it loads.
#pragma once

#include "analysis/model/kernel_model.h"

#include <optional>

namespace kernelskill::analysis {

/// A loop that adds products of two loaded values to an accumulator: `sum += a[i] * b[j]`.
[[nodiscard]] bool sumsProductsOfLoads(const KernelModel& kernel);

/// Arithmetic operations per byte of global traffic of one thread; loops of unknown length count as
/// a fixed number of rounds, alike above and below. nullopt when nothing is loaded or stored.
[[nodiscard]] std::optional<double> arithmeticIntensity(const KernelModel& kernel);

} // namespace kernelskill::analysis
