/// Launches that fail because a block has more registers than a multiprocessor.
#pragma once

#include "analysis/compile/occupancy.h"
#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// The most that each thread of the block may have, where it has so many that the block cannot be
/// launched; nullopt where registers do not keep it from that.
[[nodiscard]] std::optional<std::uint32_t> launchableRegisters(const BlockResources& block,
                                                               const MultiprocessorLimits& limits);

/// Launches of the kernel whose blocks cannot be launched with so many registers a thread, as
/// warnings of origin Device. `architecture` and `registers`: what it was compiled for, and what
/// the compiler took. Nothing where launches differ in their template arguments, of which only
/// some were compiled.
[[nodiscard]] std::vector<Diagnostic> launchRegisterFindings(const FileModel& model,
                                                             const KernelModel& kernel,
                                                             std::string_view architecture,
                                                             std::uint32_t registers);

} // namespace kernelskill::analysis
