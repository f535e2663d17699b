/// Launches of a kernel that an edit adds, each in the place of two launches of other kernels.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/review/host/host_steps.h"

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct FusedKernel {
    std::string name; ///< Qualified, in the edit; the original has no such kernel.
    std::string first;
    std::string second;
    /// The place among its arguments of each argument of the first and of the second launch.
    std::vector<std::size_t> firstArguments;
    std::vector<std::size_t> secondArguments;
};

/// The new kernels of `after` whose launches stand, in each host function, where `before` launches
/// two others one after the other, with the same arguments in the text. Empty where the functions
/// differ in another way.
[[nodiscard]] std::vector<FusedKernel> fusedKernels(const analysis::FileModel& before,
                                                    const analysis::FileModel& after);

/// The place of a fused launch among the two that it stands for.
enum class FusedPlace : std::uint8_t { First, Second };

/// `before` with one launch for each two that `after` has a fused one for: of the same stream,
/// configuration and values, with nothing but waits of the host in between. An error tells which is
/// not there. What was to be over when the second one began is over when the fused one begins if
/// the result with FusedPlace::Second keeps its order; what was to begin after the first one does
/// if that with FusedPlace::First does.
[[nodiscard]] std::expected<HostTrace, std::string>
withFusedLaunches(const HostTrace& before, const HostTrace& after,
                  const std::vector<FusedKernel>& fused, FusedPlace place);

} // namespace kernelskill::engine
