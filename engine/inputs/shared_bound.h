/// Grids of kernels that bound a position of several axes by one number.
#pragma once

#include "analysis/model/kernel_model.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kernelskill::engine {

/// The number of blocks along `axis` that keeps a position such as `y * columns + x` below `bound`:
/// x reaches the next row, and y the bound. The position is that of an access to memory.
/// `integers`: values of parameters, by name. nullopt: no access has such a position, or another
/// number decides.
[[nodiscard]] std::optional<std::int64_t>
blocksBelow(const analysis::KernelModel& kernel, std::size_t axis, std::int64_t bound,
            const std::array<std::int64_t, 3>& block,
            const std::map<std::string, std::int64_t>& integers);

} // namespace kernelskill::engine
