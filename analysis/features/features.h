/// What follows from a kernel's text alone, without running it.
#pragma once

#include "analysis/model/kernel_model.h"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::analysis {

/// How one access looks to a full warp whose lanes differ in threadIdx.x (after threadIdx.y where
/// blockDim.x < 32 is known).
struct AccessFeatures {
    std::uint32_t access = noId;            ///< Index into KernelModel::accesses.
    std::optional<std::int64_t> laneStride; ///< Elements between neighbouring lanes; 0: broadcast.
    /// Global: 32-byte sectors a warp-wide request touches. nullopt for the scalar rest of
    /// vectorised code, which few lanes run.
    std::optional<double> sectorsPerRequest;
    std::optional<double>
        bankConflictDegree;  ///< Shared: wavefronts a request needs; 1 is free of conflicts.
    std::string explanation; ///< One sentence that names the index and the stride.
};

struct Features {
    std::vector<AccessFeatures> accesses;
    bool hasSharedMemory = false;
    bool hasBarriers = false;
    bool hasAtomics = false;
    bool hasDivergentBranch = false;
    bool hasContraction = false; ///< A loop that sums products of two loads.
    bool hasSharedTreeReduction = false;
    bool hasGridStrideLoop = false;
    bool oneElementPerThread = false; ///< One flat index, a bounds guard, no loop over elements.
    std::optional<double>
        arithmeticIntensity; ///< Operations per byte of global traffic, static estimate.
    std::uint32_t loopDepth = 0;
};

[[nodiscard]] Features extractFeatures(const KernelModel& kernel);

using FeatureValue = std::variant<bool, std::uint32_t, double>;

/// Each field of `features` by its name, typed: the `features` object of `check --json`, and a part
/// of a language model's prompt.
[[nodiscard]] std::map<std::string, FeatureValue> describeFeatures(const Features& features);

/// "true", "2", "0.166667"
[[nodiscard]] std::string spelling(const FeatureValue& value);

} // namespace kernelskill::analysis
