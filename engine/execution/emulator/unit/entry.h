/// Writes the code that follows the user's: the entry that the worker calls, and the table that
/// describes the image.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/execution/job.h"
#include "engine/unit/slice.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

struct UnitBreadth;

[[nodiscard]] std::string entryText(const ScannedProgram& program,
                                    const std::vector<FileSlice>& slices,
                                    const analysis::KernelModel& kernel, const LaunchSpec& launch,
                                    const UnitBreadth& breadth);

} // namespace kernelskill::engine
