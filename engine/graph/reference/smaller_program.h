/// PyTorch programs on small tensors: the same nodes with smaller extents, for machines that cannot
/// run the real ones.
#pragma once

#include "engine/graph/program.h"

#include <cstdint>
#include <optional>

namespace kernelskill::engine::graph {

/// The largest extent that a smaller program may have, at least 8; nullopt: extents stay as they
/// were at export.
using ExtentLimit = std::optional<std::int64_t>;

/// An extent of at most `limit` that stands for `extent` everywhere, so that what fitted still fits
/// most of the time: even ones are halved, and others become odd and even ones of any kind.
[[nodiscard]] std::int64_t smallerExtent(std::int64_t extent, std::int64_t limit);

/// The program with smaller inputs, weights and sizes in arguments, and one value for each dynamic
/// extent. Inputs that became smaller hold no data. The types of results are as they were: they no
/// longer fit.
[[nodiscard]] Program withExtents(Program program, const ExtentLimit& limit);

} // namespace kernelskill::engine::graph
