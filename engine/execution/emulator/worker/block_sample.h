/// Which blocks of a grid to run when not all of them are wanted.
#pragma once

#include "engine/execution/job.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::engine::emulator {

/// Linear indices, ascending: the corners of the grid, where bounds guards bite, and others spread
/// evenly between.
[[nodiscard]] std::vector<std::uint64_t> sampleBlocks(const Dim3& grid, std::uint64_t most);

} // namespace kernelskill::engine::emulator
