#include "engine/graph/kernels/contraction_multiply.h"

#include "engine/graph/kernels/contraction_tensor_multiply.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine::graph {

namespace {

constexpr int padding = 4; ///< Floats behind each row, so that columns lie in other banks.
constexpr int banks = 32;  ///< Banks of shared memory; each is a float wide.

void addUnder(CodeLines& lines, const std::string& head, const std::string& statement) {
    lines.add("#pragma unroll");
    lines.add(head);
    lines.add("    " + statement);
}

/// Each lane multiplies quads of rows with quads of columns.
void writeFloatMultiply(CodeLines& lines, const ContractionTile& tile) {
    lines.add("// A lane has four by four of every 16 rows and 32 columns of the warp.");
    lines.add("const int laneRow = warpRow + threadIdx.x % 32 / 8 * 4;");
    lines.add("const int laneColumn = warpColumn + threadIdx.x % 8 * 4;");
    lines.add("constexpr int rowsOfThread = warpRows / 4;");
    lines.add("constexpr int columnsOfThread = warpColumns / 8;");
    lines.add("float sums[rowsOfThread][columnsOfThread] = {};");
    lines.open("const auto multiply = [&](const float* left, const float* right) {");
    lines.add("#pragma unroll");
    lines.open("for (int depth = 0; depth < tileDepth; ++depth) {");
    lines.add("float leftPart[rowsOfThread];");
    lines.add("float rightPart[columnsOfThread];");
    const auto load = [&](const std::string& side, const std::string& count, int outer,
                          const std::string& at) {
        addUnder(lines, fmt::format("for (int i = 0; i < {}; i += 4)", count),
                 fmt::format("*reinterpret_cast<float4*>(&{0}Part[i]) = "
                             "*reinterpret_cast<const float4*>(&{0}[{1}]);",
                             side, placeText(TileLayout::DepthByOuter, tile, outer, "depth", at)));
    };
    load("left", "rowsOfThread", tile.rows, "(laneRow + i * 4)");
    load("right", "columnsOfThread", tile.columns, "(laneColumn + i * 8)");
    lines.add("#pragma unroll");
    lines.open("for (int i = 0; i < rowsOfThread; ++i) {");
    addUnder(lines, "for (int j = 0; j < columnsOfThread; ++j)",
             "sums[i][j] += leftPart[i] * rightPart[j];");
    lines.close();
    lines.close();
    lines.close("};");
}

} // namespace

TileLayout layoutOf(const ContractionTile& tile, const FactorAccess& access, int outer) {
    if (tile.unit == MultiplyUnit::Float32)
        return TileLayout::DepthByOuter;
    if (access.isAlongDepth)
        return TileLayout::OuterByDepth;
    return outer % 32 == 0 ? TileLayout::DepthBySwizzled : TileLayout::DepthByOuter;
}

int sizeOf(TileLayout layout, const ContractionTile& tile, int outer) {
    switch (layout) {
    case TileLayout::DepthByOuter:
        return tile.depth * (outer + padding);
    case TileLayout::DepthBySwizzled:
    case TileLayout::OuterByDepth:
        return tile.depth * outer;
    }
    return 0;
}

std::string placeText(TileLayout layout, const ContractionTile& tile, int outer,
                      const std::string& depth, const std::string& at) {
    switch (layout) {
    case TileLayout::DepthByOuter:
        return fmt::format("{} * {} + {}", depth, outer + padding, at);
    case TileLayout::DepthBySwizzled:
        return fmt::format("{0} * {1} + ({2} ^ ({0} / {3} % 4 * 8))", depth, outer, at,
                           depthOfLane(tile.unit));
    case TileLayout::OuterByDepth: {
        // Four lanes read neighbouring floats of a row, and the other lanes of the warp read from
        // other banks. Rows a multiple of 32 floats apart share their banks.
        const int block = 4 * depthOfLane(tile.unit);
        if (tile.depth == block)
            return fmt::format("{} * {} + {}", at, tile.depth, depth);
        const int rowsOfBanks = banks / tile.depth;
        const std::string row = rowsOfBanks == 1 ? at : fmt::format("{} / {}", at, rowsOfBanks);
        return fmt::format("{} * {} + ({} ^ ({} % {} * {}))", at, tile.depth, depth, row,
                           tile.depth / block, block);
    }
    }
    return "0";
}

SplitSums sumsOf(const ContractionTile& tile, std::optional<std::int64_t> depth) {
    // Tensor cores truncate sums: over this many terms a result loses about 2^-15 of its size, as
    // it does by factors of 16 bits.
    constexpr std::int64_t longest = 8192;
    const bool isShort = depth && *depth <= longest;
    const bool areAll = tile.unit == MultiplyUnit::BFloat16Split && isShort && !tile.sumsInSteps;
    return areAll ? SplitSums::All : SplitSums::Step;
}

std::string multiplyFunctions(MultiplyUnit unit, SplitSums sums) {
    return unit == MultiplyUnit::Float32 ? "" : tensorFunctionsOf(unit, sums);
}

void writeMultiply(CodeLines& lines, const ContractionTile& tile, TileLayout left, TileLayout right,
                   SplitSums sums) {
    lines.add("// The part of the block's tile that the warp computes.");
    lines.add(fmt::format("constexpr int warpsAcross = {};", tile.columns / tile.warpColumns));
    lines.add("const int warpRow = threadIdx.x / 32 / warpsAcross * warpRows;");
    lines.add("const int warpColumn = threadIdx.x / 32 % warpsAcross * warpColumns;");
    if (tile.unit == MultiplyUnit::Float32)
        writeFloatMultiply(lines, tile);
    else
        writeTensorMultiply(lines, tile, left, right, sums);
}

ResultLayout::ResultLayout(const ContractionTile& tile, TileLayout left, TileLayout right,
                           bool isByRows)
    : tile_(tile), isByRows_(isByRows), areRowsInFours_(isInFours(left, tile.warpRows)),
      areColumnsInFours_(isInFours(right, tile.warpColumns)) {}

int ResultLayout::pitch() const {
    return (isByRows_ ? tile_.rows : tile_.columns) + 4;
}

int ResultLayout::floats() const {
    return (isByRows_ ? tile_.columns : tile_.rows) * pitch();
}

std::string ResultLayout::placeText(const std::string& row, const std::string& column) const {
    if (isByRows_) {
        // A row of the results stays among its tile's.
        const int groups = std::min(4, tile_.rows / 8);
        return fmt::format("{} * {} + {}", column, pitch(),
                           areColumnsInFours_
                               ? fmt::format("({} ^ ({} / 8 % {} * 8))", row, column, groups)
                               : row);
    }
    return fmt::format("{} * {} + {}", row, pitch(),
                       areRowsInFours_ ? fmt::format("({} ^ ({} / 4 % 2 * 4))", column, row)
                                       : column);
}

void ResultLayout::write(CodeLines& lines) const {
    if (isByRows_ ? areRowsInFours_ : areColumnsInFours_)
        writeQuads(lines);
    else
        writeSingles(lines);
}

void ResultLayout::writeSingles(CodeLines& lines) const {
    const bool isFloat = tile_.unit == MultiplyUnit::Float32;
    lines.add("#pragma unroll");
    lines.open(
        fmt::format("for (int i = 0; i < {}; ++i) {{", isFloat ? "rowsOfThread" : "leftGroups"));
    lines.add("#pragma unroll");
    lines.open(fmt::format("for (int j = 0; j < {}; ++j) {{",
                           isFloat ? "columnsOfThread" : "rightGroups"));
    std::string sum = "sums[i][j]";
    if (isFloat) {
        lines.add("const int row = laneRow + i / 4 * 16 + i % 4;");
        lines.add("const int column = laneColumn + j / 4 * 32 + j % 4;");
    } else {
        lines.add("#pragma unroll");
        lines.open("for (int part = 0; part < 4; ++part) {");
        lines.add(areRowsInFours_
                      ? "const int row = warpRow + i / 2 * 32 + group * 4 + i % 2 * 2 + part / 2;"
                      : "const int row = warpRow + i * 16 + part / 2 * 8 + group;");
        lines.add(areColumnsInFours_
                      ? "const int column = warpColumn + j / 4 * 32 + "
                        "(member * 2 + part % 2) * 4 + j % 4;"
                      : "const int column = warpColumn + j * 8 + member * 2 + part % 2;");
        sum += "[part]";
    }
    lines.add(fmt::format("results[{}] = {};", placeText("row", "column"), sum));
    if (!isFloat)
        lines.close();
    lines.close();
    lines.close();
}

/// Four neighbours of a thread at once.
void ResultLayout::writeQuads(CodeLines& lines) const {
    lines.add("#pragma unroll");
    lines.open(fmt::format("for (int i = 0; i < leftGroups; i += {}) {{", isByRows_ ? 2 : 1));
    lines.add("#pragma unroll");
    lines.open(fmt::format("for (int j = 0; j < rightGroups; j += {}) {{", isByRows_ ? 1 : 4));
    lines.add("#pragma unroll");
    const std::string columnPart = isByRows_ ? "part" : "part % 2";
    lines.open(fmt::format("for (int part = 0; part < {}; ++part) {{", isByRows_ ? 2 : 4));
    if (isByRows_)
        lines.add("const int row = warpRow + i * 16 + group * 4;");
    else
        lines.add(areRowsInFours_
                      ? "const int row = warpRow + i / 2 * 32 + group * 4 + i % 2 * 2 + part / 2;"
                      : "const int row = warpRow + i * 16 + part / 2 * 8 + group;");
    const std::string inGroup = fmt::format("member * 2 + {}", columnPart);
    lines.add(areColumnsInFours_
                  ? fmt::format("const int column = warpColumn + j / 4 * 32 + ({}) * 4{};", inGroup,
                                isByRows_ ? " + j % 4" : "")
                  : fmt::format("const int column = warpColumn + j * 8 + {};", inGroup));
    lines.add(
        fmt::format("*reinterpret_cast<float4*>(&results[{}]) =", placeText("row", "column")));
    lines.add(isByRows_ ? "    make_float4(sums[i][j][part], sums[i][j][part + 2],"
                        : "    make_float4(sums[i][j][part], sums[i][j + 1][part],");
    lines.add(isByRows_ ? "                sums[i + 1][j][part], sums[i + 1][j][part + 2]);"
                        : "                sums[i][j + 2][part], sums[i][j + 3][part]);");
    lines.close();
    lines.close();
    lines.close();
}

} // namespace kernelskill::engine::graph
