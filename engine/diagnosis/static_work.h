/// The work of a thread and the bytes that it moves, from the text alone.
#pragma once

#include "engine/diagnosis/warp_view.h"

#include <optional>
#include <set>
#include <utility>

namespace kernelskill::engine {

struct StaticWork {
    /// Additions and products of floats, and what else takes the time of so many: doubles count
    /// twice as much, integers of work (not of indices) twice, functions as the instructions that
    /// they are.
    double operations = 0;
    double functionOperations = 0; ///< Those of functions, divisions and roots among them.
    double bytes = 0;              ///< Of global memory; what neighbours load as well counts once.

    [[nodiscard]] std::optional<double> intensity() const {
        return bytes > 0 ? std::optional(operations / bytes) : std::nullopt;
    }
};

/// An access and a loop around it.
using AccessInLoop = std::pair<analysis::NestAccessId, analysis::NestNodeId>;

/// Loops of unknown length count with the same number of rounds everywhere. `overlapping` holds
/// accesses with the loops that move them over elements which neighbouring threads load, too.
[[nodiscard]] StaticWork staticWork(const WarpView& warp,
                                    const std::set<AccessInLoop>& overlapping);

/// Operations of what stands below the node, each loop with its rounds.
[[nodiscard]] double operationsBelow(const WarpView& warp, analysis::NestNodeId node);

} // namespace kernelskill::engine
