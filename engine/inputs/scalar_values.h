/// Launches with other values of the integers that a program passes.
#pragma once

#include "engine/inputs/launch_inference.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct OtherScalars {
    std::vector<LaunchSpec> launches; ///< Each is the given one with other integers.
    std::set<std::string> names;      ///< The parameters that have other values in some.
};

/// `launch`, of `original`, with other values of its integer arguments. They become larger only
/// where the launch has threads enough in both kernels: a loop over the grid would do work that the
/// original leaves undone. Left alone are numbers that may tell the kernel its grid or block, here
/// and in `stated`, the same launch at the file's own size. `extents` are arguments and variables
/// whose values other launches vary; `ownWork` says that the blocks of both kernels do the same
/// work with any grid. Then integers that loops count up to get those of `longLoops` as well that
/// are larger.
[[nodiscard]] OtherScalars otherScalars(const LaunchSpec& launch, const LaunchSpec& stated,
                                        KernelInFile original, KernelInFile candidate,
                                        const std::map<std::string, std::int64_t>& extents,
                                        bool ownWork,
                                        const std::vector<std::int64_t>& longLoops = {});

/// Returns `launch` with those of these integers, by the parameter's name, that are small: large
/// ones are sizes, or make a run long. Parameters that `extents` names stay. nullopt if nothing
/// changes.
[[nodiscard]] std::optional<LaunchSpec>
withSmallIntegers(const LaunchSpec& launch, const analysis::KernelModel& kernel,
                  const std::map<std::string, std::int64_t>& values,
                  const std::map<std::string, std::int64_t>& extents);

} // namespace kernelskill::engine
