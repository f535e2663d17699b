#include "engine/review/narrowed_products.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kernelskill::engine {
namespace {

constexpr std::string_view rows = R"(
__global__ void rows(const float* in, float* out, int width, int height, size_t count) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const size_t plane = (size_t)blockIdx.z * height * width;
    const float* from = in + (size_t)y * width;
    out[plane + (size_t)y * width + x] = from[x] + in[(size_t)y * width];
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * 64; i < count; i += 640)
        out[i] += 1;
}
)";

std::vector<NarrowedValue> narrowedBy(std::string_view before, std::string_view after) {
    std::string text(rows);
    text.replace(text.find(before), before.size(), after);
    const auto original = parsedProgram(std::string(rows));
    const auto candidate = parsedProgram(text);
    return narrowedProducts(original, original.kernels.at(0), candidate, candidate.kernels.at(0));
}

TEST(NarrowedProducts, AnIndexInThirtyTwoBits) {
    const auto found =
        narrowedBy("out[plane + (size_t)y * width + x]", "out[plane + y * width + x]");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].bits, 32u);
    EXPECT_EQ(found[0].text, "y * width");
    EXPECT_EQ(found[0].line, 7u);
}

TEST(NarrowedProducts, AVariableThatIndexes) {
    EXPECT_FALSE(
        narrowedBy("size_t plane = (size_t)blockIdx.z", "unsigned plane = blockIdx.z").empty());
    EXPECT_FALSE(narrowedBy("size_t i = threadIdx.x + (size_t)blockIdx.x",
                            "unsigned i = threadIdx.x + blockIdx.x")
                     .empty());
}

TEST(NarrowedProducts, APointersOffset) {
    EXPECT_FALSE(narrowedBy("in + (size_t)y * width;\n    out[plane + (size_t)y * width + x] = "
                            "from[x] + in[(size_t)y * width]",
                            "in + y * width;\n    out[plane + (size_t)y * width + x] = from[x] + "
                            "in[y * width]")
                     .empty());
}

TEST(NarrowedProducts, ProductsThatStayWideOrSmall) {
    EXPECT_TRUE(narrowedBy("in + (size_t)y * width", "in + width * (size_t)y").empty());
    EXPECT_TRUE(narrowedBy("from[x]", "from[x % 32 * 4]").empty());
    EXPECT_TRUE(narrowedBy("out[i] += 1", "out[i] = out[i] + 1").empty());
}

} // namespace
} // namespace kernelskill::engine
