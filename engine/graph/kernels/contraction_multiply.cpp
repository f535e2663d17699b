#include "engine/graph/kernels/contraction_multiply.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine::graph {

namespace {

constexpr int padding = 4;    ///< Floats behind each row, so that columns lie in other banks.
constexpr int banks = 32;     ///< Banks of shared memory; each is a float wide.
constexpr int depthBlock = 8; ///< The depth of the tensor cores' instruction.

/// Whether a lane takes four neighbouring rows or columns at once, as one access loads them.
bool isInFours(TileLayout layout, int warpOuter) {
    return layout == TileLayout::DepthBySwizzled && warpOuter % 32 == 0;
}

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

/// Reads a factor's part of eight elements of the depth: groups of `halves` times 8 rows or
/// columns, of which a lane has one each, at two elements of the depth that follow each other.
void writePartLoads(CodeLines& lines, const std::string& side, TileLayout layout,
                    const ContractionTile& tile, const std::string& first) {
    const bool isLeft = side == "left";
    const int outer = isLeft ? tile.rows : tile.columns;
    const int halves = isLeft ? 2 : 1;
    const std::string array = side + "Part[into]";
    const std::string groups = side + "Groups";
    lines.add("#pragma unroll");
    if (isInFours(layout, isLeft ? tile.warpRows : tile.warpColumns)) {
        lines.open(fmt::format("for (int i = 0; i < {}; i += {}) {{", groups, 4 / halves));
        lines.add("#pragma unroll");
        lines.open("for (int part = 0; part < 2; ++part) {");
        lines.add(
            fmt::format("const float4 quad = *reinterpret_cast<const float4*>(&{}[{}]);", side,
                        placeText(layout, tile, outer, "(depth + member * 2 + part)",
                                  fmt::format("({} + i * {} + group * 4)", first, 8 * halves))));
        for (std::size_t e = 0; e < 4; ++e) {
            const std::string which =
                isLeft ? fmt::format("[i + {}][{}]", e / 2, e % 2) : fmt::format("[i + {}]", e);
            lines.add(fmt::format("{}{}[part] = quad.{};", array, which, "xyzw"[e]));
        }
        lines.close();
        lines.close();
        return;
    }
    lines.open(fmt::format("for (int i = 0; i < {}; ++i) {{", groups));
    for (int half = 0; half < halves; ++half) {
        const std::string at =
            fmt::format("({} + i * {}{} + group)", first, 8 * halves, half == 1 ? " + 8" : "");
        const std::string to =
            fmt::format("{}[i]{}", array, isLeft ? fmt::format("[{}]", half) : "");
        if (layout == TileLayout::OuterByDepth)
            lines.add(fmt::format("*reinterpret_cast<float2*>({}) = "
                                  "*reinterpret_cast<const float2*>(&{}[{}]);",
                                  to, side,
                                  placeText(layout, tile, outer, "(depth + member * 2)", at)));
        else
            addUnder(
                lines, "for (int part = 0; part < 2; ++part)",
                fmt::format("{}[part] = {}[{}];", to, side,
                            placeText(layout, tile, outer, "(depth + member * 2 + part)", at)));
    }
    lines.close();
}

/// Tensor cores cut sums off where float rounds them, so they add up few products only.
void writeStepSums(CodeLines& lines) {
    lines.open("const auto addStepSums = [&] {");
    lines.add("#pragma unroll");
    lines.open("for (int i = 0; i < leftGroups; ++i) {");
    lines.add("#pragma unroll");
    lines.open("for (int j = 0; j < rightGroups; ++j) {");
    lines.add("#pragma unroll");
    lines.open("for (int part = 0; part < 4; ++part) {");
    lines.add("sums[i][j][part] += stepSums[i][j][part];");
    lines.add("stepSums[i][j][part] = 0.0f;");
    lines.close();
    lines.close();
    lines.close();
    lines.close("};");
}

/// The tensor cores multiply 16 x 8 by 8 x 8. Which of eight elements of the depth a lane has does
/// not matter if both factors agree, so it takes two that follow each other.
void writeTensorMultiply(CodeLines& lines, const ContractionTile& tile, TileLayout left,
                         TileLayout right) {
    const bool isSplit = tile.unit == MultiplyUnit::TF32Split;
    const std::string pair = isSplit ? "SplitPair" : "Pair";
    const std::string make = isSplit ? "splitPair" : "pairOf";
    lines.add("const int group = threadIdx.x % 32 / 4;");
    lines.add("const int member = threadIdx.x % 4;");
    lines.add("constexpr int leftGroups = warpRows / 16;");
    lines.add("constexpr int rightGroups = warpColumns / 8;");
    lines.add("float sums[leftGroups][rightGroups][4] = {};");
    if (isSplit)
        lines.add("float stepSums[leftGroups][rightGroups][4] = {};");
    lines.add("// Factors of eight elements of the depth; the next ones are loaded meanwhile.");
    lines.add("float leftPart[2][leftGroups][2][2];");
    lines.add("float rightPart[2][rightGroups][2];");
    lines.open(
        "const auto load = [&](const float* left, const float* right, int depth, int into) {");
    writePartLoads(lines, "left", left, tile, "warpRow");
    writePartLoads(lines, "right", right, tile, "warpColumn");
    lines.close("};");
    lines.open("const auto multiply = [&](int from) {");
    lines.add(fmt::format("{} rightPair[rightGroups];", pair));
    addUnder(lines, "for (int j = 0; j < rightGroups; ++j)",
             fmt::format("rightPair[j] = {}(rightPart[from][j][0], rightPart[from][j][1]);", make));
    lines.add("#pragma unroll");
    lines.open("for (int i = 0; i < leftGroups; ++i) {");
    for (const auto* half : {"upper", "lower"}) {
        const int which = half == std::string_view("lower") ? 1 : 0;
        lines.add(fmt::format("const {0} {1} = {2}(leftPart[from][i][{3}][0], "
                              "leftPart[from][i][{3}][1]);",
                              pair, half, make, which));
    }
    if (!isSplit) {
        addUnder(lines, "for (int j = 0; j < rightGroups; ++j)",
                 "multiplyAdd(sums[i][j], upper, lower, rightPair[j]);");
    } else {
        const auto add = [&](const std::string& of, const std::string& by) {
            addUnder(lines, "for (int j = 0; j < rightGroups; ++j)",
                     fmt::format("multiplyAdd(stepSums[i][j], upper.{0}, lower.{0}, "
                                 "rightPair[j].{1});",
                                 of, by));
        };
        add("rest", "most");
        add("most", "rest");
        add("most", "most");
    }
    lines.close();
    lines.close("};");
    if (isSplit)
        writeStepSums(lines);
}

constexpr std::string_view tensorFunctions =
    R"(/// Two factors of one row or column, as the tensor cores take them.
struct Pair {
    unsigned first;
    unsigned second;
};

/// sums += left * right: 16 rows, of which a lane has one of the upper and one of the lower eight,
/// and 8 columns, 8 deep, in TF32.
__device__ __forceinline__ void multiplyAdd(float (&sums)[4], Pair upper, Pair lower, Pair right)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(upper.first), "r"(lower.first), "r"(upper.second), "r"(lower.second),
          "r"(right.first), "r"(right.second));
}
)";

constexpr std::string_view roundingFunctions =
    R"(
/// The value with 10 bits of fraction, rounded to nearest.
__device__ __forceinline__ unsigned roundedToTF32(float value)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return bits;
}

__device__ __forceinline__ Pair pairOf(float first, float second)
{
    return {roundedToTF32(first), roundedToTF32(second)};
}
)";

constexpr std::string_view splittingFunctions =
    R"(
/// Values as sums of two that TF32 holds: the upper 10 bits of the fraction, and the rest.
struct SplitPair {
    Pair most;
    Pair rest;
};

__device__ __forceinline__ SplitPair splitPair(float first, float second)
{
    constexpr unsigned upperBits = 0xffffe000;
    const Pair most = {__float_as_uint(first) & upperBits, __float_as_uint(second) & upperBits};
    return {most, {__float_as_uint(first - __uint_as_float(most.first)),
                   __float_as_uint(second - __uint_as_float(most.second))}};
}
)";

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
        return fmt::format("{0} * {1} + ({2} ^ ({0} / 2 % 4 * 8))", depth, outer, at);
    case TileLayout::OuterByDepth: {
        // Rows share their banks with those that lie a multiple of 32 floats away.
        const int rowsOfBanks = banks / tile.depth;
        const std::string row = rowsOfBanks == 1 ? at : fmt::format("{} / {}", at, rowsOfBanks);
        return fmt::format("{} * {} + ({} ^ ({} % {} * {}))", at, tile.depth, depth, row,
                           tile.depth / depthBlock, depthBlock);
    }
    }
    return "0";
}

std::string multiplyFunctions(MultiplyUnit unit) {
    switch (unit) {
    case MultiplyUnit::Float32:
        return "";
    case MultiplyUnit::TF32:
        return std::string(tensorFunctions) + std::string(roundingFunctions);
    case MultiplyUnit::TF32Split:
        return std::string(tensorFunctions) + std::string(splittingFunctions);
    }
    return "";
}

void writeMultiply(CodeLines& lines, const ContractionTile& tile, TileLayout left,
                   TileLayout right) {
    lines.add("// The part of the block's tile that the warp computes.");
    lines.add(fmt::format("constexpr int warpsAcross = {};", tile.columns / tile.warpColumns));
    lines.add("const int warpRow = threadIdx.x / 32 / warpsAcross * warpRows;");
    lines.add("const int warpColumn = threadIdx.x / 32 % warpsAcross * warpColumns;");
    if (tile.unit == MultiplyUnit::Float32)
        writeFloatMultiply(lines, tile);
    else
        writeTensorMultiply(lines, tile, left, right);
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
