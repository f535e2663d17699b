/// Reads from a kernel's own text which launches it expects.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/inputs/program_text.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

struct KernelText {
    const FunctionText* function = nullptr;
    std::array<bool, 3> usesThread{};
    std::array<bool, 3> usesBlock{};
    /// Tokens of the bound that a global index of the axis is compared with, as in `i < n`; of
    /// several guards, the first whose index has no other axis, or else the first.
    std::array<std::optional<std::pair<std::size_t, std::size_t>>, 3> bounds;
    /// The compared index has other axes, too: `y * width + x < width * height`.
    std::array<bool, 3> boundIsShared{};
    std::array<bool, 3> boundIsPerBlock{}; ///< The compared index is blockIdx alone.
    /// Tokens of B in `blockIdx.x * B + threadIdx.x`, when B is not blockDim: the block that the
    /// kernel expects.
    std::array<std::optional<std::pair<std::size_t, std::size_t>>, 3> blockFactor;
    bool hasDynamicShared = false;
    std::set<std::string>
        indexPointers; ///< Parameters whose elements subscript something else, or bound a loop.
    /// For each of these, the parameters that an element alone subscripts: `bins[keys[i]]`.
    std::map<std::string, std::set<std::string>> subscripted;
    std::set<std::string>
        offsetPointers; ///< The index pointers that are read at i and i + 1: offsets of rows.
    /// Extents of the first __shared__ array, as token ranges.
    std::vector<std::pair<std::size_t, std::size_t>> sharedExtents;
    /// Tokens that may be the constant which marks an element as empty, by pointer parameter:
    /// atomicCAS expects it there, or a loop ends where an element equals it.
    std::map<std::string, std::pair<std::size_t, std::size_t>> sentinels;
    std::set<std::string> names; ///< All identifiers of the body.

    [[nodiscard]] bool hasBounds() const { return bounds[0] || bounds[1] || bounds[2]; }
};

/// nullopt when the definition is not in the text (it comes out of a macro).
[[nodiscard]] std::optional<KernelText> readKernelText(const ProgramText& program,
                                                       const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
