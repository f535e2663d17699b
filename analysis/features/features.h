/// Features that follow from a kernel's text alone, without running it.
#pragma once

#include "analysis/model/kernel_model.h"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::analysis {

/// One access of a full warp. Lanes differ in threadIdx.x, then in threadIdx.y if blockDim.x < 32
/// is known.
struct AccessFeatures {
    std::uint32_t access = noId; ///< Index into KernelModel::accesses.
    /// Elements between neighbouring lanes; 0 for a broadcast.
    std::optional<std::int64_t> laneStride;
    /// For global memory: the 32-byte sectors that a request of a warp touches. nullopt for the
    /// scalar tail of vectorised code, which few lanes run, and where a parameter that nothing is
    /// compared with is the distance of lanes: it may well be 1.
    std::optional<double> sectorsPerRequest;
    /// Accesses like this one, itself among them, that use other elements of the same sectors: the
    /// fields of a struct.
    std::uint32_t fellows = 1;
    /// For shared memory: the wavefronts of a request; 1 means free of conflicts.
    std::optional<double> bankConflictDegree;
    std::string explanation; ///< One sentence that names the index and the stride.
};

struct Features {
    std::vector<AccessFeatures> accesses;
    bool hasSharedMemory = false;
    bool hasBarriers = false;
    bool hasAtomics = false;
    bool hasDivergentBranch = false;
    bool hasContraction = false; ///< Has a loop that sums products of two loads.
    bool hasSharedTreeReduction = false;
    bool hasGridStrideLoop = false;
    /// Has one flat index, a bounds guard, and no loop over elements.
    bool oneElementPerThread = false;
    std::optional<double>
        arithmeticIntensity; ///< Operations per byte of global traffic, as a static estimate.
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
