/// Shares a program's time on the GPU out among its kernels.
#pragma once

#include "engine/timeline/timeline_summary.h"
#include "engine/whole_program/kernel_places.h"

#include <optional>
#include <vector>

namespace kernelskill::engine {

struct KernelShare {
    KernelTimes times;
    double share = 0;          ///< The part of the time of all kernels, copies and memsets, 0 to 1.
    double shareOfKernels = 0; ///< The part of the time of all kernels, 0 to 1.
    std::optional<KernelDefinition> place; ///< nullopt if the workspace does not define it.

    /// The speedup of all GPU work if the kernel took no time (Amdahl's law);
    /// infinite if there is nothing else.
    [[nodiscard]] double gainAtMost() const;
    /// Whether the kernel is worth a run for its details, and a search. Copies do not count: a
    /// program that copies longer than it computes has hot kernels, too.
    [[nodiscard]] bool isHot() const;
    /// Whether it is an instantiation of a template. Others with its place are overloads.
    [[nodiscard]] bool isInstantiation() const;
};

struct ProgramProfile {
    std::vector<DeviceTimes> devices;
    std::vector<KernelShare> kernels; ///< The longest first.
};

/// The part of the time of all kernels from which a kernel is hot.
inline constexpr double hotShare = 0.05;

/// `folder` is the program's, from the root of the tree that `places` are of.
[[nodiscard]] ProgramProfile programProfile(const TimelineSummary& summary,
                                            const KernelPlaces& places,
                                            const std::filesystem::path& folder);

} // namespace kernelskill::engine
