/// Places the buffers of a generated model in the memory that its caller gives it.
#pragma once

#include "analysis/raise/program.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kernelskill::engine::graph {

/// The steps between which a buffer holds values, both included.
struct Lifetime {
    analysis::raise::BufferId buffer = 0;
    std::size_t first = 0;
    std::size_t last = 0;
};

/// Bytes from the begin of the memory; all are multiples of placementAlignment.
struct Placement {
    std::map<analysis::raise::BufferId, std::int64_t> offsets;
    std::int64_t bytes = 0;
    /// Places for buffers whose extents are known only when the program runs, one behind the other
    /// from `bytes` on. Those of one place share it, and the largest says how long it is.
    std::vector<std::vector<analysis::raise::BufferId>> dynamic;
};

constexpr std::int64_t placementAlignment = 256;

/// Buffers that never hold values at the same time may share memory.
[[nodiscard]] Placement placed(const analysis::raise::Program& program,
                               std::vector<Lifetime> lifetimes);

} // namespace kernelskill::engine::graph
