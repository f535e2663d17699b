/// The compiled forms of a kernel that a review runs beside each other.
#pragma once

#include "engine/execution/executor.h"
#include "engine/inputs/trial.h"
#include "skills/base/skill.h"

#include <memory>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

using ImagePointer = std::shared_ptr<const Image>;

/// The images of one instance of the kernel. Each of the first two is an image, or the reason why
/// there is none.
struct ReviewImages {
    Result<ImagePointer> original;
    Result<ImagePointer> candidate;
    ImagePointer reference;    ///< The original in float64; null if there is none.
    std::string referenceNote; ///< Why there is none.
    /// The candidate in float64; null if there is none, or if one of the two float64 forms calls
    /// functions that compute in float.
    ImagePointer wideCandidate = nullptr;
    /// Whether one of the programs did not compile with its watched conditions, but without them.
    bool lostConditions = false;
};

/// The two versions of a kernel.
struct KernelPair {
    KernelRef original;
    KernelRef candidate;
};

/// Builds both for the launches of `trial`, all at once. Builds both in float64 as well, unless the
/// results must agree exactly. A program that does not compile with its watched
/// conditions is built without them.
[[nodiscard]] ReviewImages buildImages(Executor& executor, const analysis::Toolchain& toolchain,
                                       KernelPair pair, const Trial& trial,
                                       skills::Numerics numerics, const std::stop_token& stop);

} // namespace kernelskill::engine
