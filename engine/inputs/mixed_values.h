/// Values for a launch whose results on the usual ones show nothing.
#pragma once

#include "engine/execution/job.h"
#include "engine/inputs/value_dictionary.h"

#include <cstdint>

namespace kernelskill::engine {

/// Returns `launch` with other values in the buffers and symbols whose values are made up. For
/// each, `seed` picks one kind of values: positive ones, a single one, mostly zeros, and so on.
/// Roots and logarithms are then numbers more often, and conditions hold that need one kind
/// throughout. Indices may lead out of bounds. Half of the floating-point scalars get another
/// positive value.
[[nodiscard]] LaunchSpec withMixedValues(LaunchSpec launch, const ValueDictionary& dictionary,
                                         std::uint64_t seed);

} // namespace kernelskill::engine
