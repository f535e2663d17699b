/// A kernel's work, in the words in which experts tell what helps: a walk along a row by each
/// thread, a stencil, a product, a histogram …
#pragma once

#include "engine/diagnosis/static_work.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct ShapeFact {
    std::string_view name; ///< Of shapeNames().
    analysis::Span span;   ///< The place in the kernel that shows it, or the call that leads to it.
    std::string word;      ///< The array, the loop's variable or the function that it is about.
    double value = 1;      ///< What a rule compares.
    std::string function;  ///< The device function that shows it; empty for the kernel itself.
};

struct CodeShape {
    std::vector<ShapeFact> facts;
    StaticWork work;

    [[nodiscard]] const ShapeFact* find(std::string_view name) const;
};

/// From the text alone. Bounded work.
[[nodiscard]] CodeShape codeShapeOf(const WarpView& warp);

/// Every name that a fact may have.
[[nodiscard]] std::vector<std::string_view> shapeNames();

namespace shape {
// Accesses to global memory.
inline constexpr std::string_view records = "records";
inline constexpr std::string_view pairs = "pairs";
inline constexpr std::string_view rowReduction = "row-reduction";
inline constexpr std::string_view rowMap = "row-map";
inline constexpr std::string_view rowRecurrence = "row-recurrence";
inline constexpr std::string_view rowWalk = "row-walk";
inline constexpr std::string_view raggedRows = "ragged-rows";
inline constexpr std::string_view transposition = "transposition";
inline constexpr std::string_view swappedAxes = "swapped-axes";
inline constexpr std::string_view strided = "strided";
inline constexpr std::string_view indirect = "indirect";
inline constexpr std::string_view smallTable = "small-table";
inline constexpr std::string_view resampling = "resampling";
inline constexpr std::string_view columnReduction = "column-reduction";
inline constexpr std::string_view columnRecurrence = "column-recurrence";
inline constexpr std::string_view sharedWalk = "shared-walk";
inline constexpr std::string_view product = "product";
inline constexpr std::string_view tiledProduct = "tiled-product";
inline constexpr std::string_view halfProduct = "half-product";
inline constexpr std::string_view pairwise = "pairwise";
inline constexpr std::string_view stencil = "stencil";
inline constexpr std::string_view lineStencil = "line-stencil";
inline constexpr std::string_view tiledStencil = "tiled-stencil";
inline constexpr std::string_view streaming = "streaming";
inline constexpr std::string_view streamingWide = "streaming-wide";
inline constexpr std::string_view halves = "halves";
inline constexpr std::string_view normalisation = "normalisation";
// Control flow.
inline constexpr std::string_view laneBranch = "lane-branch";
inline constexpr std::string_view interleaved = "interleaved";
inline constexpr std::string_view dataBranch = "data-branch";
inline constexpr std::string_view dataLoop = "data-loop";
inline constexpr std::string_view linearSearch = "linear-search";
inline constexpr std::string_view binarySearch = "binary-search";
inline constexpr std::string_view chase = "chase";
inline constexpr std::string_view treeWalk = "tree-walk";
// Atomics, barriers and shared memory.
inline constexpr std::string_view oneAddress = "one-address";
inline constexpr std::string_view counter = "counter";
inline constexpr std::string_view sharedTotal = "shared-total";
inline constexpr std::string_view histogram = "histogram";
inline constexpr std::string_view scatterAtomics = "scatter-atomics";
inline constexpr std::string_view lock = "lock";
inline constexpr std::string_view sharedTree = "shared-tree";
inline constexpr std::string_view stridedTree = "strided-tree";
inline constexpr std::string_view sharedScan = "shared-scan";
inline constexpr std::string_view exchange = "exchange";
inline constexpr std::string_view steps = "steps";
inline constexpr std::string_view gridSteps = "grid-steps";
// Arithmetic and launches.
inline constexpr std::string_view functions = "functions";
inline constexpr std::string_view uniformFunction = "uniform-function";
inline constexpr std::string_view doubles = "doubles";
inline constexpr std::string_view oneThread = "one-thread";
} // namespace shape

} // namespace kernelskill::engine
