/// Measures the arithmetic of a kernel.
#pragma once

#include "analysis/model/kernel_model.h"

#include <optional>

namespace kernelskill::analysis {

/// A loop that adds products of two loaded values to an accumulator: `sum += a[i] * b[j]`.
[[nodiscard]] bool sumsProductsOfLoads(const KernelModel& kernel);

/// Arithmetic operations per byte of global traffic of one thread. Loops of unknown length count
/// with the same fixed number of iterations in numerator and denominator. nullopt if nothing is
/// loaded or stored.
[[nodiscard]] std::optional<double> arithmeticIntensity(const KernelModel& kernel);

} // namespace kernelskill::analysis
