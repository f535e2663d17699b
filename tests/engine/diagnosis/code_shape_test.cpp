#include "engine/diagnosis/code_shape.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// The shapes of the kernel with this body; block and grid are of one dimension unless it asks for
/// y.
std::vector<std::string> shapesOf(const std::string& body) {
    const auto model = parsedProgram(
        "__constant__ float taps[64];\n"
        "struct Node { float split; int left, right; };\n"
        "__global__ void k(const float* a, const float* b, float* out,\n"
        "                  const int* keys, int* counts, const unsigned char* bytes,\n"
        "                  const Node* nodes, int n, int m) {\n"
        "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n" +
        body + "\n}\n");
    EXPECT_TRUE(model.diagnostics.empty()) << model.diagnostics.front().message;
    const WarpView warp(model, model.kernels.front());
    std::vector<std::string> names;
    for (const ShapeFact& fact : codeShapeOf(warp).facts)
        names.emplace_back(fact.name);
    return names;
}

const std::string rowY = "int y = blockIdx.y * blockDim.y + threadIdx.y;\n";

TEST(CodeShape, RowsOfThreads) {
    const std::string loop = "float s = 0;\nfor (int c = 0; c < m; ++c) ";
    EXPECT_THAT(shapesOf(loop + "s += a[x * m + c];\nout[x] = s;"), Contains("row-reduction"));
    EXPECT_THAT(shapesOf(loop + "out[x * m + c] = a[x * m + c];"), Contains("row-map"));
    EXPECT_THAT(shapesOf(loop + "{ s += a[x * m + c]; out[x * m + c] = s; }"),
                Contains("row-recurrence"));
    EXPECT_THAT(shapesOf(loop + "{ s = 0.5f * s + a[x * m + c]; out[x * m + c] = s; }"),
                Contains("row-map"))
        << "no sum that a scan would form";
    EXPECT_THAT(shapesOf("float s = 0;\nfor (int e = keys[x]; e < keys[x + 1]; ++e) s += a[e];\n"
                         "out[x] = s;"),
                Contains("ragged-rows"));
}

TEST(CodeShape, ColumnsOfThreads) {
    EXPECT_THAT(
        shapesOf("float s = 0;\nfor (int r = 0; r < m; ++r) s += a[r * n + x];\nout[x] = s;"),
        Contains("column-reduction"));
    EXPECT_THAT(shapesOf("out[x] = 0;\nfor (int r = 0; r < m; ++r) out[x] += a[r * n + x];"),
                Contains("column-reduction"))
        << "folded in memory";
    EXPECT_THAT(shapesOf("for (int r = 1; r < m; ++r) out[r * n + x] += out[(r - 1) * n + x];"),
                Contains("column-recurrence"));
}

TEST(CodeShape, SingleElementsBesideVectorsAreARest) {
    const std::string whole =
        "const float4* v = (const float4*)a;\nfloat s = 0;\n"
        "if (4 * x + 3 < n) { float4 f = v[x]; s = f.x + f.y + f.z + f.w; }\n";
    const std::string single = "s = a[4 * x] + a[4 * x + 1] + a[4 * x + 2] + a[4 * x + 3];\n";
    EXPECT_THAT(shapesOf(whole + "else {" + single + "}\nout[x] = s;"), Not(Contains("records")));
    EXPECT_THAT(shapesOf("float s = 0;\nif (m > 0) " + single + "else s = b[x];\nout[x] = s;"),
                Contains("pairs"));
}

TEST(CodeShape, NoThreadWaitsForAStoreThatASharedTablePlaces) {
    const std::string table = "__shared__ int starts[256];\nstarts[threadIdx.x] = keys[x];\n"
                              "__syncthreads();\n";
    EXPECT_THAT(shapesOf(table + "out[starts[threadIdx.x ^ 1] + threadIdx.x] = a[x];"),
                Not(Contains("indirect")));
    EXPECT_THAT(shapesOf(table + "out[x] = a[starts[threadIdx.x ^ 1]];"), Contains("indirect"));
    EXPECT_THAT(shapesOf("out[keys[x]] = a[x];"), Contains("indirect"));
}

TEST(CodeShape, ALoopThatDoesNotWaitForItsAtomicIsNoLock) {
    const std::string visit = "int e = keys[x];\nwhile (e < keys[x + 1]) {\n"
                              "    int seen = atomicExch(&counts[e], 1);\n"
                              "    if (seen == 0) out[e] = 1;\n    ++e;\n}";
    EXPECT_THAT(shapesOf(visit), Not(Contains("lock")));
    EXPECT_THAT(shapesOf("bool done = false;\nwhile (!done) {\n"
                         "    if (atomicCAS(&counts[0], 0, 1) == 0) { out[0] += 1; done = true; "
                         "atomicExch(&counts[0], 0); }\n}"),
                Contains("lock"));
    EXPECT_THAT(shapesOf("while (true) {\n    int mine = atomicExch(&counts[0], 1);\n"
                         "    if (mine == 0) break;\n}\nout[0] += 1;"),
                Contains("lock"));
    EXPECT_THAT(shapesOf("while (atomicCAS(&counts[0], 0, 1) != 0);\nout[0] += 1;"),
                Contains("lock"));
}

TEST(CodeShape, RoundsThatThreadsShareOutAreNoRowOfOne) {
    EXPECT_THAT(shapesOf("const float* row = a + keys[blockIdx.x];\nfloat s = 0;\n"
                         "for (int c = threadIdx.x; c < m; c += 128) s += row[c];\nout[x] = s;"),
                Not(Contains("ragged-rows")));
}

TEST(CodeShape, ParametersThatSpreadOrShareADigitMayBeOne) {
    const std::string digits = "int i = x % n;\nint j = x / n;\n";
    EXPECT_THAT(shapesOf(digits + "out[x] = a[i * m + n * m * j];"), Not(Contains("swapped-axes")));
    EXPECT_THAT(shapesOf(digits + "out[i * m + j] = a[x];"), Contains("transposition"));
    EXPECT_THAT(shapesOf("int i = x % (n * m);\natomicAdd(&out[i / m + n * (x / (n * m))], 1.0f);"),
                Not(Contains("one-address")));
}

TEST(CodeShape, ExchangedAxesAndRecords) {
    EXPECT_THAT(shapesOf(rowY + "out[x * n + y] = a[y * m + x];"), Contains("transposition"));
    EXPECT_THAT(shapesOf(rowY + "out[x * n + y] = a[x * n + y];"), Contains("swapped-axes"));
    EXPECT_THAT(shapesOf("out[x] = a[2 * x] + a[2 * x + 1];"), Contains("pairs"));
    EXPECT_THAT(shapesOf("out[x] = a[3 * x] + a[3 * x + 1] + a[3 * x + 2];"), Contains("records"));
}

TEST(CodeShape, Gathers) {
    EXPECT_THAT(shapesOf("out[x] = a[keys[x]];"), Contains("indirect"));
    EXPECT_THAT(shapesOf("out[x] = a[bytes[x]];"), Contains("small-table"));
    EXPECT_THAT(shapesOf("out[x] = a[(int)(b[x] * 10.f)];"), Contains("resampling"));
    EXPECT_THAT(shapesOf("int row = keys[blockIdx.x];\nout[x] = a[row * m + threadIdx.x];"),
                Not(Contains("indirect")))
        << "the same row for all lanes";
    EXPECT_THAT(shapesOf("int s = x;\nfor (int r = 0; r < m; ++r) { counts[x] += a[s & 1023];\n"
                         "    s = (s + 64) & 1023; }"),
                Not(Contains("indirect")))
        << "an operator that is not followed is no load";
}

TEST(CodeShape, ProductsAndNeighbours) {
    const std::string sum = rowY + "float s = 0;\nfor (int k = 0; k < m; ++k) ";
    EXPECT_THAT(shapesOf(sum + "s += a[y * m + k] * b[k * n + x];\nout[y * n + x] = s;"),
                Contains("product"));
    EXPECT_THAT(shapesOf(sum + "{ float p = a[y * m + k], q = b[k * n + x]; s += p * q; }\n"
                               "out[y * n + x] = s;"),
                Contains("product"));
    EXPECT_THAT(shapesOf(sum + "{ float d = a[y * m + k] - b[k * n + x]; s += d * d; }\n"
                               "out[y * n + x] = s;"),
                Contains("pairwise"));
    EXPECT_THAT(shapesOf(rowY + "out[y * n + x] = a[y * n + x - 1] + a[y * n + x + 1] +\n"
                                "    a[(y - 1) * n + x] + a[(y + 1) * n + x];"),
                Contains("stencil"));
    EXPECT_THAT(
        shapesOf("float s = 0;\nfor (int k = -m; k <= m; ++k) s += taps[k + m] * a[x + k];\n"
                 "out[x] = s;"),
        Contains("line-stencil"));
    EXPECT_THAT(shapesOf("out[x] = a[x] + a[x + 1];"), Not(Contains("line-stencil")));
    EXPECT_THAT(
        shapesOf("float s = 0;\nfor (int j = 0; j < n; ++j) s += a[j] * b[x];\nout[x] = s;"),
        Contains("shared-walk"));
}

TEST(CodeShape, BranchesOnData) {
    const std::string work = "{ float v = sqrtf(a[x]); for (int i = 0; i < 99; ++i) v = v * v + i;"
                             " out[x] = v; }";
    EXPECT_THAT(shapesOf("for (int r = 0; r < m; ++r) if (keys[x + r * n] > 3) " + work),
                Contains("data-branch"));
    EXPECT_THAT(
        shapesOf("for (int r = 0; r < m; ++r) { const int other = keys[x + r * n];\n"
                 "    if (other >= 0) { float v = sqrtf(b[other]);\n"
                 "        for (int i = 0; i < 99; ++i) v = v * v + i;\n        out[x] += v; } }"),
        Not(Contains("data-branch")))
        << "it asks whether there is an element to load";
}

TEST(CodeShape, LoopsThatDataEnds) {
    EXPECT_THAT(shapesOf("float v = x;\nint i = 0;\nwhile (v < 4 && i < m) { v = v * v; ++i; }\n"
                         "counts[x] = i;"),
                Contains("data-loop"));
    EXPECT_THAT(
        shapesOf("float v = 0;\nfor (int i = 0; i < m && x * m + i < n; ++i) v = v * v + i;\n"
                 "out[x] = v;"),
        Not(Contains("data-loop")))
        << "the end of the data, not a number of the thread's own";
}

TEST(CodeShape, FactsOfADeviceFunctionAreAtTheCallToIt) {
    const auto model =
        parsedProgram("__device__ void rounds(int* counts, int x, float v, int m) {\n"
                      "    int i = 0;\n    while (v < 4 && i < m) { v = v * v; ++i; }\n"
                      "    counts[x] = i;\n}\n"
                      "__global__ void k(int* counts, int m) {\n"
                      "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "    rounds(counts, x, x, m);\n}\n");
    const WarpView warp(model, model.kernels.front());
    const CodeShape shape = codeShapeOf(warp);
    const ShapeFact* found = shape.find(shape::dataLoop);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->function, "rounds");
    EXPECT_EQ(model.source->slice(found->span), "rounds(counts, x, x, m)");
}

/// Counts the operations in the text of a kernel that calls `f(a[x], mode)` of these functions.
double operationsOf(const std::string& functions) {
    const auto model =
        parsedProgram(functions + "__global__ void k(const float* a, float* out, int mode) {\n"
                                  "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                  "    out[x] = f(a[x], mode);\n}\n");
    EXPECT_TRUE(model.diagnostics.empty()) << model.diagnostics.front().message;
    const WarpView warp(model, model.kernels.front());
    return codeShapeOf(warp).work.operations;
}

constexpr const char* withoutWork = "__device__ float f(float v, int mode) { return v; }\n";

TEST(CodeShape, AFunctionsWorkIsThatOfTheFunctionsItCalls) {
    const std::string called = "__device__ float square(float v) { return v * v; }\n"
                               "__device__ float cube(float v) { return v * v * v; }\n";
    const double before = operationsOf(withoutWork);
    EXPECT_DOUBLE_EQ(operationsOf(called + "__device__ float f(float v, int mode) {\n"
                                           "    return square(v) + cube(v);\n}\n"),
                     before + 4);
    EXPECT_GT(operationsOf("__device__ float f(float v, int mode) {\n"
                           "    return mode > 0 ? f(v, mode - 1) + 1 : v;\n}\n"),
              before)
        << "it ends where a function calls itself";
}

TEST(CodeShape, ASwitchCountsAsTheMeanOfItsCases) {
    const std::string called = "__device__ float square(float v) { return v * v; }\n"
                               "__device__ float fourth(float v) { v = v * v; return v * v; }\n";
    const double before = operationsOf(withoutWork);
    EXPECT_DOUBLE_EQ(operationsOf(called + "__device__ float f(float v, int mode) {\n"
                                           "    switch (mode) {\n"
                                           "    case 0: return v;\n"
                                           "    case 1: return square(v);\n"
                                           "    case 2: return fourth(v);\n"
                                           "    default: return v * v * v * v * v * v;\n"
                                           "    }\n}\n"),
                     before + 2);
}

TEST(CodeShape, Streams) {
    EXPECT_THAT(shapesOf("if (x < n) out[x] = a[x] + b[x];"), Contains("streaming"));
    EXPECT_THAT(shapesOf("for (; x < n; x += gridDim.x * blockDim.x) out[x] = a[x];"),
                Contains("streaming"));
    EXPECT_THAT(shapesOf("out[x] = a[keys[x]];"), Not(Contains("streaming")));
    EXPECT_THAT(shapesOf("if (x < n) out[x] = a[x] + b[x];"), Not(Contains("streaming-wide")));
}

TEST(CodeShape, Searches) {
    EXPECT_THAT(shapesOf("int i = 0;\nwhile (i < n && a[i] < b[x]) ++i;\ncounts[x] = i;"),
                Contains("linear-search"));
    EXPECT_THAT(shapesOf("int l = 0, h = n;\nwhile (l < h) { int c = (l + h) / 2;\n"
                         "    if (a[c] < b[x]) l = c + 1; else h = c; }\ncounts[x] = l;"),
                Contains("binary-search"));
    EXPECT_THAT(
        shapesOf("int at = x;\nfor (int s = 0; s < n; ++s) at = keys[at];\ncounts[x] = at;"),
        Contains("chase"));
    EXPECT_THAT(shapesOf("int at = 0;\nwhile (nodes[at].left >= 0)\n"
                         "    at = b[x] < nodes[at].split ? nodes[at].left : nodes[at].right;\n"
                         "counts[x] = at;"),
                Contains("tree-walk"));
}

TEST(CodeShape, Atomics) {
    EXPECT_THAT(shapesOf("if (x < n) atomicAdd(out, a[x]);"), Contains("one-address"));
    EXPECT_THAT(shapesOf("if (x < n && a[x] > 0) counts[1 + atomicAdd(counts, 1)] = x;"),
                Contains("counter"));
    EXPECT_THAT(shapesOf("if (x < n) atomicAdd(&counts[bytes[x]], 1);"), Contains("histogram"));
    EXPECT_THAT(shapesOf("if (x < n) atomicAdd(&counts[(int)(a[x] * 8)], 1);"),
                Contains("histogram"));
    EXPECT_THAT(shapesOf("if (x < n) atomicAdd(&out[keys[x]], a[x]);"),
                Contains("scatter-atomics"));
    EXPECT_THAT(shapesOf("if (threadIdx.x == 0) atomicAdd(out, a[x]);"),
                Not(Contains("one-address")));
}

TEST(CodeShape, SharedMemoryBetweenBarriers) {
    const std::string begin = "__shared__ float s[256];\nint t = threadIdx.x;\ns[t] = a[x];\n"
                              "__syncthreads();\n";
    EXPECT_THAT(shapesOf(begin + "for (int d = 128; d > 0; d /= 2) { if (t < d) s[t] += s[t + d];\n"
                                 "    __syncthreads(); }\nout[x] = s[t];"),
                Contains("shared-tree"));
    EXPECT_THAT(shapesOf(begin +
                         "for (int d = 1; d < 256; d *= 2) {\n"
                         "    float v = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += v;\n"
                         "    __syncthreads(); }\nout[x] = s[t];"),
                Contains("shared-scan"));
    EXPECT_THAT(shapesOf(begin +
                         "for (int k = 0; k < n; ++k) { float v = s[(t + 1) % 256];\n"
                         "    __syncthreads(); s[t] = v; __syncthreads(); }\nout[x] = s[t];"),
                Contains("steps"));
}

TEST(CodeShape, OnlyNamesThatAreKnown) {
    std::vector<std::string> known;
    for (const std::string_view name : shapeNames())
        known.emplace_back(name);
    EXPECT_THAT(known, IsSupersetOf(shapesOf(
                           rowY + "float s = 0;\n"
                                  "for (int k = 0; k < m; ++k) s += a[y * m + k] * b[k * n + x];\n"
                                  "out[y * n + x] = sinf(s);")));
}

} // namespace
} // namespace kernelskill::engine
