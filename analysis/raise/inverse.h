/// Solves positions for their axes: which element of a loop nest belongs to an element of a buffer.
#pragma once

#include "analysis/raise/index.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace kernelskill::analysis::raise {

/// The axes of a position, solved from its components.
struct Inverse {
    /// The axes, by their ids, as indices over the components. Each is proven: with the position
    /// for the components it is the axis.
    std::map<std::uint32_t, Index> axes;
    /// Whether no axis is missing: no two elements have the same position.
    bool isWhole = false;
};

/// Solves `position`, which stands over `axes`, for them. `components` are axes that stand for its
/// components. Permutations, and splits and merges of axes by constants, are solved.
[[nodiscard]] Inverse inverseOf(const std::vector<Index>& position, const std::vector<Axis>& axes,
                                const std::vector<Axis>& components);

/// Whether the whole inverse reaches each element of a buffer of that shape: as many elements as
/// the axes have, and positions are within the buffer.
[[nodiscard]] bool coversAll(const std::vector<Axis>& axes, const std::vector<Index>& shape);

/// Whether each index is known to be within its extent.
[[nodiscard]] bool isInsideOf(const std::vector<Index>& position, const std::vector<Index>& shape);

} // namespace kernelskill::analysis::raise
