/// Values at which two kernels may differ, taken from their texts.
#pragma once

#include "engine/inputs/launch_inference.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelskill::engine {

/// Each constant of both kernels and of the device functions that they call, with the values right
/// beside it: a comparison with the constant then goes both ways, and ties occur. Ascending,
/// without duplicates.
struct ValueDictionary {
    std::vector<double> floating;
    std::vector<double> integral;
    /// The positive integers that only one of the texts has, with their neighbours: an edit may
    /// hold up to such a size, or from it on.
    std::vector<std::int64_t> edited;
    /// Powers of two, by their exponents, so far below floating-point constants which only the
    /// candidate has, or has more often, that a float which gets such a constant added keeps
    /// next to nothing of a number of this size. Descending, a few at most, and none for constants
    /// near 1, beside which all values near zero vanish.
    std::vector<int> vanishing = {};
};

/// The numbers right above the largest of the edit's constants, `most` of them, the largest first:
/// some code is reached from there on, as a loop that takes four rounds of 512 elements at once.
[[nodiscard]] std::vector<std::int64_t> largestEdited(const ValueDictionary& dictionary,
                                                      std::size_t most);

[[nodiscard]] ValueDictionary valueDictionary(KernelInFile original, KernelInFile candidate);

} // namespace kernelskill::engine
