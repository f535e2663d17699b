/// Selects the blocks to run if not all are needed.
#pragma once

#include "engine/execution/job.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::engine::emulator {

/// Linear indices, ascending: the corners of the grid, where bounds guards matter, and others
/// spread evenly in between.
[[nodiscard]] std::vector<std::uint64_t> sampleBlocks(const Dim3& grid, std::uint64_t most);

} // namespace kernelskill::engine::emulator
