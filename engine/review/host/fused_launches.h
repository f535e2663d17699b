/// Launches of one kernel that stand for two launches of other kernels: an edit fuses the two, or
/// splits the one.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/review/host/host_steps.h"

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A kernel and the two that it stands for. Of a fusion, the original has no kernel of its name; of
/// a split, none of the names of the two.
struct FusedKernel {
    std::string name; ///< Qualified.
    std::string first;
    std::string second;
    /// The places of the first and of the second launch's arguments among those of the fused
    /// launch.
    std::vector<std::size_t> firstArguments;
    std::vector<std::size_t> secondArguments;
};

/// The kernels that only `after` has and whose launches stand, in each host function, where
/// `before` launches two kernels one after the other, with the same arguments in the text. Empty
/// if the functions differ in another way.
[[nodiscard]] std::vector<FusedKernel> fusedKernels(const analysis::FileModel& before,
                                                    const analysis::FileModel& after);

/// The kernels of `before` that `after` launches two new kernels for, in the same way.
[[nodiscard]] std::vector<FusedKernel> splitKernels(const analysis::FileModel& before,
                                                    const analysis::FileModel& after);

/// The place of a fused launch among the two that it stands for.
enum class FusedPlace : std::uint8_t { First, Second };

/// Returns `before` with one launch in the place of each two that a fused launch of `after` stands
/// for; of a split, `before` is the trace of the edit, and `after` that of the original. The two
/// have the fused one's stream, configuration and values, and nothing but waits of the host is
/// between them; the error names a fused launch for which there are no such two. Orders have to be
/// compared for both places: with FusedPlace::Second, what the second launch waited for is over
/// when the fused one begins; with FusedPlace::First, what waited for the first launch begins after
/// the fused one.
[[nodiscard]] std::expected<HostTrace, std::string>
withFusedLaunches(const HostTrace& before, const HostTrace& after,
                  const std::vector<FusedKernel>& fused, FusedPlace place);

} // namespace kernelskill::engine
