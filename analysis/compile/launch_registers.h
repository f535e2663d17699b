/// Finds launches that fail because a block needs more registers than a multiprocessor has.
#pragma once

#include "analysis/compile/occupancy.h"
#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// The maximum number of registers per thread with which the block could be launched, if it has
/// more than that; nullopt if registers do not prevent the launch.
[[nodiscard]] std::optional<std::uint32_t> launchableRegisters(const BlockResources& block,
                                                               const MultiprocessorLimits& limits);

/// Warnings of origin Device for launches whose blocks cannot have this number of registers per
/// thread. `architecture` and `registers` are those of the compiled kernel. Empty if launches
/// differ in their template arguments, because only some were compiled.
[[nodiscard]] std::vector<Diagnostic> launchRegisterFindings(const FileModel& model,
                                                             const KernelModel& kernel,
                                                             std::string_view architecture,
                                                             std::uint32_t registers);

} // namespace kernelskill::analysis
