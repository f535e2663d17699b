/// Follows launches of a kernel through an edit by what the launches' texts have in common.
#pragma once

#include "engine/inputs/launch_candidates.h"
#include "engine/inputs/launch_inference.h"

#include <optional>

namespace kernelskill::engine {

/// For edits after which the kernel takes what it took before, and at most integers more, see
/// takesArgumentsOf().
class LaunchFollower {
public:
    LaunchFollower(KernelInFile original, KernelInFile edited);

    /// The edited kernel's launch where the original's is `launch`, whose grid and block need not
    /// follow from its arguments. nullopt unless each launch in the text becomes the same.
    [[nodiscard]] std::optional<LaunchSpec> of(const LaunchSpec& launch) const;
    /// As of(), for a launch that a program made: launches in the text whose values are others are
    /// left out, and grid and block may follow from the captured values alone.
    [[nodiscard]] std::optional<LaunchSpec> ofCaptured(const LaunchSpec& captured) const;

private:
    LaunchCandidates before_;
    LaunchCandidates after_;
    std::size_t known_; ///< Parameters of the original.
    bool addsArguments_;
};

/// Whether the edited kernel takes more than the original, and of() may tell what.
[[nodiscard]] bool addsIntegers(const analysis::KernelModel& original,
                                const analysis::KernelModel& edited);

} // namespace kernelskill::engine
