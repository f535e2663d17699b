#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "hierarchical-scan";

/// A kernel on rows with `body` behind its index.
std::string kernel(const std::string& body, const std::string& block = "128",
                   const std::string& index = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                              "    if (i >= m) return;\n",
                   const std::string& grid = "(m + 127) / 128") {
    return "__global__ void k(const float* a, float* c, int* d, int m, int n) {\n" + index + body +
           "}\nvoid run(int m, int n) {\n    float *a, *c;\n    int* d;\n    cudaMalloc(&a, n);\n" +
           "    cudaMalloc(&c, n);\n    cudaMalloc(&d, n);\n    k<<<" + grid + ", " + block +
           ">>>(a, c, d, m, n);\n}\n";
}
std::string warpKernel(const std::string& body) {
    return kernel(body, "128",
                  "    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;\n"
                  "    const int lane = threadIdx.x % 32;\n    if (i >= m) return;\n",
                  "(m + 127) / 128 * 32");
}
std::string oneThread(const std::string& body) {
    return kernel(body, "1", "", "1");
}
std::string oneWarp(const std::string& body) {
    return kernel(body, "32", "    const int lane = threadIdx.x;\n", "1");
}

/// The five steps for `value`.
std::string steps(const std::string& type, const std::string& value, const std::string& folded) {
    return "        for (int offset = 1; offset < 32; offset *= 2) {\n            const " + type +
           " lower = __shfl_up_sync(0xffffffff, " + value +
           ", offset);\n            if (lane >= offset)\n                " + folded +
           ";\n        }\n";
}

TEST(HierarchicalScan, ScansBehindDeclarationsThatLaterCodeUses) {
    checkApplicable(id,
                    kernel("    float largest = a[i * n];\n"
                           "    for (int j = 1; j < n; ++j) {\n"
                           "        const int at = i * n + j;\n"
                           "        const float v = a[at];\n"
                           "        largest = fmaxf(largest, v);\n"
                           "        // How far below it is.\n"
                           "        float below = largest - v;\n"
                           "        c[at] = below * below;\n"
                           "    }\n"
                           "    d[i] = largest > 0;\n"),
                    warpKernel("    float largest = a[i * n];\n"
                               "    for (int j = 1 + lane; j - lane < n; j += 32) {\n"
                               "        const int at = i * n + j;\n"
                               "        const float v = j < n ? a[at] : 0.0f;\n"
                               "        if (j < n)\n"
                               "            largest = fmaxf(largest, v);\n" +
                               steps("float", "largest", "largest = fmaxf(largest, lower)") +
                               "        // How far below it is.\n"
                               "        if (j < n) {\n"
                               "            float below = largest - v;\n"
                               "            c[at] = below * below;\n"
                               "        }\n"
                               "        largest = __shfl_sync(0xffffffff, largest, 31);\n"
                               "    }\n"
                               "    if (lane == 0)\n"
                               "        d[i] = largest > 0;\n"));
}

TEST(HierarchicalScan, GivesTheArrayOfASingleThreadToAWarp) {
    checkApplicable(id,
                    oneThread("    int sum = 0;\n"
                              "    for (int i = 0; i < n; ++i) {\n"
                              "        int t = d[i];\n"
                              "        d[i] = sum;\n"
                              "        sum += t; // For the next one.\n"
                              "    }\n"),
                    oneWarp("    int sum = 0;\n"
                            "    for (int i = lane; i - lane < n; i += 32) {\n"
                            "        int t = i < n ? d[i] : 0;\n"
                            "        int next = 0;\n"
                            "        if (i < n)\n"
                            "            next += t; // For the next one.\n"
                            "        const int below = __shfl_up_sync(0xffffffff, next, 1);\n"
                            "        if (lane > 0)\n"
                            "            sum = below;\n" +
                            steps("int", "sum", "sum += lower") +
                            "        if (i < n)\n"
                            "            d[i] = sum;\n"
                            "        sum += next;\n"
                            "        sum = __shfl_sync(0xffffffff, sum, 31);\n"
                            "    }\n"));
}

TEST(HierarchicalScan, TakesElementsThatFollowFromTheOneBefore) {
    checkApplicable(id,
                    oneThread("    int x;\n"
                              "    c[0] = a[0];\n"
                              "    for (x = 1; x < n; x++)\n"
                              "        c[x] = a[x] + c[x - 1];\n"),
                    oneWarp("    int x;\n"
                            "    if (lane == 0)\n"
                            "        c[0] = a[0];\n"
                            "    __syncwarp();\n"
                            "    for (x = 1 + lane; x - lane < n; x += 32) {\n"
                            "        float sum = x < n ? a[x] : 0.0f;\n"
                            "        if (lane == 0)\n"
                            "            sum += c[x - 1];\n" +
                            steps("float", "sum", "sum += lower") +
                            "        if (x < n)\n"
                            "            c[x] = sum;\n"
                            "        __syncwarp();\n"
                            "    }\n"));
    checkApplicable(id,
                    kernel("    for (int j = 1; j < n; ++j) {\n"
                           "        c[i * n + j] *= c[i * n + j - 1];\n"
                           "    }\n"),
                    warpKernel("    for (int j = 1 + lane; j - lane < n; j += 32) {\n"
                               "        float running = j < n ? c[i * n + j] : 0.0f;\n"
                               "        if (lane == 0)\n"
                               "            running *= c[i * n + j - 1];\n" +
                               steps("float", "running", "running *= lower") +
                               "        if (j < n)\n"
                               "            c[i * n + j] = running;\n"
                               "        __syncwarp();\n"
                               "    }\n"));
}

TEST(HierarchicalScan, KeepsConditionsAroundTheFold) {
    checkApplicable(id,
                    kernel("    int count = 0;\n"
                           "    for (int j = 0; j < n; ++j) {\n"
                           "        if (a[i * n + j] > 0.5f)\n"
                           "            count++;\n"
                           "        d[i * n + j] = count;\n"
                           "    }\n"),
                    warpKernel("    int count = 0;\n"
                               "    for (int j = lane; j - lane < n; j += 32) {\n"
                               "        if (lane > 0)\n"
                               "            count = 0;\n"
                               "        if (j < n) {\n"
                               "            if (a[i * n + j] > 0.5f)\n"
                               "                count++;\n"
                               "        }\n" +
                               steps("int", "count", "count += lower") +
                               "        if (j < n)\n"
                               "            d[i * n + j] = count;\n"
                               "        count = __shfl_sync(0xffffffff, count, 31);\n"
                               "    }\n"));
}

TEST(HierarchicalScan, SharesTheOtherLoopsOfTheRow) {
    const std::string text = appliedText(id, kernel("    float total = 0.0f;\n"
                                                    "    for (int j = 0; j < n; ++j)\n"
                                                    "        total += a[i * n + j];\n"
                                                    "    float sum = 0.0f;\n"
                                                    "    for (int j = 0; j <= n - 1; j += 2) {\n"
                                                    "        sum += a[i * n + j] / total;\n"
                                                    "        c[i * n + j] = sum;\n"
                                                    "    }\n"));
    EXPECT_TRUE(text.contains("total += __shfl_xor_sync(0xffffffff, total, offset);")) << text;
    EXPECT_TRUE(text.contains("for (int j = lane * 2; j - lane * 2 <= n - 1; j += 2 * 32) {"))
        << text;
}

TEST(HierarchicalScan, KeepsTheResultsOfIntegersExact) {
    const auto summing = [](const std::string& type, const std::string& array) {
        return oneThread("    " + type +
                         " sum = 0;\n    for (int i = 0; i < n; ++i) {\n        sum += " + array +
                         "[i];\n        " + array + "[i] = sum;\n    }\n");
    };
    EXPECT_EQ(offeredNumerics(id, summing("int", "d")), Numerics::Exact);
    EXPECT_EQ(offeredNumerics(id, summing("float", "c")), Numerics::Reassociates);
}

TEST(HierarchicalScan, TakesChoicesAndSeveralFolds) {
    const std::string text = appliedText(id, kernel("    float least = 1e30f;\n"
                                                    "    for (int j = 0; n > j; j++) {\n"
                                                    "        c[i * n + j] = least;\n"
                                                    "        if (a[i * n + j] < least)\n"
                                                    "            least = a[i * n + j];\n"
                                                    "    }\n"));
    EXPECT_TRUE(text.contains("for (int j = lane; n > j - lane; j += 32) {")) << text;
    EXPECT_TRUE(text.contains("        float next = least;\n"
                              "        if (n > j) {\n"
                              "            if (a[i * n + j] < next)\n"
                              "                next = a[i * n + j];\n"
                              "        }\n"))
        << text;
    EXPECT_TRUE(text.contains("        least = fminf(least, next);\n")) << text;
    EXPECT_TRUE(appliedText(id, kernel("    float sum = 0;\n"
                                       "    for (int j = 0; j < n; ++j) {\n"
                                       "        sum = sum + a[i * n + j];\n"
                                       "        sum -= 1.0f;\n"
                                       "        c[i * n + j] = sum;\n"
                                       "    }\n"))
                    .contains("        if (j < n) {\n"
                              "            sum = sum + a[i * n + j];\n"
                              "            sum -= 1.0f;\n"
                              "        }\n"));
}

/// A kernel whose blocks scan shared memory, with `scan` in between.
std::string sharedScan(const std::string& scan, const std::string& functions = "",
                       const std::string& block = "256") {
    return functions +
           "__global__ void k(const int* in, int* out, int n) {\n    __shared__ int s[256];\n"
           "    const int tid = threadIdx.x;\n    int g = blockIdx.x * blockDim.x + tid;\n"
           "    s[tid] = in[g];\n    __syncthreads();\n" +
           scan +
           "    __syncthreads();\n    out[g] = s[tid];\n}\nvoid run(int n) {\n"
           "    int *in, *out;\n    cudaMalloc(&in, n);\n    cudaMalloc(&out, n);\n    k<<<n, " +
           block + ">>>(in, out, n);\n}\n";
}

TEST(HierarchicalScan, TakesTheWarpOfABlocksFirstThread) {
    checkApplicable(id,
                    sharedScan("    if (tid == 0) {\n"
                               "        int sum = 0;\n"
                               "        for (int i = 0; i < 256; i++) {\n"
                               "            sum += s[i];\n"
                               "            s[i] = sum;\n"
                               "        }\n"
                               "        out[n + blockIdx.x] = sum;\n"
                               "    }\n"),
                    sharedScan("    const int lane = threadIdx.x % 32;\n"
                               "    if (tid < 32) {\n"
                               "        int sum = 0;\n"
                               "        __syncwarp();\n"
                               "        for (int i = lane; i - lane < 256; i += 32) {\n"
                               "            if (lane > 0)\n"
                               "                sum = 0;\n"
                               "            if (i < 256)\n"
                               "                sum += s[i];\n"
                               "            for (int offset = 1; offset < 32; offset *= 2) {\n"
                               "                const int lower = __shfl_up_sync(0xffffffff, sum, "
                               "offset);\n"
                               "                if (lane >= offset)\n"
                               "                    sum += lower;\n"
                               "            }\n"
                               "            if (i < 256)\n"
                               "                s[i] = sum;\n"
                               "            sum = __shfl_sync(0xffffffff, sum, 31);\n"
                               "        }\n"
                               "        __syncwarp();\n"
                               "        if (lane == 0)\n"
                               "            out[n + blockIdx.x] = sum;\n"
                               "    }\n"));
}

TEST(HierarchicalScan, FollowsTheFirstThreadIntoAFunction) {
    const std::string text = appliedText(
        id, sharedScan("    if (0 == threadIdx.x && blockIdx.x == 0) {\n"
                       "        scanAll(s, 256);\n        out[n] = s[255];\n    }\n",
                       "__device__ void scanAll(int* a, int count) {\n"
                       "    for (int i = 1; i < count; ++i)\n        a[i] += a[i - 1];\n}\n"));
    EXPECT_TRUE(text.starts_with("__device__ void scanAll(int* a, int count) {\n"
                                 "    const int lane = threadIdx.x % 32;\n"
                                 "    for (int i = 1 + lane; i - lane < count; i += 32) {\n"))
        << text;
    EXPECT_TRUE(text.contains("    const int lane = threadIdx.x % 32;\n"
                              "    if (threadIdx.x < 32 && blockIdx.x == 0) {\n"
                              "        __syncwarp();\n        scanAll(s, 256);\n"
                              "        __syncwarp();\n"
                              "        if (lane == 0)\n            out[n] = s[255];\n    }\n"))
        << text;
}

class HierarchicalScanGates : public testing::TestWithParam<GateCase> {};

TEST_P(HierarchicalScanGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

std::string scanning(const std::string& round) {
    return kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j) {\n" + round + "    }\n");
}
const std::string plain = "        sum += a[i * n + j];\n        c[i * n + j] = sum;\n";

const std::string rounds = "        for (int i = 0; i < 256; i++) {\n            sum += s[i];\n"
                           "            s[i] = sum;\n        }\n";
const std::string serial = "        int sum = 0;\n" + rounds;

/// A kernel whose first thread calls a function, with `body` around the call.
std::string calling(const std::string& body, const std::string& round = "a[i] += a[i - 1];") {
    return sharedScan("    if (tid == 0) {\n" + body + "    }\n",
                      "__device__ void scanAll(int* a, int count) {\n"
                      "    for (int i = 1; i < count; ++i)\n        " +
                          round + "\n}\n");
}

INSTANTIATE_TEST_SUITE_P(
    Gates, HierarchicalScanGates,
    testing::Values(
        GateCase{"NoRunningValue", "no-scan",
                 kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j)\n"
                        "        sum += a[i * n + j];\n    c[i] = sum;\n")},
        GateCase{"LinearRecurrence", "carries-over",
                 scanning("        sum = 0.5f * a[i * n + j] + 0.5f * sum;\n"
                          "        c[i * n + j] = sum;\n")},
        GateCase{"TwoOperators", "carries-over",
                 scanning("        sum += a[i * n + j];\n        sum *= 2;\n"
                          "        c[i * n + j] = sum;\n")},
        GateCase{"UsedOnBothSides", "scan-order",
                 scanning("        c[i * n + j] = sum;\n        sum += a[i * n + j];\n"
                          "        d[i * n + j] = sum;\n")},
        GateCase{"UsedInTheFoldsCondition", "scan-order",
                 scanning("        if (sum < 10.0f)\n            sum += a[i * n + j];\n"
                          "        c[i * n + j] = sum;\n")},
        GateCase{"FoldOfWhatTheUseStores", "scan-order",
                 scanning("        c[i * n + j] = sum;\n        sum += c[i * n + j] + 1;\n")},
        GateCase{"EndsARound", "scan-body",
                 scanning("        if (a[i * n + j] < 0)\n            continue;\n" + plain)},
        GateCase{"SharesLines", "scan-body",
                 scanning("        sum += a[i * n + j]; c[i * n + j] = sum;\n")},
        GateCase{"AsksForItsThread", "scan-body",
                 scanning("        sum += a[(blockIdx.x * blockDim.x + threadIdx.x) * n + j];\n"
                          "        c[i * n + j] = sum;\n")},
        GateCase{"DeclaresAnArray", "scan-body",
                 scanning("        float v[2] = {a[i * n + j], 1};\n        sum += v[0];\n"
                          "        c[i * n + j] = sum * v[1];\n")},
        GateCase{"LimitChanges", "not-counted-up",
                 scanning(plain + "        if (sum > 9)\n            n = 5;\n")},
        GateCase{"CountsDown", "no-row-loop",
                 kernel("    float sum = 0;\n    for (int j = n - 1; j >= 0; --j) {\n" + plain +
                        "    }\n")},
        GateCase{
            "ShortRows", "short-rows",
            kernel("    float sum = 0;\n    for (int j = 0; j < 16; ++j) {\n" + plain + "    }\n")},
        GateCase{"NeighboursOfOtherRounds", "columns-overlap",
                 scanning("        sum += c[i * n + j + 1];\n        c[i * n + j] = sum;\n")},
        GateCase{"CoalescedAlready", "coalesced",
                 kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j) {\n"
                        "        sum += a[j * m + i];\n        c[j * m + i] = sum;\n    }\n")},
        GateCase{
            "PartialWarps", "partial-warps",
            kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j) {\n" + plain + "    }\n",
                   "100")},
        GateCase{"OneThreadOfPartialWarps", "partial-warps",
                 sharedScan("    if (tid == 0) {\n" + serial + "    }\n", "", "48")},
        GateCase{"UsesItsNumber", "lanes-differ",
                 sharedScan("    if (tid == 0) {\n        int sum = tid;\n" + rounds + "    }\n")},
        GateCase{"UsesItsElement", "lanes-differ",
                 sharedScan("    const int own = s[tid];\n    if (tid == 0) {\n"
                            "        int sum = own;\n" +
                            rounds + "    }\n")},
        GateCase{"UsedAfter", "used-after",
                 sharedScan("    int sum = 0;\n    if (tid == 0) {\n" + rounds +
                            "    }\n    out[g] = sum;\n")},
        GateCase{"StoresWhatOthersRead", "row-memory",
                 sharedScan("    if (tid == 0) {\n        out[0] = 1;\n"
                            "        int sum = out[0];\n" +
                            rounds + "    }\n")},
        GateCase{"StoresUnderACondition", "row-memory",
                 sharedScan("    if (tid == 0) {\n" + serial +
                            "        if (sum > 9)\n            out[n] = sum;\n    }\n")},
        GateCase{
            "WaitsForOthers", "barrier",
            sharedScan("    if (tid == 0) {\n        __syncthreads();\n" + serial + "    }\n")},
        GateCase{"InlineAssembly", "unknown-effects",
                 sharedScan("    if (tid == 0) {\n        asm volatile(\"membar.gl;\");\n" +
                            serial + "    }\n")},
        GateCase{"FirstThreadOnlyFills", "no-scan",
                 sharedScan("    if (tid == 0) {\n        for (int i = 0; i < 256; i++)\n"
                            "            s[i] = i;\n    }\n")},
        GateCase{"FunctionOnlyFills", "no-scan",
                 calling("        scanAll(s, 256);\n", "a[i] = i;")},
        GateCase{"ArgumentOfTheThread", "lanes-differ",
                 calling("        scanAll(s, tid + 256);\n")},
        GateCase{"DeclaresBesideTheCall", "row-memory",
                 calling("        int first = s[0];\n        scanAll(s, 256);\n"
                         "        out[n] = first;\n")},
        GateCase{"MayAlias", "may-alias",
                 "__global__ void k(const float* a, float* c, int n) {\n    float sum = 0;\n"
                 "    for (int i = 0; i < n; ++i) {\n        sum += a[i];\n        c[i] = sum;\n"
                 "    }\n}\nvoid run(float* c, int n) { k<<<1, 1>>>(c, c, n); }\n"}),
    [](const testing::TestParamInfo<GateCase>& each) { return each.param.name; });

} // namespace
} // namespace kernelskill::skills
