#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "rows-in-turn";

constexpr std::string_view headers = "#include <cooperative_groups.h>\n"
                                     "#include <cooperative_groups/reduce.h>\n";

/// A kernel whose blocks have rows of their own, so that a row is no thread of the grid.
std::string kernel(const std::string& body) {
    return "__global__ void k(const float* a, const float* b, float* c, int m, int n) {\n"
           "    int i = threadIdx.x;\n"
           "    if (i >= m) return;\n" +
           body +
           "}\nvoid run(int m, int n) {\n    float *a, *b, *c;\n    cudaMalloc(&a, n);\n"
           "    cudaMalloc(&b, n);\n    cudaMalloc(&c, n);\n    k<<<64, 200>>>(a, b, c, m, "
           "n);\n}\n";
}

TEST(RowsInTurn, FoldsIntoMemoryByWayOfTheTurnsRegister) {
    checkApplicable(
        id,
        kernel("    for (int j = 0; j < n; ++j)\n"
               "        c[blockIdx.x * m + i] += a[i * n + j] * b[blockIdx.x * n + j];\n"
               "    c[blockIdx.x * m + i] *= 2.0f;\n"),
        std::string(headers) +
            kernel("    const auto lanes = cooperative_groups::coalesced_threads();\n"
                   "    const int lane = lanes.thread_rank();\n"
                   "    const int width = lanes.size();\n"
                   "    for (int turn = 0; turn < width; ++turn) {\n"
                   "        const auto rowI = lanes.shfl(i, turn);\n"
                   "        float rowSum = 0.0f;\n"
                   "        for (int j = lane; j < n; j += width)\n"
                   "            rowSum += a[rowI * n + j] * b[blockIdx.x * n + j];\n"
                   "        rowSum = cooperative_groups::reduce(lanes, rowSum, "
                   "cooperative_groups::plus<float>());\n"
                   "        if (lane == turn)\n"
                   "            c[blockIdx.x * m + i] += rowSum;\n"
                   "    }\n"
                   "    c[blockIdx.x * m + i] *= 2.0f;\n"));
}

TEST(RowsInTurn, PassesPointersAndPositionsOn) {
    const std::string text =
        appliedText(id, kernel("    const float* row = a + i * n;\n"
                               "    float largest = row[0];\n"
                               "    for (int j = 1; j < n; j += 2)\n"
                               "        largest = fmaxf(largest, row[j] * b[threadIdx.x]);\n"
                               "    c[blockIdx.x * m + i] = largest;\n"));
    for (const std::string_view line :
         {"        const auto rowRow = lanes.shfl(row, turn);\n",
          "        const auto rowThreadX = lanes.shfl(threadIdx.x, turn);\n",
          "        float rowLargest = lanes.shfl(largest, turn);\n",
          "        for (int j = 1 + lane * 2; j < n; j += 2 * width)\n",
          "rowLargest = fmaxf(rowLargest, rowRow[j] * b[rowThreadX]);\n",
          "cooperative_groups::greater<float>()", "largest = fmaxf(largest, rowLargest);\n"})
        EXPECT_TRUE(text.contains(line)) << line << text;
}

TEST(RowsInTurn, WaitsWhereRoundsUseWhatTheThreadStored) {
    const std::string text =
        appliedText(id, kernel("    c[blockIdx.x * m + i] = b[i];\n"
                               "    float sum = 0.0f;\n"
                               "    for (int j = 0; j < n; ++j)\n"
                               "        sum += a[i * n + j] * c[blockIdx.x * m + i];\n"
                               "    c[blockIdx.x * m + i] = sum;\n"));
    EXPECT_TRUE(text.contains("    lanes.sync();\n    for (int turn")) << text;
    EXPECT_TRUE(text.contains("    }\n    lanes.sync();\n")) << text;
}

TEST(RowsInTurn, LeavesWhatRoundsSetForThemselves) {
    const std::string text = appliedText(id, kernel("    int j, at;\n"
                                                    "    float sum = 0.0f;\n"
                                                    "    for (j = 0; j < n; ++j) {\n"
                                                    "        at = i * n + j;\n"
                                                    "        sum += a[at] * b[at];\n"
                                                    "    }\n"
                                                    "    c[blockIdx.x * m + i] = sum;\n"));
    EXPECT_TRUE(text.contains("            at = rowI * n + j;\n"
                              "            rowSum += a[at] * b[at];\n"))
        << text;
}

/// A kernel of a library, whose launches nobody sees.
std::string unlaunched(const std::string& body) {
    return "__global__ void k(const float* a, const float* b, float* c, int m, int n) {\n"
           "    int i = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;\n"
           "    if (i >= m) return;\n" +
           body + "}\n";
}

TEST(RowsInTurn, TellsPointersApartWhereThreadsWouldRace) {
    for (const std::string& body :
         {std::string("    c[i] = 0;\n    for (int j = 0; j < n; ++j)\n"
                      "        c[i] += a[i * n + j] * b[j];\n"),
          std::string("    int x = i % m;\n    int y = i / m;\n    c[x + m * y] = 0;\n"
                      "    for (int j = 0; j < n; ++j)\n"
                      "        c[x + m * y] += a[j + n * (x + y * m)];\n"),
          std::string("    for (int j = 0; j < n; ++j)\n"
                      "        c[i * n + j] = a[i * n + j] + b[i];\n")})
        EXPECT_TRUE(appliedText(id, unlaunched(body)).contains("lanes.shfl")) << body;
    // An element of the same thread, a row with a gap, and threads that data let on may be one.
    for (const std::string& body :
         {std::string("    c[i] = 0;\n    for (int j = 0; j < n; ++j)\n"
                      "        c[i] += a[i * n + j] - b[i];\n"),
          std::string("    for (int j = 0; j < n - 1; ++j)\n"
                      "        c[i * n + j] = a[i * n + j] * 2.0f;\n"),
          std::string(
              "    if (b[i] > 0) {\n        c[i] = 0;\n        for (int j = 0; j < n; ++j)\n"
              "            c[i] += a[i * n + j];\n    }\n")})
        checkNotApplicable(id, unlaunched(body), "may-alias");
}

TEST(RowsInTurn, FoldsNumbersOfATemplateParameter) {
    const std::string rows = R"(template <typename T>
__global__ void k(const T* a, T* c, int m, int n) {
    int i = threadIdx.x;
    if (i >= m) return;
    T sum = 0;
    for (int j = 0; j < n; ++j)
        sum += a[i * n + j];
    c[i] = sum;
}
)";
    const auto launched = [](const std::string& type) {
        return "void run(" + type + "* a, " + type + "* c) { k<" + type +
               "><<<1, 64>>>(a, c, 64, 100); }\n";
    };
    EXPECT_TRUE(appliedText(id, rows + launched("double")).contains("plus<T>()"));
    checkNotApplicable(id, rows + launched("short"), "carries-over");
    checkNotApplicable(id, rows, "carries-over");
}

TEST(RowsInTurn, Refuses) {
    const std::vector<GateCase> cases{
        {"whole rows", "whole-rows", R"(
__global__ void k(const float* a, float* c, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float sum = 0;
    for (int j = 0; j < n; ++j) sum += a[i * n + j];
    c[i] = sum;
}
void run(int m, int n) {
    float *a, *c;
    cudaMalloc(&a, n);
    cudaMalloc(&c, n);
    k<<<(m + 127) / 128, 128>>>(a, c, m, n);
}
)"},
        {"columns side by side", "coalesced",
         kernel(
             "    float sum = 0;\n    for (int j = 0; j < n; ++j)\n        sum += a[j * m + i];\n"
             "    c[i + m * blockIdx.x] = sum;\n")},
        {"a product of matrices", "several-axes",
         kernel(
             "    float sum = 0;\n    for (int j = 0; j < n; ++j)\n        sum += a[i * n + j] * "
             "b[threadIdx.y * n + j];\n    c[i + m * threadIdx.y] = sum;\n")},
        {"a product", "fold-operator",
         kernel("    float all = 1;\n    for (int j = 0; j < n; ++j)\n"
                "        all *= a[i * n + j];\n    c[i + m * blockIdx.x] = all;\n")},
        {"a running mean", "fold-operator",
         kernel("    float mean = 0, m2 = 0;\n    for (int j = 0; j < n; ++j) {\n"
                "        float delta = a[i * n + j] - mean;\n        mean += delta / (j + 1);\n"
                "        m2 += delta * (a[i * n + j] - mean);\n    }\n"
                "    c[i + m * blockIdx.x] = m2;\n")},
        {"a barrier", "barrier",
         kernel("    float sum = 0;\n    for (int j = 0; j < n; ++j) {\n        __syncthreads();\n"
                "        sum += a[i * n + j];\n    }\n    c[i + m * blockIdx.x] = sum;\n")},
        {"an array", "row-values",
         kernel("    float w[2] = {b[i], b[2 * i]};\n    float sum = 0;\n"
                "    for (int j = 0; j < n; ++j)\n        sum += a[i * n + j] * w[j % 2];\n"
                "    c[i + m * blockIdx.x] = sum;\n")},
        {"a recurrence", "columns-overlap",
         kernel("    for (int j = 1; j < n; ++j)\n"
                "        c[i * n + j] = c[i * n + j - 1] + a[i * n + j];\n")},
        {"a value that rounds pass on", "carries-over",
         kernel("    float last = 0;\n    float sum = 0;\n    for (int j = 0; j < n; ++j) {\n"
                "        sum += a[i * n + j] * last;\n        last = a[i * n + j];\n    }\n"
                "    c[i + m * blockIdx.x] = sum;\n")}};
    for (const GateCase& each : cases) {
        SCOPED_TRACE(each.name);
        checkNotApplicable(id, each.source, each.gate);
    }
}

} // namespace
} // namespace kernelskill::skills
