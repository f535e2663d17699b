/// How the blocks of a GPU share a contraction out: tiles, and how factors get into shared memory.
#pragma once

#include "engine/graph/kernels/contraction.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// The hardware unit that multiplies.
enum class MultiplyUnit : std::uint8_t {
    Float32, ///< The cores for float, each thread a small tile.
    TF32,    ///< Tensor cores: factors rounded to 10 bits of fraction, float sums.
    /// Tensor cores three times, on factors in two bfloat16 parts: 16 bits of fraction.
    BFloat16Split,
    TF32Split, ///< Tensor cores three times, on the upper and lower bits: nearly float's accuracy.
};

/// A block computes `rows` x `columns` results, `depth` products of each at a time; a warp computes
/// `warpRows` x `warpColumns` of them.
struct ContractionTile {
    MultiplyUnit unit = MultiplyUnit::Float32;
    int rows = 128;
    int columns = 128;
    int depth = 16; ///< A multiple of 16 for tensor cores.
    int warpRows = 32;
    int warpColumns = 64;
    int stages = 2; ///< Tiles of the depth in shared memory at once.
    int blocks = 1; ///< Blocks that a multiprocessor is to hold at least.
    /// Whether BFloat16Split adds the sum of each step to the results in float32. That is slower
    /// and more exact than adding all products on tensor cores, and is always done for many terms.
    bool sumsInSteps = false;

    [[nodiscard]] int threads() const { return rows / warpRows * (columns / warpColumns) * 32; }
    bool operator==(const ContractionTile&) const = default;
};
/// How a contraction is to be computed.
struct ContractionChoice {
    MultiplyUnit multiply = MultiplyUnit::Float32; ///< The least exact unit that is allowed.
    std::size_t tile = 0;     ///< The tile's place in tilesFor(); the last one if there are fewer.
    bool sumsInSteps = false; ///< As ContractionTile has it.
    auto operator<=>(const ContractionChoice&) const = default;
};

/// "128 x 128 results a block, 16 deep, 3 stages, TF32".
[[nodiscard]] std::string textOf(const ContractionTile& tile);

/// How a factor's tile gets into shared memory.
struct FactorAccess {
    std::vector<analysis::raise::Scalar> guards; ///< If one does not hold, the factor is zero.
    analysis::raise::Scalar value;               ///< The factor where all guards hold.
    /// The buffer whose element the value is, as it stands; else it is computed while it is loaded.
    std::optional<analysis::raise::BufferId> copied;
    analysis::raise::Index offset; ///< The element's index in that buffer.
    /// The rows or columns, and the inner depth, as the offset names them. What lies one behind the
    /// other in the buffer is one axis, over the number of the row, the column or the depth.
    std::vector<analysis::raise::Axis> outer;
    std::vector<analysis::raise::Axis> inner;
    bool isOuterJoined = false;
    bool isInnerJoined = false;
    bool isAlongDepth = false; ///< Neighbours in memory follow the depth, not the rows or columns.
    int width = 1;             ///< Elements that one access loads: 4 or 1.
};

/// The depth, walked in steps: each element of `taps`, and tiles of `inner` in it.
struct DepthOrder {
    std::vector<analysis::raise::Axis> taps;
    std::vector<analysis::raise::Axis> inner; ///< The last one innermost.
};

/// A factor, and the axes of the result that it alone reads.
struct FactorAxes {
    analysis::raise::Scalar factor;
    std::vector<analysis::raise::Axis> outer;
};
/// The axis along which a factor has neighbours in memory is the inner one, or else the longest, if
/// tiles of it waste little; without such an axis, all are inner ones.
[[nodiscard]] DepthOrder depthOrderOf(const analysis::raise::Program& program,
                                      const std::vector<analysis::raise::Axis>& depth,
                                      const std::vector<FactorAxes>& factors);
/// `outer`: the rows of a left factor, the columns of a right one.
[[nodiscard]] FactorAccess accessOf(const analysis::raise::Program& program,
                                    const analysis::raise::Scalar& factor,
                                    const std::vector<analysis::raise::Axis>& outer,
                                    const DepthOrder& depth);

/// The tiles that are worth a try, the one that is expected to be fastest first. Never empty.
[[nodiscard]] std::vector<ContractionTile> tilesFor(const Contraction& contraction,
                                                    MultiplyUnit unit);
/// The unit to use where `wanted` is as inexact as it may get: a faster one whose products are as
/// exact. Tensor cores multiply float16 and bfloat16 numbers exactly as TF32 ones.
[[nodiscard]] MultiplyUnit unitFor(const Contraction& contraction, MultiplyUnit wanted);
struct KernelOptions {
    /// The hardware unit for products and convolutions, and the place of their tiles. Computations
    /// of windows that overlap have two schedules: 0, and any other number.
    MultiplyUnit multiply = MultiplyUnit::Float32;
    std::size_t tile = 0;
    bool sumsInSteps = false; ///< As ContractionTile has it.
    /// Another choice for the computations that do the work of these nodes of the graph.
    std::map<std::string, ContractionChoice> ofNodes = {};
};
/// Returns the choice that the options make for a computation. The last of its nodes counts,
/// because what the first ones compute may be in memory already.
[[nodiscard]] ContractionChoice choiceFor(const std::vector<std::string>& sources,
                                          const KernelOptions& options);
[[nodiscard]] ContractionTile tileFor(const Contraction& contraction, const KernelOptions& options);
/// The blocks of a contraction with that tile.
[[nodiscard]] std::int64_t blocksOf(const Contraction& contraction, const ContractionTile& tile);

} // namespace kernelskill::engine::graph
