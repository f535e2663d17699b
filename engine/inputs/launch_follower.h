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

    /// Returns the edited kernel's launch for the original's `launch`, whose grid and block need
    /// not follow from its arguments. nullopt unless all launches in the text become the same one.
    [[nodiscard]] std::optional<LaunchSpec> of(const LaunchSpec& launch) const;
    /// As of(), for a launch that a program made. Leaves out launches of the text that evaluate to
    /// another grid or block; those of the edit may also follow from the captured arguments alone.
    [[nodiscard]] std::optional<LaunchSpec> ofCaptured(const LaunchSpec& captured) const;

    /// Whether a launch follows from the text alone: the kernel takes more integers, or a function
    /// of the host makes the grid from another number.
    [[nodiscard]] bool isNeeded() const { return addsArguments_ || changesCount(); }
    /// Whether a function of the host makes a launch's grid from another number than before: of()
    /// takes the grid to be in proportion to the number.
    [[nodiscard]] bool changesCount() const;

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
