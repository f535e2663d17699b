#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "row-per-warp";

/// A kernel on rows with `body` behind its index, launched in blocks of `block` with three
/// allocations.
std::string
kernel(const std::string& body, const std::string& block = "128",
       const std::string& index = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n",
       const std::string& grid = "(m + 127) / 128") {
    return "__global__ void k(const float* a, const float* b, float* c, int m, int n) {\n" + index +
           body + "}\nvoid run(int m, int n) {\n    float *a, *b, *c;\n    cudaMalloc(&a, n);\n" +
           "    cudaMalloc(&b, n);\n    cudaMalloc(&c, n);\n    k<<<" + grid + ", " + block +
           ">>>(a, b, c, m, n);\n}\n";
}

std::string warpKernel(const std::string& body) {
    return kernel(body, "128",
                  "    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;\n"
                  "    const int lane = threadIdx.x % 32;\n",
                  "(m + 127) / 128 * 32");
}

TEST(RowPerWarp, SharesSeveralLoops) {
    checkApplicable(id,
                    kernel("    if (i >= m) return;\n"
                           "    float largest = a[i * n];\n"
                           "    for (int j = 1; j < n; ++j)\n"
                           "        largest = fmaxf(largest, a[i * n + j]);\n"
                           "    for (int j = 0; j < n; j++)\n"
                           "        c[i * n + j] = expf(a[i * n + j] - largest);\n"),
                    warpKernel("    if (i >= m) return;\n"
                               "    float largest = a[i * n];\n"
                               "    for (int j = 1 + lane; j < n; j += 32)\n"
                               "        largest = fmaxf(largest, a[i * n + j]);\n"
                               "    for (int offset = 16; offset > 0; offset /= 2)\n"
                               "        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, "
                               "largest, offset));\n"
                               "    for (int j = lane; j < n; j += 32)\n"
                               "        c[i * n + j] = expf(a[i * n + j] - largest);\n"));
}

TEST(RowPerWarp, FoldsIntoMemoryByWayOfRegisters) {
    checkApplicable(id,
                    kernel("    if (i < m) {\n"
                           "        for (int j = 0; j < 4096; ++j)\n"
                           "            c[i] += a[i * n + j] * b[j];\n"
                           "    }\n"),
                    warpKernel("    if (i < m) {\n"
                               "        float sum = c[i];\n"
                               "        if (lane != 0)\n"
                               "            sum = 0.0f;\n"
                               "        for (int j = lane; j < 4096; j += 32)\n"
                               "            sum += a[i * n + j] * b[j];\n"
                               "        for (int offset = 16; offset > 0; offset /= 2)\n"
                               "            sum += __shfl_xor_sync(0xffffffff, sum, offset);\n"
                               "        if (lane == 0)\n"
                               "            c[i] = sum;\n"
                               "    }\n"));
}

TEST(RowPerWarp, ChangesTheCountThatAFunctionMakesTheGridFrom) {
    const auto inGrid = [](const std::string& index, const std::string& lane,
                           const std::string& first, const std::string& grid) {
        return "dim3 gridOf(size_t n);\n" +
               kernel("    if (i >= m) return;\n" + first +
                          "        c[i * n + j] = expf(a[i * n + j]);\n",
                      "128", index + lane, grid);
    };
    const std::string plain = "    int i = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + "
                              "threadIdx.x;\n";
    const std::string shared = "    int i = (blockIdx.x + blockIdx.y*gridDim.x) * (blockDim.x / "
                               "32) + threadIdx.x / 32;\n";
    checkApplicable(id, inGrid(plain, "", "    for (int j = 0; j < n; j++)\n", "gridOf(m)"),
                    inGrid(shared, "    const int lane = threadIdx.x % 32;\n",
                           "    for (int j = lane; j < n; j += 32)\n", "gridOf(m * 32)"));
    checkNotApplicable(id, inGrid(plain, "", "    for (int j = 0; j < n; j++)\n", "gridOf(m + 1)"),
                       "launch-grid");
}

TEST(RowPerWarp, TakesRowsThatBeginWhereMemorySays) {
    const std::string text = appliedText(id, R"(
__global__ void product(const int* starts, const int* columns, const float* values, const float* x,
                        float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int e = starts[row]; e < starts[row + 1]; ++e)
            sum += values[e] * x[columns[e]];
        y[row] = sum;
    }
}
void run(int n) {
    int *starts, *columns;
    float *values, *x, *y;
    cudaMalloc(&starts, n);
    cudaMalloc(&columns, n);
    cudaMalloc(&values, n);
    cudaMalloc(&x, n);
    cudaMalloc(&y, n);
    product<<<(n + 255) / 256, 256>>>(starts, columns, values, x, y, n);
}
)");
    EXPECT_TRUE(text.contains("for (int e = starts[row] + lane; e < starts[row + 1]; e += 32)"))
        << text;
}

/// Sums rows of `length` numbers.
std::string sums(const std::string& length, const std::string& grid = "(m + 127) / 128") {
    return kernel("    if (i >= m) return;\n    float sum = 0;\n    for (int j = 0; j < " + length +
                      "; ++j)\n        sum += a[i * " + length + " + j];\n    c[i] = sum;\n",
                  "128", "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n", grid);
}

/// The lanes a row of all offers; 0 for a warp.
std::vector<int> offeredLanes(const std::string& source) {
    const Subject subject = parseSubject(source);
    const Skill& skill = skillNamed(id);
    const auto first = skill.prepare(subject.context());
    if (!first)
        return {};
    std::vector<int> lanes{first->option};
    for (const Offer& offer : skill.alternatives(subject.context())) {
        lanes.push_back(offer.option);
        const auto edits = skill.apply(subject.context(), offer);
        EXPECT_TRUE(edits) << edits.error().describe();
    }
    return lanes;
}

TEST(RowPerWarp, OffersPartsOfAWarp) {
    EXPECT_EQ(offeredLanes(sums("n")), (std::vector{0, 8, 16}));
    EXPECT_EQ(offeredLanes(sums("1024")), (std::vector{0, 8, 16}));
    EXPECT_EQ(offeredLanes(sums("1025")), std::vector{0}) << "long rows give all lanes work";
    EXPECT_EQ(offeredLanes(sums("n", "32")), (std::vector{0, 16}))
        << "4,096 rows are not enough for 8 lanes each";
    EXPECT_EQ(offeredLanes(sums("n", "8")), std::vector{0});
}

TEST(RowPerWarp, GivesShortRowsToAPartOfAWarp) {
    EXPECT_EQ(offeredLanes(sums("31")), (std::vector{16, 8}));
    EXPECT_EQ(offeredLanes(sums("8")), std::vector{8});
    checkApplicable(id, sums("10"),
                    kernel("    if (i >= m) return;\n"
                           "    float sum = 0;\n"
                           "    for (int j = lane; j < 10; j += 8)\n"
                           "        sum += a[i * 10 + j];\n"
                           "    for (int offset = 4; offset > 0; offset /= 2)\n"
                           "        sum += __shfl_xor_sync(mask, sum, offset);\n"
                           "    if (lane == 0)\n"
                           "        c[i] = sum;\n",
                           "128",
                           "    int i = blockIdx.x * (blockDim.x / 8) + threadIdx.x / 8;\n"
                           "    const int lane = threadIdx.x % 8;\n"
                           "    const unsigned mask = 0xffu << (threadIdx.x % 32 - lane);\n",
                           "(m + 127) / 128 * 8"));
}

TEST(RowPerWarp, LeavesShortLoopsBesideLongOnesToEachLane) {
    const std::string text =
        appliedText(id, kernel("    if (i >= m) return;\n    float sum = 0;\n"
                               "    for (int j = 0; j < n; ++j)\n        sum += a[i * n + j];\n"
                               "    for (int j = 0; j < 8; ++j)\n        sum += b[8 * i + j];\n"
                               "    c[i] = sum;\n"));
    EXPECT_TRUE(text.contains("for (int j = lane; j < n; j += 32)")) << text;
    EXPECT_TRUE(text.contains("for (int j = 0; j < 8; ++j)")) << text;
}

/// A kernel of numbers T, which `launch` in a function template of F launches.
std::string templated(const std::string& launch) {
    return R"(
template <typename T>
__global__ void k(const T* a, const T* b, T* c, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    T sum = 0;
    for (int j = 0; j < n; ++j)
        sum += a[i * n + j] * b[j];
    c[i] = sum;
}
template <typename F>
void run(int m, int n) {
    F *a, *b, *c;
    cudaMalloc(&a, m * n * sizeof(F));
    cudaMalloc(&b, n * sizeof(F));
    cudaMalloc(&c, m * sizeof(F));
    )" + launch +
           R"(<<<(m + 127) / 128, 128>>>(a, b, c, m, n);
}
void both(int m, int n) {
    run<float>(m, n);
    run<double>(m, n);
}
)";
}

TEST(RowPerWarp, TakesNumbersOfATypeThatTheHostsTemplateNames) {
    const std::string text = appliedText(id, templated("k<F>"));
    EXPECT_TRUE(text.contains("sum += __shfl_xor_sync(0xffffffff, sum, offset);")) << text;
    EXPECT_TRUE(text.contains("k<F><<<(m + 127) / 128 * 32, 128>>>(a, b, c, m, n);")) << text;
    checkNotApplicable(id, templated("k<std::complex<F>>"), "carries-over");
}

TEST(RowPerWarp, FindsPlacesOfExtremes) {
    const std::string text = appliedText(id, kernel("    if (i >= m) return;\n"
                                                    "    int found = 0;\n"
                                                    "    float least = a[i * n];\n"
                                                    "    for (int j = 1; j < n; ++j)\n"
                                                    "        if (a[i * n + j] <= least) {\n"
                                                    "            least = a[i * n + j];\n"
                                                    "            found = j;\n"
                                                    "        }\n"
                                                    "    c[i] = found;\n"));
    EXPECT_TRUE(text.contains("if (otherLeast < least || (otherLeast == least && otherFound > "
                              "found)) {"))
        << text;
    EXPECT_TRUE(text.contains("    if (lane == 0)\n        c[i] = found;\n")) << text;
}

TEST(RowPerWarp, WaitsWhereLanesReadWhatOthersStored) {
    const std::string text = appliedText(
        id, kernel("    if (i >= m) return;\n"
                   "    for (int j = 0; j < n; ++j)\n        c[i * n + j] = a[i * n + j];\n"
                   "    float sum = 0;\n"
                   "    for (int j = 0; j < n - 1; ++j)\n        sum += c[i * n + j + 1];\n"
                   "    for (int j = 0; j < n; ++j)\n        c[i * n + j] *= sum;\n"));
    EXPECT_TRUE(text.contains("c[i * n + j] = a[i * n + j];\n    __syncwarp();\n")) << text;
    EXPECT_TRUE(text.contains("sum += __shfl_xor_sync(0xffffffff, sum, offset);\n"
                              "    __syncwarp();\n"))
        << text;
}

TEST(RowPerWarp, TakesBlocksOfWholeWarpsAndNamesThatAreTaken) {
    const std::string text =
        appliedText(id, kernel("    int lane = 3;\n    if (i >= m) return;\n    float sum = lane;\n"
                               "    for (int j = 0; j < n; ++j)\n        sum -= a[i * n + j];\n"
                               "    c[i] = sum;\n",
                               "dim3(32, 4)"));
    EXPECT_TRUE(text.contains("const int lane2 = threadIdx.x % 32;")) << text;
    EXPECT_TRUE(text.contains("    if (lane2 != 0)\n        sum = 0.0f;\n")) << text;
    EXPECT_TRUE(text.contains("sum += __shfl_xor_sync")) << text;
}

TEST(RowPerWarp, TakesCopiesThroughATable) {
    checkApplicable(id,
                    kernel("    if (i >= m)\n        return;\n"
                           "    const int from = static_cast<int>(b[i]);\n"
                           "    for (int j = 0; j < n; ++j)\n"
                           "        c[i * n + j] = a[from * n + j];\n"),
                    warpKernel("    if (i >= m)\n        return;\n"
                               "    const int from = static_cast<int>(b[i]);\n"
                               "    for (int j = lane; j < n; j += 32)\n"
                               "        c[i * n + j] = a[from * n + j];\n"));
}

TEST(RowPerWarp, TakesRowsAtProductsOfSizesAndQuotients) {
    const std::string begin = "    if (i >= m) return;\n"
                              "    float* row = c + i / n * (n * n) + i % n * (n / 2);\n";
    checkApplicable(id,
                    kernel(begin + "    for (int j = 0; j < n / 2; ++j)\n"
                                   "        row[j] = 0.0f;\n"
                                   "    for (int t = 0; t < 8; ++t) {\n"
                                   "        for (int j = 0; j < n / 2; ++j)\n"
                                   "            row[j] += a[i * 8 + t] * b[t * n + j];\n"
                                   "    }\n"),
                    warpKernel(begin + "    for (int j = lane; j < n / 2; j += 32)\n"
                                       "        row[j] = 0.0f;\n"
                                       "    for (int t = 0; t < 8; ++t) {\n"
                                       "        for (int j = lane; j < n / 2; j += 32)\n"
                                       "            row[j] += a[i * 8 + t] * b[t * n + j];\n"
                                       "    }\n"));
}

TEST(RowPerWarp, FoldsIntegersThatTheTextCounts) {
    const std::string text = appliedText(id, kernel("    int count = 0;\n    unsigned bits = 7;\n"
                                                    "    for (int j = 0; j < n; ++j) {\n"
                                                    "        if (a[i * n + j] > 0) ++count;\n"
                                                    "        bits ^= j;\n    }\n"
                                                    "    c[i] = count + bits;\n"));
    EXPECT_TRUE(text.contains("    if (lane != 0)\n        bits = 0;\n")) << text;
    EXPECT_TRUE(text.contains("        count += __shfl_xor_sync(0xffffffff, count, offset);\n"))
        << text;
    EXPECT_TRUE(text.contains("        bits ^= __shfl_xor_sync(0xffffffff, bits, offset);\n"))
        << text;
}

TEST(RowPerWarp, AddsToBoundsOfAnyOperator) {
    const std::string text =
        appliedText(id, kernel("    float sum = 0;\n    for (int j = n >> 1; j < n; j += 3)\n"
                               "        sum += a[i * n + j];\n    c[i] = sum;\n"));
    EXPECT_TRUE(text.contains("for (int j = (n >> 1) + lane * 3; j < n; j += 3 * 32)\n")) << text;
}

TEST(RowPerWarp, TakesSeveralStoresOfARoundThatAreApart) {
    EXPECT_TRUE(appliedText(id, kernel("    for (int j = 0; j < n; ++j) {\n"
                                       "        c[2 * (i * n + j)] = a[i * n + j];\n"
                                       "        c[2 * (i * n + j) + 1] = b[i * n + j];\n    }\n"))
                    .contains("j += 32"));
}

TEST(RowPerWarp, KeepsTheNumericsOfWhatItFolds) {
    EXPECT_EQ(offeredNumerics(id, kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j)\n"
                                         "        sum += a[i * n + j];\n    c[i] = sum;\n")),
              Numerics::Reassociates);
    EXPECT_EQ(offeredNumerics(id, kernel("    float most = 0;\n    for (int j = 0; j < n; ++j)\n"
                                         "        most = fmaxf(most, a[i * n + j]);\n"
                                         "    c[i] = most;\n")),
              Numerics::Exact);
}

TEST(RowPerWarp, SaysWhatARoundTouches) {
    const Subject subject =
        parseSubject(kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j)\n"
                            "        sum += a[i * n + j] * b[j];\n    c[i] = sum;\n"));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->why, "the thread of a row walks along it (line 4), so that neighbouring lanes "
                          "are a row apart: a round of a warp touches 33 sectors, and 8 if its "
                          "lanes walk side by side and fold sum across the warp");
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 33.0 / 8);
}

/// The edited kernel whose row is `position`.
std::string placed(const std::string& position, const std::string& block = "128") {
    return appliedText(id, kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j)\n"
                                  "        sum += a[i * n + j];\n    c[i] = sum;\n",
                                  block, position));
}

TEST(RowPerWarp, TakesPositionsInManyForms) {
    const std::string flat =
        placed("    int i = threadIdx.x + (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x;\n");
    EXPECT_TRUE(flat.contains("int i = threadIdx.x / 32 + (blockIdx.x + blockIdx.y * gridDim.x) * "
                              "(blockDim.x / 32);\n"))
        << flat;
    const std::string constant = placed("    const size_t i = (size_t)blockIdx.x * 128 + "
                                        "threadIdx.x;\n");
    EXPECT_TRUE(constant.contains("i = (size_t)blockIdx.x * 4 + threadIdx.x / 32;\n")) << constant;
    const std::string macro =
        "#define WIDTH 128\n" + kernel("    for (int j = 0; j < n; ++j)\n"
                                       "        c[i * n + j] = a[i * n + j] * 2;\n",
                                       "WIDTH", "    int i = blockIdx.x * WIDTH + threadIdx.x;\n");
    EXPECT_TRUE(appliedText(id, macro).contains("blockIdx.x * (WIDTH / 32) + threadIdx.x / 32;"));
    const std::string parts = placed("    int tx = threadIdx.x;\n    int bx = blockIdx.x;\n"
                                     "    auto i = bx * blockDim.x + tx;\n");
    EXPECT_TRUE(parts.contains("    int tx = threadIdx.x / 32;\n"
                               "    const int lane = threadIdx.x % 32;\n"
                               "    int bx = blockIdx.x;\n"
                               "    auto i = bx * (blockDim.x / 32) + tx;\n"))
        << parts;
    const std::string moved =
        placed("    unsigned i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);\n    i += 1;\n");
    EXPECT_TRUE(moved.contains("i = 2 * (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);\n"))
        << moved;
}

TEST(RowPerWarp, TakesRowsThatTheGridSharesAndPositionsWithinExpressions) {
    checkApplicable(
        id,
        kernel("    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < m;\n"
               "         i += blockDim.x * gridDim.x) {\n"
               "        float sum = 0;\n        for (int j = 0; j < n; j++)\n"
               "            sum += a[i * n + j];\n        c[i] = sum;\n    }\n",
               "128", ""),
        kernel("    const int lane = threadIdx.x % 32;\n"
               "    for (size_t i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; i < m;\n"
               "         i += (blockDim.x / 32) * gridDim.x) {\n"
               "        float sum = 0;\n        for (int j = lane; j < n; j += 32)\n"
               "            sum += a[i * n + j];\n"
               "        for (int offset = 16; offset > 0; offset /= 2)\n"
               "            sum += __shfl_xor_sync(0xffffffff, sum, offset);\n"
               "        if (lane == 0)\n            c[i] = sum;\n    }\n",
               "128", "", "(m + 127) / 128 * 32"));
    const std::string inside =
        placed("    const int n2 = n;\n    if (blockIdx.x * blockDim.x + threadIdx.x >= m) "
               "return;\n    a += (threadIdx.x + blockDim.x * blockIdx.x) * n2;\n"
               "    const int i = 0;\n");
    EXPECT_TRUE(inside.contains("a += (threadIdx.x / 32 + (blockDim.x / 32) * blockIdx.x) * n2;"))
        << inside;
}

class RowPerWarpGates : public ::testing::TestWithParam<GateCase> {};

TEST_P(RowPerWarpGates, Refuses) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

std::string walking(const std::string& inLoop, const std::string& behind = "    c[i] = sum;\n") {
    return kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j) {\n"
                  "        sum += a[i * n + j];\n" +
                  inLoop + "    }\n" + behind);
}

INSTANTIATE_TEST_SUITE_P(
    All, RowPerWarpGates,
    ::testing::Values(
        GateCase{"Macro", "from-macro",
                 "#define ROW (blockIdx.x * blockDim.x + threadIdx.x)\n" +
                     kernel("    for (int j = 0; j < n; ++j) c[i * n + j] = a[i * n + j];\n", "128",
                            "    int i = ROW;\n")},
        GateCase{"NoIndex", "no-row-index",
                 kernel("    for (int j = 0; j < n; ++j) c[i * n + j] = a[i * n + j];\n", "128",
                        "    int i = blockIdx.x;\n")},
        GateCase{"AnotherIndex", "uses-thread-position",
                 walking("", "    c[threadIdx.x] = sum;\n")},
        GateCase{"BlockAlone", "uses-thread-position", walking("", "    c[blockIdx.x] = sum;\n")},
        GateCase{"OtherWidth", "uses-thread-position",
                 kernel("    for (int j = 0; j < n; ++j) c[i * n + j] = a[i * n + j];\n", "128",
                        "    int i = blockIdx.x * 64 + threadIdx.x;\n")},
        GateCase{"Shared", "shares-memory",
                 walking("", "    __shared__ float s[4];\n    s[0] = 1;\n")},
        GateCase{"Barrier", "barrier", walking("", "    __syncthreads();\n    c[i] = sum;\n")},
        GateCase{"Shuffle", "warp-operation",
                 walking("", "    c[i] = __shfl_sync(~0u, sum, 0);\n")},
        GateCase{"Columns", "coalesced",
                 kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j)\n"
                        "        sum += a[j * n + i];\n    c[i] = sum;\n")},
        GateCase{"Prefix", "carries-over", walking("        c[i * n + j] = sum;\n", "")},
        GateCase{"Condition", "carries-over", walking("        if (sum > 3) sum += 1;\n")},
        GateCase{"TwiceItself", "carries-over",
                 kernel("    float sum = 1;\n    for (int j = 0; j < n; ++j)\n"
                        "        sum += sum * a[i * n + j];\n    c[i] = sum;\n")},
        GateCase{"TwoOperators", "carries-over", walking("        sum *= 2;\n")},
        GateCase{"Recurrence", "carries-over",
                 kernel("    float x = 0;\n    for (int j = 0; j < n; ++j)\n"
                        "        x = a[i * n + j] - x;\n    c[i] = x;\n")},
        GateCase{"CallThatAdds", "carries-over",
                 kernel("    int sum = 0;\n    for (int j = 0; j < n; ++j)\n"
                        "        sum = __dp4a((int)a[i * n + j], j, sum);\n    c[i] = sum;\n")},
        GateCase{"ObjectsMethod", "carries-over",
                 "struct Total { float sum = 0; __device__ void add(float x) { sum += x; } };\n" +
                     kernel("    Total total;\n    for (int j = 0; j < n; ++j)\n"
                            "        total.add(a[i * n + j]);\n    c[i] = total.sum;\n")},
        GateCase{"IntegerRecurrence", "carries-over",
                 kernel("    int x = 1;\n    for (int j = 0; j < n; ++j)\n"
                        "        x = 3 * x + (int)a[i * n + j];\n    c[i] = x;\n")},
        GateCase{"Neighbour", "columns-overlap", walking("        c[j * j] = a[i * n + j];\n", "")},
        GateCase{"Scan", "columns-overlap",
                 kernel("    for (int j = 1; j < n; ++j)\n"
                        "        c[i * n + j] = c[i * n + j - 1] + a[i * n + j];\n")},
        GateCase{"OneBuffer", "may-alias",
                 kernel("    for (int j = 0; j < n; ++j)\n"
                        "        c[i * n + j] = a[i * n + j];\n") +
                     "void again(float* x, int m, int n) { k<<<(m + 127) / 128, 128>>>(x + 1, x, "
                     "x, m, n); }\n"},
        GateCase{"Short", "short-rows",
                 kernel("    float sum = 0;\n    for (int j = 0; j < 7; ++j)\n"
                        "        sum += a[i * 7 + j];\n    c[i] = sum;\n")},
        GateCase{"Exit", "no-row-loop", walking("        if (a[i * n + j] < 0) break;\n")},
        GateCase{"Downwards", "no-row-loop",
                 kernel("    float sum = 0;\n    for (int j = n - 1; j >= 0; --j)\n"
                        "        sum += a[i * n + j];\n    c[i] = sum;\n")},
        GateCase{"RowMemory", "row-memory",
                 walking("", "    c[2 * i] = sum;\n    c[2 * i + 1] = c[2 * i];\n")},
        GateCase{"PartialWarps", "partial-warps",
                 kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j)\n"
                        "        sum += a[i * n + j];\n    c[i] = sum;\n",
                        "100")}),
    [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace kernelskill::skills
