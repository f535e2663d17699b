/// The elements of a row that threads keep in registers between the passes of a row program.
#pragma once

#include "engine/graph/kernels/row_program.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// An element of a buffer at each element of a row.
struct KeptLoad {
    analysis::raise::BufferId buffer = 0;
    analysis::raise::Index at;
    bool isVector = false; ///< Neighbours are loaded at once.
};

struct KeptElements {
    std::optional<analysis::raise::Axis> elements; ///< The axis of the first pass that has one.
    std::size_t width = 1; ///< Elements that vector accesses take; 1: there are none.
    /// Loads that several passes over these elements do, outside of the branches of selects.
    std::vector<KeptLoad> loads;
    /// Buffers that a map writes and a later pass reads.
    std::set<analysis::raise::BufferId> results;
    [[nodiscard]] std::size_t count() const { return loads.size() + results.size(); }
};

[[nodiscard]] KeptElements keptElementsOf(const analysis::raise::Program& program,
                                          const RowProgram& rows);

} // namespace kernelskill::engine::graph
