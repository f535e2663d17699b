#include "engine/graph/kernels/contraction_tensor_multiply.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>

namespace kernelskill::engine::graph {

namespace {

void addUnder(CodeLines& lines, const std::string& head, const std::string& statement) {
    lines.add("#pragma unroll");
    lines.add(head);
    lines.add("    " + statement);
}

bool isBFloat16(const ContractionTile& tile) {
    return tile.unit == MultiplyUnit::BFloat16Split;
}

/// The place of four neighbours of every 32 rows or columns of a warp's part.
std::string quadPlace(const ContractionTile& tile, int outer, const std::string& depth,
                      const std::string& first, int perGroup) {
    constexpr auto swizzled = TileLayout::DepthBySwizzled;
    if (!isBFloat16(tile))
        return placeText(swizzled, tile, outer, depth,
                         fmt::format("({} + i * {} + group * 4)", first, perGroup));
    // The same, with what a lane always exchanges apart from what differs by a multiple of 32.
    return fmt::format("{} * {} + {} + i * {} + (group * 4 ^ member * 8)", depth, outer, first,
                       perGroup);
}

/// Reads a factor's part of the instruction's depth: groups of `halves` times 8 rows or columns,
/// of which a lane has one each, at elements of the depth that follow each other.
void writePartLoads(CodeLines& lines, const std::string& side, TileLayout layout,
                    const ContractionTile& tile) {
    const bool isLeft = side == "left";
    const std::string first = isLeft ? "warpRow" : "warpColumn";
    const int outer = isLeft ? tile.rows : tile.columns;
    const int halves = isLeft ? 2 : 1;
    const int parts = depthOfLane(tile.unit);
    const std::string array = side + (isBFloat16(tile) ? "Part" : "Part[into]");
    const std::string groups = side + "Groups";
    const std::string depth = fmt::format("(depth + member * {})", parts);
    const std::string partDepth = fmt::format("(depth + member * {} + part)", parts);
    const std::string overParts = fmt::format("for (int part = 0; part < {}; ++part)", parts);
    lines.add("#pragma unroll");
    if (isInFours(layout, isLeft ? tile.warpRows : tile.warpColumns)) {
        lines.open(fmt::format("for (int i = 0; i < {}; i += {}) {{", groups, 4 / halves));
        lines.add("#pragma unroll");
        lines.open(overParts + " {");
        lines.add(fmt::format("const float4 quad = *reinterpret_cast<const float4*>(&{}[{}]);",
                              side, quadPlace(tile, outer, partDepth, first, 8 * halves)));
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
            lines.add(fmt::format("*reinterpret_cast<float{0}*>({1}) = "
                                  "*reinterpret_cast<const float{0}*>(&{2}[{3}]);",
                                  parts, to, side, placeText(layout, tile, outer, depth, at)));
        else
            addUnder(lines, overParts,
                     fmt::format("{}[part] = {}[{}];", to, side,
                                 placeText(layout, tile, outer, partDepth, at)));
    }
    lines.close();
}

void declareLane(CodeLines& lines) {
    lines.add("const int group = threadIdx.x % 32 / 4;");
    lines.add("const int member = threadIdx.x % 4;");
    lines.add("constexpr int leftGroups = warpRows / 16;");
    lines.add("constexpr int rightGroups = warpColumns / 8;");
    lines.add("float sums[leftGroups][rightGroups][4] = {};");
}

void openGroups(CodeLines& lines) {
    lines.add("#pragma unroll");
    lines.open("for (int i = 0; i < leftGroups; ++i) {");
}

/// Tensor cores cut sums off where float rounds them, so they add up few products only.
void writeStepSums(CodeLines& lines) {
    lines.open("const auto addStepSums = [&] {");
    openGroups(lines);
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

/// The tensor cores multiply 16 x 8 by 8 x 8.
void writeTf32Multiply(CodeLines& lines, const ContractionTile& tile, TileLayout left,
                       TileLayout right) {
    const bool isSplit = tile.unit == MultiplyUnit::TF32Split;
    const std::string pair = isSplit ? "SplitPair" : "Pair";
    const std::string make = isSplit ? "splitPair" : "pairOf";
    declareLane(lines);
    if (isSplit)
        lines.add("float stepSums[leftGroups][rightGroups][4] = {};");
    lines.add("// Factors of eight elements of the depth; the next ones are loaded meanwhile.");
    lines.add("float leftPart[2][leftGroups][2][2];");
    lines.add("float rightPart[2][rightGroups][2];");
    lines.open(
        "const auto load = [&](const float* left, const float* right, int depth, int into) {");
    writePartLoads(lines, "left", left, tile);
    writePartLoads(lines, "right", right, tile);
    lines.close("};");
    lines.open("const auto multiply = [&](int from) {");
    lines.add(fmt::format("{} rightPair[rightGroups];", pair));
    addUnder(lines, "for (int j = 0; j < rightGroups; ++j)",
             fmt::format("rightPair[j] = {}(rightPart[from][j][0], rightPart[from][j][1]);", make));
    openGroups(lines);
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

/// The tensor cores multiply 16 x 16 by 16 x 8. Other warps keep them busy while one reads and
/// splits its factors: reading ahead would take the registers of these warps.
void writeBFloat16Multiply(CodeLines& lines, const ContractionTile& tile, TileLayout left,
                           TileLayout right, SplitSums sums) {
    declareLane(lines);
    lines.open("const auto multiply = [&](const float* left, const float* right) {");
    lines.add("#pragma unroll");
    lines.open("for (int depth = 0; depth < tileDepth; depth += 16) {");
    lines.add("float leftPart[leftGroups][2][4];");
    lines.add("float rightPart[rightGroups][4];");
    writePartLoads(lines, "right", right, tile);
    writePartLoads(lines, "left", left, tile);
    lines.add("SplitPair rightPair[rightGroups];");
    addUnder(lines, "for (int j = 0; j < rightGroups; ++j)",
             "rightPair[j] = splitPair(rightPart[j]);");
    openGroups(lines);
    lines.add("const SplitPair upper = splitPair(leftPart[i][0]);");
    lines.add("const SplitPair lower = splitPair(leftPart[i][1]);");
    const bool isApart = sums == SplitSums::Step;
    if (isApart) {
        lines.add(
            "// Tensor cores cut sums off where float rounds them, so they add up few products.");
        lines.add("float stepSums[rightGroups][4];");
    }
    const auto add = [&](const std::string& function, const std::string& of,
                         const std::string& by) {
        addUnder(lines, "for (int j = 0; j < rightGroups; ++j)",
                 fmt::format("{0}({3}, upper.{1}, lower.{1}, rightPair[j].{2});", function, of, by,
                             isApart ? "stepSums[j]" : "sums[i][j]"));
    };
    add(isApart ? "firstProduct" : "multiplyAdd", "rest", "most");
    add("multiplyAdd", "most", "rest");
    add("multiplyAdd", "most", "most");
    if (isApart) {
        lines.add("#pragma unroll");
        lines.open("for (int j = 0; j < rightGroups; ++j) {");
        addUnder(lines, "for (int part = 0; part < 4; ++part)",
                 "sums[i][j][part] += stepSums[j][part];");
        lines.close();
    }
    lines.close();
    lines.close();
    lines.close("};");
}

constexpr std::string_view tf32Functions =
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

constexpr std::string_view bfloat16Pair =
    R"(/// Four factors of one row or column, as the tensor cores take them: two bfloat16 numbers each.
struct Pair {
    unsigned first;
    unsigned second;
};
)";

constexpr std::string_view firstProduct =
    R"(
/// sums = left * right: 16 rows, of which a lane has one of the upper and one of the lower eight,
/// and 8 columns, 16 deep, in bfloat16.
__device__ __forceinline__ void firstProduct(float (&sums)[4], Pair upper, Pair lower, Pair right)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
        : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
        : "r"(upper.first), "r"(lower.first), "r"(upper.second), "r"(lower.second),
          "r"(right.first), "r"(right.second), "f"(0.0f));
}
)";

constexpr std::string_view bfloat16Functions =
    R"(
/// sums += left * right: 16 rows, of which a lane has one of the upper and one of the lower eight,
/// and 8 columns, 16 deep, in bfloat16.
__device__ __forceinline__ void multiplyAdd(float (&sums)[4], Pair upper, Pair lower, Pair right)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(upper.first), "r"(lower.first), "r"(upper.second), "r"(lower.second),
          "r"(right.first), "r"(right.second));
}

/// Values as sums of two that bfloat16 holds: the nearest number, and the rest.
struct SplitPair {
    Pair most;
    Pair rest;
};

__device__ __forceinline__ float firstOf(unsigned pair)
{
    return __uint_as_float(pair << 16);
}

__device__ __forceinline__ float secondOf(unsigned pair)
{
    return __uint_as_float(pair & 0xffff0000);
}

/// The nearest numbers. None is infinite, so that the rest of an infinite value is.
__device__ __forceinline__ unsigned mostOf(float first, float second)
{
    unsigned pair;
    asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

__device__ __forceinline__ unsigned restOf(float first, float second, unsigned most)
{
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
        : "=r"(pair)
        : "f"(second - secondOf(most)), "f"(first - firstOf(most)));
    return pair;
}

__device__ __forceinline__ SplitPair splitPair(const float (&values)[4])
{
    const Pair most = {mostOf(values[0], values[1]), mostOf(values[2], values[3])};
    return {most, {restOf(values[0], values[1], most.first),
                   restOf(values[2], values[3], most.second)}};
}
)";

} // namespace

int depthOfLane(MultiplyUnit unit) {
    return unit == MultiplyUnit::BFloat16Split ? 4 : 2;
}

bool isInFours(TileLayout layout, int warpOuter) {
    return layout == TileLayout::DepthBySwizzled && warpOuter % 32 == 0;
}

std::string tensorFunctionsOf(MultiplyUnit unit, SplitSums sums) {
    if (unit == MultiplyUnit::BFloat16Split)
        return std::string(bfloat16Pair) +
               std::string(sums == SplitSums::Step ? firstProduct : "") +
               std::string(bfloat16Functions);
    return std::string(tf32Functions) +
           std::string(unit == MultiplyUnit::TF32Split ? splittingFunctions : roundingFunctions);
}

void writeTensorMultiply(CodeLines& lines, const ContractionTile& tile, TileLayout left,
                         TileLayout right, SplitSums sums) {
    if (isBFloat16(tile))
        writeBFloat16Multiply(lines, tile, left, right, sums);
    else
        writeTf32Multiply(lines, tile, left, right);
}

} // namespace kernelskill::engine::graph
