#include "engine/graph/kernels/contraction_multiply.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine::graph {

namespace {

constexpr int padding = 4;     ///< Floats behind each row, so that columns lie in other banks.
constexpr int depthBlock = 16; ///< The depth that the tensor cores' part of a tile is read by.

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
    lines.add("// Of every 16 rows and 32 columns of the warp, a lane has four by four.");
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
                             side, placeText(TileLayout::DepthByOuter, outer, "depth", at)));
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

/// Reads a factor's part of 16 elements of the depth: `count` groups of `halves` times 8 rows or
/// columns, of which a lane has one each, at four elements of the depth that follow each other.
void writePartLoads(CodeLines& lines, const std::string& side, TileLayout layout, int outer,
                    int warpOuter, const std::string& first, int halves) {
    const std::string array = side + "Part";
    const std::string groups = side + "Groups";
    const std::string half = halves == 2 ? "[half]" : "";
    lines.add(fmt::format("float {}[{}]{}[4];", array, groups, halves == 2 ? "[2]" : ""));
    lines.add("#pragma unroll");
    const int perQuad = 4 / halves; // Groups that four neighbouring rows or columns belong to.
    if (isInFours(layout, warpOuter)) {
        lines.open(fmt::format("for (int i = 0; i < {}; i += {}) {{", groups, perQuad));
        lines.add("#pragma unroll");
        lines.open("for (int part = 0; part < 4; ++part) {");
        lines.add(
            fmt::format("const float4 quad = *reinterpret_cast<const float4*>(&{}[{}]);", side,
                        placeText(layout, outer, "(depth + member * 4 + part)",
                                  fmt::format("({} + i * {} + group * 4)", first, 8 * halves))));
        for (int e = 0; e < 4; ++e) {
            const std::string which = halves == 2 ? fmt::format("[i + {}][{}]", e / 2, e % 2)
                                                  : fmt::format("[i + {}]", e);
            lines.add(fmt::format("{}{}[part] = quad.{};", array, which, "xyzw"[e]));
        }
        lines.close();
        lines.close();
        return;
    }
    lines.open(fmt::format("for (int i = 0; i < {}; ++i) {{", groups));
    if (halves == 2) {
        lines.add("#pragma unroll");
        lines.open("for (int half = 0; half < 2; ++half) {");
    }
    const std::string at =
        fmt::format("({} + i * {}{} + group)", first, 8 * halves, halves == 2 ? " + half * 8" : "");
    if (layout == TileLayout::OuterByDepth)
        lines.add(fmt::format("*reinterpret_cast<float4*>({}[i]{}) = "
                              "*reinterpret_cast<const float4*>(&{}[{}]);",
                              array, half, side,
                              placeText(layout, outer, "(depth + member * 4)", at)));
    else
        addUnder(lines, "for (int part = 0; part < 4; ++part)",
                 fmt::format("{}[i]{}[part] = {}[{}];", array, half, side,
                             placeText(layout, outer, "(depth + member * 4 + part)", at)));
    if (halves == 2)
        lines.close();
    lines.close();
}

/// The tensor cores multiply 16 x 8 by 8 x 8. Which eight elements of the depth go together does
/// not matter, so a lane takes four that follow each other, and gives two at a time.
void writeTensorMultiply(CodeLines& lines, const ContractionTile& tile, TileLayout left,
                         TileLayout right) {
    const bool isSplit = tile.unit == MultiplyUnit::TF32Split;
    lines.add("const int group = threadIdx.x % 32 / 4;");
    lines.add("const int member = threadIdx.x % 4;");
    lines.add("constexpr int leftGroups = warpRows / 16;");
    lines.add("constexpr int rightGroups = warpColumns / 8;");
    lines.add("float sums[leftGroups][rightGroups][4] = {};");
    lines.open("const auto multiply = [&](const float* left, const float* right) {");
    lines.add("#pragma unroll");
    lines.open(fmt::format("for (int depth = 0; depth < tileDepth; depth += {}) {{", depthBlock));
    writePartLoads(lines, "left", left, tile.rows, tile.warpRows, "warpRow", 2);
    writePartLoads(lines, "right", right, tile.columns, tile.warpColumns, "warpColumn", 1);
    lines.add("#pragma unroll");
    lines.open("for (int part = 0; part < 4; part += 2) {");
    lines.add(fmt::format("{} rightPair[rightGroups];", isSplit ? "SplitPair" : "Pair"));
    addUnder(lines, "for (int j = 0; j < rightGroups; ++j)",
             fmt::format("rightPair[j] = {}(rightPart[j][part], rightPart[j][part + 1]);",
                         isSplit ? "splitPair" : "pairOf"));
    lines.add("#pragma unroll");
    lines.open("for (int i = 0; i < leftGroups; ++i) {");
    const std::string make = isSplit ? "splitPair" : "pairOf";
    lines.add(fmt::format("const {} upper = {}(leftPart[i][0][part], leftPart[i][0][part + 1]);",
                          isSplit ? "SplitPair" : "Pair", make));
    lines.add(fmt::format("const {} lower = {}(leftPart[i][1][part], leftPart[i][1][part + 1]);",
                          isSplit ? "SplitPair" : "Pair", make));
    lines.add("#pragma unroll");
    if (!isSplit) {
        lines.add("for (int j = 0; j < rightGroups; ++j)");
        lines.add("    multiplyAdd(sums[i][j], upper, lower, rightPair[j]);");
    } else {
        lines.open("for (int j = 0; j < rightGroups; ++j) {");
        lines.add("multiplyAdd(sums[i][j], upper.rest, lower.rest, rightPair[j].most);");
        lines.add("multiplyAdd(sums[i][j], upper.most, lower.most, rightPair[j].rest);");
        lines.add("multiplyAdd(sums[i][j], upper.most, lower.most, rightPair[j].most);");
        lines.close();
    }
    lines.close();
    lines.close();
    lines.close();
    lines.close("};");
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
    return tile.depth * (layout == TileLayout::DepthByOuter ? outer + padding : outer);
}

std::string placeText(TileLayout layout, int outer, const std::string& depth,
                      const std::string& at) {
    switch (layout) {
    case TileLayout::DepthByOuter:
        return fmt::format("{} * {} + {}", depth, outer + padding, at);
    case TileLayout::DepthBySwizzled:
        return fmt::format("{0} * {1} + ({2} ^ ({0} / 4 % 4 * 8))", depth, outer, at);
    case TileLayout::OuterByDepth:
        return fmt::format("{0} / {1} * {2} + {3} * {1} + {0} % {1}", depth, depthBlock,
                           outer * depthBlock, at);
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

void writeForEachSum(CodeLines& lines, const ContractionTile& tile, TileLayout left,
                     TileLayout right, const std::string& statement) {
    const bool isFloat = tile.unit == MultiplyUnit::Float32;
    lines.add("#pragma unroll");
    lines.open(
        fmt::format("for (int i = 0; i < {}; ++i) {{", isFloat ? "rowsOfThread" : "leftGroups"));
    lines.add("#pragma unroll");
    lines.open(fmt::format("for (int j = 0; j < {}; ++j) {{",
                           isFloat ? "columnsOfThread" : "rightGroups"));
    if (isFloat) {
        lines.add("const int row = laneRow + i / 4 * 16 + i % 4;");
        lines.add("const int column = laneColumn + j / 4 * 32 + j % 4;");
        lines.add("const float sum = sums[i][j];");
    } else {
        lines.add("#pragma unroll");
        lines.open("for (int part = 0; part < 4; ++part) {");
        lines.add(isInFours(left, tile.warpRows)
                      ? "const int row = warpRow + i / 2 * 32 + group * 4 + i % 2 * 2 + part / 2;"
                      : "const int row = warpRow + i * 16 + part / 2 * 8 + group;");
        lines.add(isInFours(right, tile.warpColumns)
                      ? "const int column = warpColumn + j / 4 * 32 + "
                        "(member * 2 + part % 2) * 4 + j % 4;"
                      : "const int column = warpColumn + j * 8 + member * 2 + part % 2;");
        lines.add("const float sum = sums[i][j][part];");
    }
    lines.add(statement);
    if (!isFloat)
        lines.close();
    lines.close();
    lines.close();
}

} // namespace kernelskill::engine::graph
