#include "analysis/nest/nest.h"
#include "analysis/nest/nest_text.h"
#include "analysis/nest/understanding.h"
#include "tests/analysis/nest/nests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::analysis::testing {
namespace {

using ::testing::HasSubstr;

TEST(Nest, SaysWhatAKernelDoes) {
    const ReadNest found = readBody("int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "if (i >= n) return;\n"
                                    "float sum = 0;\n"
                                    "for (int j = 0; j < m; ++j) sum += a[i * m + j] * b[j];\n"
                                    "c[i] = sum;");
    EXPECT_EQ(found.nodes(), "  rest if globalIdx.x < n\n"
                             "    float sum = 0;\n"
                             "        writes sum\n"
                             "    for j = 0 .. m - 1\n"
                             "      sum += a[i * m + j] * b[j];\n"
                             "          reads a[globalIdx.x][j], b[j]\n"
                             "          updates sum\n"
                             "          reduces by +\n"
                             "    c[i] = sum;\n"
                             "        reads sum\n"
                             "        writes c[globalIdx.x]\n");
}

TEST(Nest, ExitsAreGuardsOfWhatFollows) {
    const ReadNest found = readBody("int i = threadIdx.x;\n"
                                    "if (i == 0) { c[0] = 1; if (n > 3) return; c[1] = 2; }\n"
                                    "for (int j = 0; j < n; ++j) {\n"
                                    "  if (j == i || j > m) continue;\n"
                                    "  c[j] = 3;\n"
                                    "  if (a[j] < 0) break;\n"
                                    "  c[j + 1] = 4;\n"
                                    "}\n"
                                    "c[2] = 5;");
    const std::string text = found.nodes();
    EXPECT_THAT(text, HasSubstr("  if threadIdx.x == 0\n"
                                "    c[0] = 1;\n"
                                "        writes c[0]\n"
                                "    rest if n < 4\n"
                                "      c[1] = 2;\n"));
    EXPECT_THAT(text, HasSubstr("  rest if threadIdx.x != 0 || n < 4\n"));
    EXPECT_THAT(text, HasSubstr("rest if threadIdx.x != j && j < m + 1\n"));
    EXPECT_THAT(text, HasSubstr("rest if !(a[j] < 0)\n"));
    EXPECT_TRUE(found.loop("j").mayStop);
}

TEST(Nest, FollowsPointersThatMove) {
    EXPECT_EQ(
        readBody("const float* p = a + threadIdx.x * n; ++p; c[0] = *p; p -= 2; c[1] = p[m];")
            .accesses(),
        "a[threadIdx.x][1] if n >= 2; c[0]; a[threadIdx.x][m - 1] if m >= 1 if m < n + 1; c[1]");
    EXPECT_EQ(readBody("for (int j = 0; j < n; j += 2) { c[0] += *a; a += 2; }").accesses(),
              "a[j]; c[0]");
    EXPECT_EQ(readBody("float* q = c; for (int j = n - 1; j >= 0; --j) *q++ = a[j];").accesses(),
              "a[j]; c[n - j - 1]");
    EXPECT_EQ(readBody("const float4* v = reinterpret_cast<const float4*>(a) + threadIdx.x;"
                       "float4 x = *v; c[0] = x.x;")
                  .accesses(),
              "a[threadIdx.x]; c[0]");
}

TEST(Nest, CountsRoundsInEveryStyle) {
    const ReadNest grid = readBody("for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; "
                                   "i < n; i += (size_t)gridDim.x * blockDim.x) c[i] = a[i];");
    EXPECT_EQ(grid.loop("i").style, NestLoopStyle::GridStride);
    const ReadNest block = readBody("for (int i = threadIdx.y; i < n; i += blockDim.y) c[i] = 0;");
    EXPECT_EQ(block.loop("i").style, NestLoopStyle::BlockStride);
    EXPECT_EQ(block.loop("i").axis, 1);
    const ReadNest blocks = readBody("for (int i = blockIdx.x; i < n; i += gridDim.x) c[i] = 0;");
    EXPECT_EQ(blocks.loop("i").style, NestLoopStyle::BlocksOfGrid);
    const ReadNest warp = readBody("for (int i = threadIdx.x % 32; i < n; i += 32) c[i] = 0;");
    EXPECT_EQ(warp.loop("i").style, NestLoopStyle::WarpStride);
    const ReadNest serial = readBody("for (int i = threadIdx.x; i < n; i += 32) c[i] = 0;");
    EXPECT_EQ(serial.loop("i").style, NestLoopStyle::Serial);
    const ReadNest launched = readNest("__global__ void k(float* c, int n) {\n"
                                       "  for (int i = threadIdx.x; i < n; i += 32) c[i] = 0;\n}\n"
                                       "void f(float* c, int n) { k<<<n, 32>>>(c, n); }\n");
    EXPECT_EQ(launched.loop("i").style, NestLoopStyle::BlockStride);

    EXPECT_EQ(loopText(grid.nest, grid.loop("i")),
              "for i = globalIdx.x .. n - 1 step blockDim.x*gridDim.x   grid-stride x");
    const ReadNest halving = readBody(
        "for (int s = blockDim.x / 2; s > 0; s >>= 1) c[threadIdx.x] += c[threadIdx.x + s];");
    EXPECT_EQ(loopText(halving.nest, halving.loop("s")),
              "for s = (blockDim.x / 2) down to 1 by >>=");
    const ReadNest counted = readBody("while (n > 0) { c[n] = 0; n--; }");
    EXPECT_EQ(loopText(counted.nest, counted.loop("n'2")), "for n'2 = n down to 1");
    const ReadNest open = readBody("while (a[m] > 0) { m = m * 3; c[0] = a[m]; }");
    EXPECT_FALSE(open.loop("round").unknown.empty());
}

TEST(Nest, CountsWhatABoundOffsets) {
    const ReadNest ahead = readBody("int i = 0; for (; i + 3 < n; i += 4) c[i] = a[i + 3];");
    EXPECT_EQ(loopText(ahead.nest, ahead.loop("i")), "for i = 0 .. n - 4 step 4");
    const ReadNest down = readBody("int i = n; while (i - 2 > m) { i -= 3; c[i] = 0; }");
    EXPECT_EQ(loopText(down.nest, down.loop("i")), "for i = n down to m + 3 step -3");
    EXPECT_EQ(down.accesses(), "c[i - 3]");
}

TEST(Nest, PathsThatLeaveEarlyAreNotForgotten) {
    const ReadNest called = readNest(
        "__device__ void clamp(int& i, int n) { if (i < 0) { i = 0; return; } i = i + n; }\n"
        "__device__ void move(int& i, int n) { i = i + n; }\n"
        "__global__ void k(float* c, int n) {\n"
        "  int i = threadIdx.x - 3, j = threadIdx.x; clamp(i, n); move(j, n);\n"
        "  c[i] = 0; c[j] = 1;\n}\n");
    EXPECT_THAT(called.accesses(), HasSubstr("indirect; c[threadIdx.x + n]"));
    const ReadNest cased =
        readBody("int i = 0, j = 0; switch (m) { case 1: if (n > 3) break; i = 1; "
                 "break; default: j = 2; }\nc[i] = 0; c[j] = 1;");
    EXPECT_THAT(cased.accesses(), HasSubstr("c[i] indirect"));
    const ReadNest skipped =
        readBody("int k = 0; for (int i = 0; i < n; ++i) { if (i == m) continue; "
                 "c[k] = 0; k++; }");
    EXPECT_EQ(skipped.accesses(), "c[k~] indirect");
}

TEST(Nest, CopiesOfObjectsAreTheirOwn) {
    const ReadNest found =
        readNest("struct Size { int rows, columns; };\n"
                 "__device__ void fill(float* c, Size s) { s.rows = s.rows + 1; c[s.rows] = 0; }\n"
                 "__global__ void k(float* c, int n) {\n"
                 "  Size s; s.rows = n; s.columns = 2; fill(c, s); c[s.rows] = 1;\n}\n");
    EXPECT_EQ(found.accesses(), "c[n + 1]; c[n]");
}

TEST(Nest, CasesAreGuards) {
    const ReadNest found = readBody("switch (m) { case 1: c[1] = 0; break; case 2: c[2] = 0; "
                                    "case 3: case 4: c[3] = 0; break; default: c[4] = 0; }");
    const std::string text = found.nodes();
    EXPECT_THAT(text, HasSubstr("if m == 1\n"));
    EXPECT_THAT(text, HasSubstr("if m == 2\n"));
    EXPECT_THAT(text, HasSubstr("if m == 3 || m == 4 || m == 2\n"));
    EXPECT_THAT(text, HasSubstr("if m != 1 && m != 2 && m != 3 && m != 4\n"));
}

TEST(Nest, SplitsIndicesWhereGuardsAllow) {
    const char* position = "int j = blockIdx.x * blockDim.x + threadIdx.x; int i = threadIdx.y;";
    EXPECT_EQ(readBody(std::string(position) + "if (j < n) c[i * n + j] = 0;").accesses(),
              "c[threadIdx.y][globalIdx.x]");
    EXPECT_EQ(readBody(std::string(position) + "c[i * n + j] = 0;").accesses(),
              "c[threadIdx.y][globalIdx.x] if globalIdx.x < n");
    EXPECT_EQ(readBody(std::string(position) + "if (j < n) c[i * n + n - 1 - j] = 0;").accesses(),
              "c[threadIdx.y][-globalIdx.x + n - 1]");
    EXPECT_EQ(
        readBody(std::string(position) +
                 "if (j < n && i < m) for (int k = 0; k < 4; ++k) c[(k * m + i) * n + j] = 0;")
            .accesses(),
        "c[k][threadIdx.y][globalIdx.x]");
    EXPECT_EQ(
        readBody(std::string(position) + "if (j < n) c[(i + 1) * (n + 2) + j + 1] = 0;").accesses(),
        "c[threadIdx.y + 1][globalIdx.x + 1]");
    EXPECT_EQ(readBody("for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) c[i * j] = 0;")
                  .accesses(),
              "c[i*j] opaque");
}

TEST(Nest, TakesRowsForDimensionsAndNotSteps) {
    // Tiles that overlap: their step is no dimension.
    EXPECT_EQ(readBody("int y = blockIdx.y * (16 - 2 * m) + threadIdx.y;\n"
                       "int x = blockIdx.x * (16 - 2 * m) + threadIdx.x;\n"
                       "if (x >= 0 && x < n) c[y * n + x] = 0;")
                  .accesses(),
              "c[threadIdx.y + 16*blockIdx.y - 2*blockIdx.y*m]"
              "[threadIdx.x + 16*blockIdx.x - 2*blockIdx.x*m] parametric");
    // Rows with a margin.
    EXPECT_EQ(
        readBody("c[(n + 1) * 16 * blockIdx.y + (n + 1) * threadIdx.y + threadIdx.x + 1 + n + 1] "
                 "= 0;")
            .accesses(),
        "c[threadIdx.y + 16*blockIdx.y + 1][threadIdx.x + 1] if threadIdx.x < n");
    // A diagonal of tiles, walked backwards.
    EXPECT_EQ(readBody("int y = m - 1 - blockIdx.x; int x = blockIdx.x * 16 + threadIdx.x;\n"
                       "if (x < n) c[y * 16 * n + threadIdx.y * n + x] = 0;")
                  .accesses(),
              "c[threadIdx.y - 16*blockIdx.x + 16*m - 16][threadIdx.x + 16*blockIdx.x]");
    EXPECT_EQ(readBody("c[16 * n * (m - 1 - blockIdx.x) + 16 * blockIdx.x] = 0;").accesses(),
              "c[-16*blockIdx.x + 16*m - 16][16*blockIdx.x] if 16*blockIdx.x < n");
}

TEST(Nest, FollowsPointersThatHelpersReturn) {
    const ReadNest found = readNest(
        "template <typename T> struct Shared { __device__ T* get() { extern __shared__ T s[]; "
        "return s; } };\n"
        "template <> struct Shared<double> { __device__ double* get() { extern __shared__ "
        "double d[]; return d; } };\n"
        "template <typename T> __global__ void k(T* c) {\n"
        "  Shared<T> shared; T* s = shared.get(); s[threadIdx.x] = c[threadIdx.x];\n}\n");
    EXPECT_EQ(found.accesses(), "c[threadIdx.x]; s[threadIdx.x]");
}

TEST(Nest, KeepsQuotientsAndRemainders) {
    EXPECT_EQ(readBody("int t = threadIdx.x; c[t / 32 * 33 + t % 32] = a[(t >> 5) + (t & 31)];")
                  .accesses(),
              "a[(threadIdx.x / 32) + (threadIdx.x % 32)]; "
              "c[33*(threadIdx.x / 32) + (threadIdx.x % 32)]");
    EXPECT_EQ(readBody("int t = threadIdx.x; c[t % (2 * n)] = a[2 * n % t];").accesses(),
              "a[(2*n % threadIdx.x)]; c[(threadIdx.x % (2*n))]");
    EXPECT_EQ(readBody("int t = threadIdx.x; int i = t / n; c[t - i * n] = a[t % n];").accesses(),
              "a[(threadIdx.x % n)]; c[(threadIdx.x % n)]");
    EXPECT_EQ(readBody("int t = threadIdx.x; c[(8 * t + 3) / 4] = a[(8 * t + 3) % 4];").accesses(),
              "a[3]; c[2*threadIdx.x]");
}

TEST(Nest, ChoicesAreValues) {
    EXPECT_EQ(readBody("int i = threadIdx.x; int l = i > 0 ? i - 1 : 0; int r = min(i + 1, n - 1);"
                       "c[i] = a[l] + a[r];")
                  .accesses(),
              "a[max(0, threadIdx.x - 1)]; a[min(n - 1, threadIdx.x + 1)]; c[threadIdx.x]");
    const ReadNest merged = readBody("int i; if (n > 7) i = threadIdx.x; else i = m; c[i] = 0;");
    EXPECT_EQ(merged.accesses(), "c[(n >= 8 ? threadIdx.x : m)]");
    const ReadNest halo = readBody("int i = threadIdx.x; c[i] = i < n ? a[i] : 0.0f;");
    EXPECT_THAT(halo.nodes(), HasSubstr("reads a[threadIdx.x] if threadIdx.x < n"));
}

TEST(Nest, FollowsFieldsAndStructures) {
    const char* types = "struct Part { float3 at; float mass[4]; };\n"
                        "struct Grid { float* data; int width; __device__ float& operator()(int i, "
                        "int j) { return data[i * width + j]; } };\n";
    const ReadNest array =
        readNest(std::string(types) +
                 "__global__ void k(Part* p, int n) { int i = threadIdx.x; Part* q = &p[i]; "
                 "q->at.y = p[i + 1].mass[2]; }");
    EXPECT_EQ(array.accesses(), "p[threadIdx.x + 1][2].mass; p[threadIdx.x].at.y");
    const ReadNest grid =
        readNest(std::string(types) + "__global__ void k(Grid g) { int j = threadIdx.x; if (j < "
                                      "g.width) g.data[blockIdx.x * g.width + j] = 0; }");
    EXPECT_EQ(grid.accesses(), "g.data[blockIdx.x][threadIdx.x]");
}

TEST(Nest, InlinesDeviceFunctions) {
    const ReadNest found =
        readNest("__device__ int at(int i, int j, int n) { return i * n + j; }\n"
                 "template <int W> __device__ void add(const float* row, float& sum) {\n"
                 "  for (int k = 0; k < W; ++k) sum += row[k];\n}\n"
                 "template <typename T, int W> __global__ void k(const T* a, T* c, int n) {\n"
                 "  T s = 0; add<W>(a + threadIdx.x * n, s);\n"
                 "  if (threadIdx.x < n) c[at(blockIdx.x, threadIdx.x, n)] = s;\n}\n"
                 "void f(float* a, float* c, int n) { k<float, 8><<<1, 32>>>(a, c, n); }\n");
    EXPECT_EQ(found.loop("k").end, IndexExpression::constant(8));
    EXPECT_THAT(found.accesses(), HasSubstr("a[threadIdx.x][k]"));
    EXPECT_THAT(found.accesses(), HasSubstr("c[blockIdx.x][threadIdx.x]"));
    EXPECT_THAT(found.nodes(), HasSubstr("updates s\n"));
}

TEST(Nest, BarriersAreNodes) {
    const ReadNest found = readBody("__shared__ float tile[32][33];\n"
                                    "tile[threadIdx.y][threadIdx.x] = a[threadIdx.x];\n"
                                    "__syncthreads();\n"
                                    "c[threadIdx.y] = tile[threadIdx.x][threadIdx.y];");
    EXPECT_THAT(found.nodes(), HasSubstr("---- block barrier ----"));
    EXPECT_EQ(found.accesses(), "a[threadIdx.x]; tile[threadIdx.y][threadIdx.x]; "
                                "tile[threadIdx.x][threadIdx.y]; c[threadIdx.y]");
}

TEST(Nest, WhatIsLoadedIsIndirect) {
    EXPECT_EQ(readNest("__global__ void k(const int* ids, float* c) { c[ids[threadIdx.x]] = 0; }")
                  .accesses(),
              "ids[threadIdx.x]; c[[ids[threadIdx.x]]] indirect");
    const ReadNest carried = readBody("int k = 0; for (int i = 0; i < n; ++i) "
                                      "if (a[i] > 0) c[k++] = a[i];");
    EXPECT_THAT(carried.accesses(), HasSubstr("c[k~] indirect"));
}

TEST(Nest, OpaqueStatementsHaveReasons) {
    const auto reason = [](const std::string& text) {
        const ReadNest found = readNest(text);
        const NestUnderstanding understood = understandingOf(found.nest);
        return understood.reasons.empty() ? std::string("none") : understood.reasons.front();
    };
    EXPECT_EQ(
        reason("__device__ void f(float* p);\n__global__ void k(float* c) { f(c); c[0] = 1; }"),
        "calls 'f', whose code is not known");
    EXPECT_EQ(reason("__global__ void k(float* c) { asm volatile(\"membar.gl;\"); c[0] = 1; }"),
              "inline assembly");
    EXPECT_EQ(reason("__global__ void k(float* c) { auto f = [&] { c[1] = 2; }; f(); }"),
              "a lambda");
    EXPECT_EQ(reason("__global__ void k(float* c, int n) { for (int i = 0; i < n; ++i) "
                     "c[i * i] = 1; }"),
              "the index has a product of numbers that vary");
    EXPECT_EQ(reason("__global__ void k(float* c) { c[threadIdx.x] = 1; }"), "none");
}

TEST(Nest, OpaqueStatementsLeaveTheRestUnderstood) {
    const ReadNest found = readNest("__device__ void f(float* p);\n"
                                    "__global__ void k(float* c, int n) {\n"
                                    "  f(c);\n"
                                    "  for (int i = 0; i < n; ++i) c[i] = 1;\n}\n");
    const NestUnderstanding understood = understandingOf(found.nest);
    EXPECT_EQ(understood.statements, 2U);
    EXPECT_EQ(understood.opaque, 1U);
    EXPECT_EQ(understood.hotOpaque, 0U);
}

TEST(Nest, PointersLeaveThePartThatTheyWereTakenOf) {
    const auto accesses = [](const std::string& body) {
        return readNest("struct Item { float3 position; float weights[4]; };\n"
                        "__global__ void k(float4* v, Item* items, float* c) {\n"
                        "  int i = threadIdx.x;\n" +
                        body + "\n}\n")
            .accesses();
    };
    EXPECT_EQ(accesses("const float* p = &v[i].z; c[i] = p[3];"),
              "v[4*threadIdx.x + 5]; c[threadIdx.x]");
    EXPECT_EQ(accesses("const float* p = &v[i].z; c[i] = p[0];"),
              "v[threadIdx.x].z; c[threadIdx.x]");
    EXPECT_EQ(accesses("float2* p = (float2*)&v[i].z; c[i] = p[1].x;"),
              "v[2*threadIdx.x + 2].x; c[threadIdx.x]");
    EXPECT_THAT(accesses("float* p = &items[i].position.x; c[i] = p[1];"), HasSubstr("opaque"));
    EXPECT_THAT(accesses("float* p = items[i].weights; c[i] = *(p + 1);"), HasSubstr("opaque"));
    EXPECT_THAT(accesses("float* p = items[i].weights; c[i] = p[1];"),
                ::testing::Not(HasSubstr("opaque")));
}

TEST(Nest, PointersOfSeveralArraysAccessEach) {
    EXPECT_THAT(readBody("const float* p = n > 3 ? a : b; c[0] = p[m];").nodes(),
                HasSubstr("reads a[m] if n >= 4, b[m] if n < 4\n"));
    EXPECT_THAT(readBody("const float* p = a; if (n > 3) p = b + 1; c[0] = p[m];").nodes(),
                HasSubstr("reads b[m + 1] if n >= 4, a[m] if n < 4\n"));
    EXPECT_THAT(
        readBody("const float* p = a; const float* q = b;\n"
                 "for (int k = 0; k < n; ++k) { c[k] = p[k]; const float* o = p; p = q; q = o; }")
            .nodes(),
        HasSubstr("reads a[k] if p points to a, b[k] if p points to b\n"));
}

TEST(Nest, FunctionsNamedAsAtomicsAreFollowedWhereTheirCodeIsKnown) {
    const ReadNest found =
        readNest("__device__ void atomicLargest(float* place, float value) {\n"
                 "  if (*place < value) *place = value;\n}\n"
                 "__global__ void k(float* c) { atomicLargest(c + threadIdx.x, 1.0f); }\n");
    EXPECT_EQ(found.accesses(), "c[threadIdx.x]; c[threadIdx.x]");
    for (const NestAccess& access : found.nest.accesses)
        EXPECT_NE(access.kind, AccessKind::Atomic);
}

TEST(Nest, HashesDoNotGrowWithoutEnd) {
    std::string body = "unsigned x = n, y = m;\n";
    for (int i = 0; i < 200; ++i)
        body += "x = (x ^ (y >> 3)) * 5u + y % 7u; y = (y | x) & (x + y);\n";
    const ReadNest found = readBody(body + "c[x] = y;");
    EXPECT_THAT(found.accesses(), HasSubstr("indirect"));
    EXPECT_LT(found.accesses().size(), 1000U);
}

} // namespace
} // namespace kernelskill::analysis::testing
