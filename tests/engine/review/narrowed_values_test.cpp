#include "engine/review/narrowed_values.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

constexpr std::string_view gather = R"(
__global__ void k(const float* x, const int* place, float* y, int n, size_t total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    size_t wide = i;
    if (i >= n || wide >= total) return;
    int from = place[i];
    float sum = 0;
    for (int c = 0; c < n; ++c)
        sum += x[c];
    y[i] = sum + x[from] + lane;
}
)";

/// The narrowed values after `before` became `after`.
std::vector<NarrowedValue> narrowedBy(std::string_view before, std::string_view after) {
    std::string text(gather);
    text.replace(text.find(before), before.size(), after);
    const auto original = parsedProgram(std::string(gather));
    const auto candidate = parsedProgram(text);
    return narrowedValues(original, original.kernels.at(0), candidate, candidate.kernels.at(0));
}

TEST(NarrowedValues, AnIndexCastToSixteenBits) {
    const auto found = narrowedBy("y[i]", "y[(unsigned short)i]");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].bits, 16u);
    EXPECT_EQ(found[0].text, "i");
    EXPECT_EQ(found[0].line, 11u);
}

TEST(NarrowedValues, APositionOfATemplateParametersType) {
    const std::string text = "template <typename Index>\n"
                             "__global__ void k(float* y, Index n) {\n"
                             "    Index i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) y[i] = 1;\n}\n"
                             "void run(float* y) { k<int><<<2, 32>>>(y, 64); }\n";
    std::string edited = text;
    edited.replace(edited.find("y[i]"), 4, "y[(unsigned short)(i)]");
    const auto original = parsedProgram(text);
    const auto candidate = parsedProgram(edited);
    const auto found =
        narrowedValues(original, original.kernels.at(0), candidate, candidate.kernels.at(0));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].bits, 16u);
}

TEST(NarrowedValues, AVariableOrACounterOfSixteenBits) {
    EXPECT_EQ(narrowedBy("int i =", "short i =").size(), 1u);
    EXPECT_EQ(narrowedBy("int c =", "short c =").size(), 1u);
    EXPECT_EQ(narrowedBy("size_t wide", "int wide").size(), 0u) << "the sum is of 32 bits";
}

TEST(NarrowedValues, AnIndexFromMemory) {
    EXPECT_EQ(narrowedBy("x[from]", "x[(short)from]").size(), 1u);
    EXPECT_EQ(narrowedBy("int from", "short from").size(), 1u);
}

TEST(NarrowedValues, FewerThanSixtyFourBits) {
    EXPECT_EQ(narrowedBy("size_t wide = i", "int wide = total").size(), 1u);
}

TEST(NarrowedValues, AMaskThatCutsHighBits) {
    EXPECT_EQ(narrowedBy("x[c]", "x[c & 0xfffff]").size(), 1u);
    EXPECT_EQ(narrowedBy("x[c]", "x[c & 31]").size(), 0u) << "runs reach more than 31";
}

TEST(NarrowedValues, AValueThatFitsIsFine) {
    EXPECT_TRUE(narrowedBy("int lane", "unsigned char lane").empty());
    EXPECT_TRUE(narrowedBy("y[i]", "y[i]").empty());
}

TEST(NarrowedValues, BackToTheWidthOfTheOriginal) {
    std::string before(gather);
    before.replace(before.find("size_t total"), 12, "int total");
    before.replace(before.find("size_t wide"), 11, "int wide");
    std::string after = before;
    after.replace(after.find("int wide = i"), 12, "long long far = i; int wide = far");
    const auto original = parsedProgram(before);
    const auto candidate = parsedProgram(after);
    EXPECT_TRUE(narrowedValues(original, original.kernels.at(0), candidate, candidate.kernels.at(0))
                    .empty());
}

TEST(NarrowedValues, DataMayBeKeptInFewerBits) {
    EXPECT_TRUE(narrowedBy("+ lane", "+ (unsigned char)place[i]").empty());
}

TEST(NarrowedValues, APositionThatAFloatHolds) {
    const auto found = narrowedBy("y[i]", "y[(int)((float)i * 1.0f)]");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].bits, 24u);
    EXPECT_EQ(narrowedBy("y[i]", "y[(int)floorf(i + 0.5f)]").size(), 1u);
    EXPECT_TRUE(narrowedBy("+ lane;", "+ (int)(lane * 0.5f) * 2;").empty()) << "it is below 32";
    EXPECT_TRUE(narrowedBy("+ lane;", "+ (int)x[lane];").empty()) << "it is no position";
}

} // namespace
} // namespace kernelskill::engine
