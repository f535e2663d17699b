/// Values for a launch whose results on the usual ones show nothing.
#pragma once

#include "engine/execution/job.h"
#include "engine/inputs/value_dictionary.h"

#include <cstdint>

namespace kernelskill::engine {

/// `launch` with other values in the buffers and symbols whose values are made up. Each gets a kind
/// of values of its own, which `seed` picks: positive ones, a single one, mostly zeros, and so on.
/// A root or a logarithm may then be a number, an index lead to the thread's own element, and a
/// condition hold that no mixture of all values meets. Indices may lead out of bounds. Every second
/// floating-point scalar gets another positive value.
[[nodiscard]] LaunchSpec withMixedValues(LaunchSpec launch, const ValueDictionary& dictionary,
                                         std::uint64_t seed);

} // namespace kernelskill::engine
