/// Finds parameters of a kernel that a caller may pass the same memory for.
#pragma once

#include "engine/inputs/launch_inference.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// An input and an output of one floating-point type.
struct PointerPair {
    std::string input;
    std::string output;
    bool isPassedEqual = false; ///< A launch in the file passes one pointer for both.
    bool operator==(const PointerPair&) const = default;
};

struct PointerPairs {
    std::vector<PointerPair> equal; ///< Nothing in both versions says that they differ.
    /// The same in the original, but the candidate says by __restrict__ that they do not overlap.
    std::vector<PointerPair> newlyRestricted;
};

/// Pairs of parameters that both versions have. Left out are those of which each launch in the file
/// passes different allocations.
[[nodiscard]] PointerPairs pointerPairs(KernelInFile original, KernelInFile candidate);

/// `launch` with the output's memory passed for both, and the input's contents in it if the output
/// has none.
[[nodiscard]] LaunchSpec withEqualPointers(LaunchSpec launch, const PointerPair& pair);

} // namespace kernelskill::engine
