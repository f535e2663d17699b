/// Row programs: reductions along rows, and what is computed from their results for the same rows,
/// such as a softmax, a normalisation or a loss of each sample. One kernel does all of it.
#pragma once

#include "analysis/raise/program.h"
#include "analysis/raise/uses.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace kernelskill::engine::graph {

/// A computation over the elements of each row. Its `axes` are the rows of the program.
struct RowPass {
    enum class Kind : std::uint8_t {
        Reduction, ///< Reduces `elements`; its stores are done once a row.
        Map,       ///< Its stores are done for each of `elements`.
        Row,       ///< A map of one element a row.
    };
    Kind kind = Kind::Map;
    analysis::raise::Computation computation;
    /// The axis of the elements: the same in all passes with as many. Unset for Kind::Row.
    std::optional<analysis::raise::Axis> elements;
};

struct RowProgram {
    std::vector<analysis::raise::Axis> rows;
    std::vector<RowPass> passes;
    std::vector<std::size_t> steps; ///< The numbers of the steps that it does, rising.
    /// Buffers of which each row has one element, known to all threads of the row once written.
    std::set<analysis::raise::BufferId> rowValues;
    /// Buffers that steps outside of it read, or the caller.
    std::set<analysis::raise::BufferId> wanted;
    std::uint32_t axes = 0; ///< Axes that have been numbered.
};

/// The row program that begins with the reduction `first`: maps before it whose elements it reads,
/// and what can follow at once. Steps that are `done` by row programs which begin earlier do not
/// join it, nor do those that are `excluded`. nullopt if the step is no reduction, finds places, or
/// gives more than one element a row.
[[nodiscard]] std::optional<RowProgram>
rowProgramAt(const analysis::raise::Program& program, const analysis::raise::Uses& uses,
             std::size_t first, const std::vector<bool>& done, const std::vector<bool>& excluded);

} // namespace kernelskill::engine::graph
