#include "engine/graph/kernels/contraction_schedule.h"

#include "engine/graph/kernels/vector_accesses.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::ScalarKind;
using analysis::raise::Axis;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;

constexpr int smallestTileDepth = 16;
constexpr double leastShareInside = 0.8;

const ScalarNode* firstLoadOf(const Scalar& value) {
    const ScalarNode* found = nullptr;
    forEachNode(value, [&](const ScalarNode& node) {
        if (found == nullptr && node.kind == ScalarNode::Kind::Load)
            found = &node;
    });
    return found;
}

bool isZero(const Scalar& value) {
    return analysis::raise::numberOf(value) == 0.0;
}

/// Takes selects with zero as their other branch for guards.
FactorAccess guarded(const Scalar& factor) {
    FactorAccess access;
    access.value = factor;
    while (access.value->kind == ScalarNode::Kind::Select && isZero(access.value->arguments[2])) {
        access.guards.push_back(access.value->arguments[0]);
        access.value = access.value->arguments[1];
    }
    return access;
}

bool guardsMention(const FactorAccess& access, const Axis& axis) {
    return std::ranges::any_of(access.guards,
                               [&](const Scalar& guard) { return mentions(guard, axis.id); });
}

bool isStrideOne(const Index& offset, const std::vector<Axis>& axes) {
    return !axes.empty() && strideOf(offset, axes.back()) == 1;
}

/// Whether groups of four neighbours along the last axis lie at multiples of 16 bytes.
bool canLoadFour(const FactorAccess& access, const std::vector<Axis>& axes) {
    if (axes.empty())
        return false;
    const Axis& axis = axes.back();
    const auto extent = axis.extent->constant();
    return extent && *extent % 4 == 0 && isAlignedAlong(access.offset, axis, 4) &&
           !guardsMention(access, axis);
}

/// The numbers of axes that stand for several; no program has so many axes.
constexpr std::uint32_t joinedOuter = 0xfffffff0;
constexpr std::uint32_t joinedInner = 0xfffffff1;

/// Makes several axes one, if an element's place in the buffer grows by a constant with its number.
bool join(std::vector<Axis>& axes, std::vector<Index>& position, const std::vector<Index>& shape,
          std::uint32_t id) {
    if (axes.size() < 2)
        return false;
    std::vector<Index> extents;
    for (const Axis& axis : axes)
        extents.push_back(*axis.extent);
    const Axis whole{id, axes.back().name, std::make_shared<const Index>(extentOf(axes))};
    const std::vector<Index> parts = unflattened(Index::of(whole), extents);
    std::map<std::uint32_t, Index> places;
    for (std::size_t i = 0; i < axes.size(); ++i)
        places[axes[i].id] = parts[i];
    std::vector<Index> joined;
    for (const Index& at : position)
        joined.push_back(at.substituted(places));
    if (!strideOf(flattened(joined, shape), whole))
        return false;
    position = std::move(joined);
    axes = {whole};
    return true;
}

/// The share of products in tiles of that depth that do not lie beyond the end.
double shareInside(std::int64_t extent, int tileDepth) {
    const std::int64_t tiles = (extent + tileDepth - 1) / tileDepth;
    return extent == 0 ? 1 : static_cast<double>(extent) / static_cast<double>(tiles * tileDepth);
}

/// The tiles that were fastest for some extents (docs/measurements/contractions.md); those in
/// bfloat16 are as large as registers allow. No side is longer than the block has threads.
constexpr std::array measuredTiles = {
    ContractionTile{MultiplyUnit::Float32, 256, 128, 8, 64, 64, 2, 1},
    ContractionTile{MultiplyUnit::Float32, 128, 128, 8, 32, 64, 2, 2},
    ContractionTile{MultiplyUnit::Float32, 128, 64, 16, 32, 64, 2, 4},
    ContractionTile{MultiplyUnit::Float32, 64, 128, 16, 32, 64, 2, 4},
    ContractionTile{MultiplyUnit::Float32, 64, 64, 16, 32, 32, 2, 6},
    ContractionTile{MultiplyUnit::Float32, 128, 32, 16, 32, 32, 2, 6},
    ContractionTile{MultiplyUnit::Float32, 32, 128, 16, 16, 64, 2, 6},
    ContractionTile{MultiplyUnit::Float32, 16, 128, 16, 16, 32, 2, 8},
    ContractionTile{MultiplyUnit::TF32, 128, 256, 16, 64, 64, 4, 1},
    ContractionTile{MultiplyUnit::TF32, 128, 128, 16, 64, 64, 4, 2},
    ContractionTile{MultiplyUnit::TF32, 128, 64, 16, 64, 32, 4, 3},
    ContractionTile{MultiplyUnit::TF32, 64, 128, 16, 32, 64, 4, 3},
    ContractionTile{MultiplyUnit::TF32, 64, 64, 16, 32, 32, 4, 4},
    ContractionTile{MultiplyUnit::TF32, 128, 32, 16, 32, 32, 4, 5},
    ContractionTile{MultiplyUnit::TF32, 32, 128, 16, 32, 32, 4, 5},
    ContractionTile{MultiplyUnit::TF32, 128, 16, 16, 32, 16, 4, 6},
    ContractionTile{MultiplyUnit::TF32, 16, 128, 16, 16, 32, 4, 6},
    ContractionTile{MultiplyUnit::BFloat16Split, 128, 128, 16, 64, 64, 4, 2},
    ContractionTile{MultiplyUnit::BFloat16Split, 128, 64, 16, 64, 32, 4, 3},
    ContractionTile{MultiplyUnit::BFloat16Split, 64, 128, 16, 32, 64, 4, 3},
    ContractionTile{MultiplyUnit::BFloat16Split, 64, 64, 16, 32, 32, 4, 4},
    ContractionTile{MultiplyUnit::BFloat16Split, 128, 32, 16, 32, 32, 4, 4},
    ContractionTile{MultiplyUnit::BFloat16Split, 32, 128, 16, 32, 32, 4, 4},
    ContractionTile{MultiplyUnit::BFloat16Split, 128, 16, 16, 32, 16, 4, 6},
    ContractionTile{MultiplyUnit::BFloat16Split, 16, 128, 16, 16, 32, 4, 6},
    ContractionTile{MultiplyUnit::TF32Split, 128, 64, 16, 64, 32, 3, 2},
    ContractionTile{MultiplyUnit::TF32Split, 64, 128, 16, 32, 64, 3, 2},
    ContractionTile{MultiplyUnit::TF32Split, 64, 64, 16, 32, 32, 4, 3},
    ContractionTile{MultiplyUnit::TF32Split, 128, 32, 16, 32, 32, 4, 3},
    ContractionTile{MultiplyUnit::TF32Split, 32, 128, 16, 32, 32, 4, 3},
    ContractionTile{MultiplyUnit::TF32Split, 128, 16, 16, 32, 16, 4, 4},
    ContractionTile{MultiplyUnit::TF32Split, 16, 128, 16, 16, 32, 4, 4},
};

/// Relative to other tiles of the unit: the time of a multiprocessor. Results that lie outside of
/// the matrix take as long as others, small tiles load each element more often, and few warps leave
/// the multiprocessor idle while they wait.
double costOf(const Contraction& contraction, const ContractionTile& tile) {
    constexpr double multiprocessors = 132;
    constexpr double loadWeighs = 32;    ///< Cost of loading a row or column, in results.
    constexpr double warpLoadWeighs = 8; ///< The same within a warp.
    constexpr double aloneShare =
        0.55;                        ///< Share of a multiprocessor's speed that one warp reaches.
    constexpr double manyRounds = 4; ///< After which an incomplete last one does not matter.
    const double results = static_cast<double>(tile.rows) * tile.columns;
    const double warpResults = static_cast<double>(tile.warpRows) * tile.warpColumns;
    const double work =
        results * (1 + warpLoadWeighs * (tile.warpRows + tile.warpColumns) / warpResults) +
        loadWeighs * (tile.rows + tile.columns);
    const double each = static_cast<double>(blocksOf(contraction, tile)) / multiprocessors;
    const double rounds = each < manyRounds * tile.blocks ? std::ceil(each) : each;
    const double together = std::min(rounds, static_cast<double>(tile.blocks)) / tile.blocks;
    return rounds * work / (aloneShare + (1 - aloneShare) * together);
}

/// Whether the value has at most the 11 significant bits of a TF32 number.
bool isShortNumber(const ScalarNode& value) {
    const bool hasShortType = value.type == ScalarKind::Half || value.type == ScalarKind::BFloat16;
    switch (value.kind) {
    case ScalarNode::Kind::Load:
        return hasShortType;
    case ScalarNode::Kind::Number:
        return value.number == 0 || value.number == 1;
    case ScalarNode::Kind::Select:
        return isShortNumber(*value.arguments[1]) && isShortNumber(*value.arguments[2]);
    case ScalarNode::Kind::Call:
        return value.function == analysis::raise::Function::Convert &&
               (hasShortType ||
                (analysis::raise::isFloating(value.type) && isShortNumber(*value.arguments[0])));
    default:
        return false;
    }
}

} // namespace

std::string textOf(const ContractionTile& tile) {
    constexpr std::array<std::string_view, 4> units = {"float32", "TF32", "bfloat16 in two parts",
                                                       "TF32 in two parts"};
    return fmt::format("{} x {} results a block, {} a warp of {} x {}, {} deep, {} stages, {}{}",
                       tile.rows, tile.columns, tile.threads() / 32 == 1 ? "one" : "each",
                       tile.warpRows, tile.warpColumns, tile.depth, tile.stages,
                       units.at(static_cast<std::size_t>(tile.unit)),
                       tile.sumsInSteps ? ", sums in steps" : "");
}

DepthOrder depthOrderOf(const Program& program, const std::vector<Axis>& depth,
                        const std::vector<FactorAxes>& factors) {
    DepthOrder order;
    order.inner = depth;
    if (order.inner.size() < 2)
        return order;
    // Memory decides which axis is the innermost; if tiles of it alone waste little, all others
    // are taps, and what depends on them is computed once a tile.
    const auto areNeighbours = [&](const Axis& axis) {
        return std::ranges::any_of(factors, [&](const FactorAxes& each) {
            const ScalarNode* load = firstLoadOf(each.factor);
            if (load == nullptr)
                return false;
            const Index offset = flattened(load->position, program.buffers.at(load->buffer).shape);
            return strideOf(offset, axis) == 1 && !isStrideOne(offset, each.outer);
        });
    };
    auto best = order.inner.end();
    std::int64_t bestScore = 0;
    for (auto axis = order.inner.begin(); axis != order.inner.end(); ++axis) {
        const auto extent = axis->extent->constant();
        if (!extent || shareInside(*extent, smallestTileDepth) < leastShareInside)
            continue;
        constexpr std::int64_t neighboursWeigh = 4;
        const std::int64_t score = *extent * (areNeighbours(*axis) ? neighboursWeigh : 1);
        if (score <= bestScore)
            continue;
        bestScore = score;
        best = axis;
    }
    if (best == order.inner.end())
        return order;
    const Axis inner = *best;
    order.inner.erase(best);
    order.taps = std::move(order.inner);
    order.inner = {inner};
    return order;
}

FactorAccess accessOf(const Program& program, const Scalar& factor, const std::vector<Axis>& outer,
                      const DepthOrder& depth) {
    FactorAccess access = guarded(factor);
    access.outer = outer;
    access.inner = depth.inner;
    const ScalarNode* load = firstLoadOf(access.value);
    if (load == nullptr)
        return access;
    std::vector<Index> position = load->position;
    const std::vector<Index>& shape = program.buffers.at(load->buffer).shape;
    const bool isCopy = access.value.get() == load && load->type == ScalarKind::Float &&
                        program.buffers.at(load->buffer).element == ScalarKind::Float;
    if (isCopy && access.guards.empty()) {
        access.isOuterJoined = join(access.outer, position, shape, joinedOuter);
        access.isInnerJoined = join(access.inner, position, shape, joinedInner);
    }
    access.offset = flattened(position, shape);
    access.isAlongDepth =
        isStrideOne(access.offset, access.inner) && !isStrideOne(access.offset, access.outer);
    if (!isCopy)
        return access;
    access.copied = load->buffer;
    if (canLoadFour(access, access.isAlongDepth ? access.inner : access.outer))
        access.width = 4;
    return access;
}

std::vector<ContractionTile> tilesFor(const Contraction& contraction, MultiplyUnit unit) {
    std::vector<ContractionTile> tiles;
    for (const ContractionTile& tile : measuredTiles)
        if (tile.unit == unit)
            tiles.push_back(tile);
    std::ranges::stable_sort(
        tiles, {}, [&](const ContractionTile& tile) { return costOf(contraction, tile); });
    return tiles;
}

MultiplyUnit unitFor(const Contraction& contraction, MultiplyUnit wanted) {
    if (wanted != MultiplyUnit::TF32 && isShortNumber(*contraction.left) &&
        isShortNumber(*contraction.right))
        return MultiplyUnit::TF32;
    if (wanted != MultiplyUnit::TF32Split)
        return wanted;
    constexpr std::int64_t shallow = 64;
    const auto depth = extentOf(contraction.depth).bounds().high;
    return depth && *depth <= shallow ? MultiplyUnit::Float32 : MultiplyUnit::TF32Split;
}

ContractionChoice choiceFor(const std::vector<std::string>& sources, const KernelOptions& options) {
    for (const std::string& node : std::views::reverse(sources))
        if (const auto chosen = options.ofNodes.find(node); chosen != options.ofNodes.end())
            return chosen->second;
    return {options.multiply, options.tile, options.sumsInSteps};
}

ContractionTile tileFor(const Contraction& contraction, const KernelOptions& options) {
    const ContractionChoice choice = choiceFor(contraction.computation.sources, options);
    const std::vector<ContractionTile> tiles =
        tilesFor(contraction, unitFor(contraction, choice.multiply));
    ContractionTile tile = tiles[std::min(choice.tile, tiles.size() - 1)];
    tile.sumsInSteps = choice.sumsInSteps && tile.unit == MultiplyUnit::BFloat16Split;
    return tile;
}

std::int64_t blocksOf(const Contraction& contraction, const ContractionTile& tile) {
    const auto count = [](const std::vector<Axis>& axes, int of) {
        constexpr std::int64_t unknown = 1 << 20;
        return (extentOf(axes).bounds().high.value_or(unknown) + of - 1) / of;
    };
    return count(contraction.batches, 1) * count(contraction.rows, tile.rows) *
           count(contraction.columns, tile.columns);
}

} // namespace kernelskill::engine::graph
