/// PyTorch programs on small tensors: the same nodes with smaller extents, for machines that cannot
/// run the real ones.
#pragma once

#include "engine/graph/program.h"
#include "engine/graph/symbol_values.h"

#include <cstdint>
#include <optional>

namespace kernelskill::engine::graph {

/// The largest extent that a smaller program may have, at least 8; nullopt: extents stay as they
/// were at export.
using ExtentLimit = std::optional<std::int64_t>;

/// An extent of at most `limit` that stands for `extent` everywhere, so that what fitted still fits
/// most of the time: even ones are halved, and others become odd and even ones of any kind.
[[nodiscard]] std::int64_t smallerExtent(std::int64_t extent, std::int64_t limit);

/// The extents that a program is run with.
struct ProgramExtents {
    ExtentLimit largest;       ///< For those that are not dynamic.
    SymbolValues symbols = {}; ///< The values of the program's symbols; empty: those at export.
};

/// The program with smaller inputs, weights and sizes in arguments. Inputs that became smaller hold
/// no data. The types of results are as they were: they no longer fit. Dynamic extents stay as they
/// are.
[[nodiscard]] Program withExtents(Program program, const ExtentLimit& limit);

/// The program with the numbers that its dynamic extents had at export, and without symbols.
[[nodiscard]] Program withFixedExtents(Program program);

} // namespace kernelskill::engine::graph
