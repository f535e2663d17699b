#include "engine/inputs/trial.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view scale =
    "__global__ void scale(float* x, int n, float f) { int i = blockIdx.x * blockDim.x + "
    "threadIdx.x; if (i < n) x[i] *= f; }\n";

TEST(LaunchInference, aPointerIntoAnArrayKeepsItsAlignment) {
    const auto shiftsWith = [](const std::string& argument) {
        const auto launch = bestLaunch(std::string(scale) +
                                       "int main() { const int n = 100; float* x; "
                                       "cudaMalloc(&x, 4 * n); scale<<<1, 32>>>(" +
                                       argument + ", 32, 2.f); }");
        const auto* buffer = std::get_if<BufferSpec>(&launch.arguments.at(0));
        return buffer == nullptr ? 999u : buffer->shift;
    };
    EXPECT_EQ(shiftsWith("x"), 0u);
    EXPECT_EQ(shiftsWith("x + 1"), 1u);
    EXPECT_EQ(shiftsWith("n / 20 + x"), 5u);
    EXPECT_EQ(shiftsWith("&x[n - 1]"), 35u);
    EXPECT_EQ(shiftsWith("x + 64"), 0u);
    EXPECT_EQ(shiftsWith("x + n - 1"), 35u);
    EXPECT_EQ(shiftsWith("x + 64 - 1"), 63u);
    EXPECT_EQ(shiftsWith("x + rand()"), 0u);
}

TEST(LaunchInference, unknownSizesAreGuessedFromTheirNamesAndSaidSo) {
    const auto launch =
        bestLaunch(std::string(scale) +
                   "void run(float* x, int N) { scale<<<(N + 127) / 128, 128>>>(x, N, 3.f); }\n");
    EXPECT_EQ(launch.origin, LaunchOrigin::Guessed);
    EXPECT_EQ(launch.block, (Dim3{128, 1, 1}));
    EXPECT_EQ(scalarNamed(launch, "n")->integer, 4096);
    EXPECT_EQ(launch.grid, (Dim3{32, 1, 1}));
    EXPECT_EQ(scalarNamed(launch, "f")->floating, 3.0);
    EXPECT_THAT(launch.notes, ::testing::Contains(HasSubstr("N = 4096")));
}

constexpr const char* product =
    "__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {\n"
    "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  if (y >= m || x >= n) return;\n"
    "  float sum = 0;\n"
    "  for (int i = 0; i < k; ++i) sum += a[y * k + i] * b[i * n + x];\n"
    "  c[y * n + x] = sum; }\n";

TEST(LaunchInference, whatALoopCountsUpToIsALengthWhateverItsName) {
    EXPECT_EQ(scalarNamed(bestLaunch(product), "k")->integer, 64);
    const auto launched = bestLaunch(
        std::string(product) +
        "void run(float* a, float* b, float* c, int m, int n, unsigned i) {\n"
        "  product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, i); }\n");
    EXPECT_EQ(scalarNamed(launched, "k")->integer, 64);
    EXPECT_THAT(launched.notes, ::testing::Contains(HasSubstr("i = 64")));
}

TEST(LaunchInference, whatALoopOfACalledFunctionCountsUpToIsALength) {
    const auto launch =
        bestLaunch("__device__ float dot(const float* a, const float* b, int step, int k) {\n"
                   "  float sum = 0; for (int p = 0; p < k; ++p) sum += a[p] * b[p * step];\n"
                   "  return sum; }\n"
                   "__device__ float twice(const float* a, const float* b, int step, int q) {\n"
                   "  return 2 * dot(a, b, step, q); }\n"
                   "__global__ void product(float* a, float* b, float* c, int m, int n, int z) {\n"
                   "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                   "  if (y >= m || x >= n) return;\n"
                   "  c[y * n + x] = twice(a + y * z, b + x, n, (int)z); }\n");
    EXPECT_EQ(scalarNamed(launch, "z")->integer, 64);
}

TEST(LaunchInference, aLengthStaysWithinTheTableThatTheLoopWalks) {
    const auto launch =
        bestLaunch("__constant__ float centres[32 * 4];\n"
                   "__global__ void nearest(const float* x, float* out, int n, int k) {\n"
                   "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
                   "  float best = 1e9f;\n"
                   "  for (int c = 0; c < k; ++c) for (int j = 0; j < 4; ++j)\n"
                   "    best = fminf(best, fabsf(x[i] - centres[c * 4 + j]));\n"
                   "  out[i] = best; }\n");
    EXPECT_EQ(scalarNamed(launch, "k")->integer, 32);
}

TEST(LaunchInference, whatAPositionIsCheckedAgainstIsALengthWhateverItsName) {
    const auto row = bestLaunch("__global__ void scale(float* x, int cells) {\n"
                                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "  if (i >= cells) return;\n"
                                "  x[i] *= 2; }\n"
                                "void run(float* x, int cells) {\n"
                                "  scale<<<(cells + 255) / 256, 256>>>(x, cells); }\n");
    EXPECT_EQ(scalarNamed(row, "cells")->integer, 1024);
    EXPECT_EQ(row.grid.x, 4u);
    const auto plane = bestLaunch("__global__ void scale(float* x, int k, int q) {\n"
                                  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                  "  int j = blockIdx.y * blockDim.y + threadIdx.y;\n"
                                  "  if (i < k && j < q) x[j * k + i] *= 2; }\n");
    EXPECT_EQ(scalarNamed(plane, "k")->integer, 64);
    EXPECT_EQ(scalarNamed(plane, "q")->integer, 64);
}

TEST(LaunchInference, whatLiesBetweenRowsOfAnArrayIsALengthWhateverItsName) {
    const auto launch =
        bestLaunch("__global__ void shift(const float* in, float* out, int jump, int side) {\n"
                   "    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;\n"
                   "    out[jump * y + x] = in[jump * y + x] + side;\n"
                   "}\n"
                   "void run(const float* in, float* out, int across, int up) {\n"
                   "    shift<<<dim3((across + 15) / 16, (up + 15) / 16), dim3(16, 16)>>>(in, out, "
                   "across, up);\n"
                   "}\n");
    EXPECT_EQ(scalarNamed(launch, "jump")->integer, 64);
    EXPECT_EQ(scalarNamed(launch, "side")->integer, 1);
    EXPECT_EQ(launch.grid, (Dim3{4, 1, 1}));
}

TEST(LaunchInference, whatAConditionKeepsPositionsBelowIsALengthAlsoInAMacro) {
    const auto launch =
        bestLaunch("#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))\n"
                   "__global__ void halo(float* p, int across, int border) {\n"
                   "    int x = 12 * blockIdx.x - border + threadIdx.x;\n"
                   "    if (IN_RANGE(x, 0, across - 1)) p[x] *= 2;\n"
                   "}\n"
                   "void run(float* p, int across, int border) { halo<<<across / 12, 16>>>(p, "
                   "across, border); }\n");
    EXPECT_EQ(scalarNamed(launch, "across")->integer, 64);
    EXPECT_EQ(scalarNamed(launch, "border")->integer, 1);
    EXPECT_EQ(launch.grid, (Dim3{5, 1, 1}));
}

TEST(LaunchInference, aGridOfUnknownNamesHasSeveralBlocksAlongEachAxis) {
    const std::string kernel =
        "__global__ void pairs(const float* a, float* c, int rights) {\n"
        "  if (threadIdx.x == 0) c[blockIdx.y * rights + blockIdx.x] = a[blockIdx.x]; }\n";
    for (const char* launch : {"pairs<<<dim3(rights, lefts), 256>>>(a, c, rights);",
                               "dim3 grid(rights, lefts); pairs<<<grid, 256>>>(a, c, rights);"}) {
        const auto spec = bestLaunch(
            kernel + "void run(float* a, float* c, int lefts, int rights) { " + launch + " }\n");
        EXPECT_EQ(spec.grid, (Dim3{24, 24, 1})) << launch;
        EXPECT_EQ(scalarNamed(spec, "rights")->integer, 24) << launch;
    }
}

TEST(LaunchInference, aGuessedGridReachesTheBoundsOfTheKernel) {
    const std::string kernel =
        "__global__ void add(float* x, const float* bias, int rows, int columns) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < rows * columns) x[i] += bias[i % columns];\n"
        "}\n";
    const auto launch =
        bestLaunch(kernel + "void run(float* x, float* b, int n, int height, int width) {\n"
                            "    add<<<(n + 255) / 256, 256>>>(x, b, height, width);\n}\n");
    EXPECT_EQ(launch.grid.x * 256, scalarNamed(launch, "rows")->integer.value() *
                                       scalarNamed(launch, "columns")->integer.value());
    const auto passed =
        bestLaunch(kernel + "void run(float* x, float* b, int height, int width) {\n"
                            "    add<<<height / 256, 256>>>(x, b, height, width);\n}\n");
    EXPECT_EQ(passed.grid.x, 1u);
}

TEST(LaunchInference, aGuessedGridOfAnEditFollowsThatOfTheOriginal) {
    const std::string host = "void run(float* x, float* b, int n, int height, int width) {\n"
                             "    add<<<(n + 255) / 256, 256>>>(x, b, height, width);\n}\n";
    const std::string head =
        "__global__ void add(float* x, const float* bias, int rows, int columns) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
    const auto before =
        parsedProgram(head + "    if (i < rows * columns) x[i] += bias[i % columns];\n}\n" + host);
    const auto gridOf = [&](const std::string& text) {
        const auto after = parsedProgram(text);
        const auto plan = planTrials({before, before.kernels.at(0)}, {after, after.kernels.at(0)});
        EXPECT_TRUE(plan) << plan.error().describe();
        return std::pair(plan->trials.front().original.grid.x,
                         plan->trials.front().candidate.grid.x);
    };
    const auto [own, without] = gridOf(
        head + "    for (; i < 9; ++i) break;\n    if (rows * columns > i) x[i] += 1;\n}\n" + host);
    EXPECT_EQ(own, 32u);
    EXPECT_EQ(without, own);
    const auto [same, halves] =
        gridOf(head + "    if (i < rows * columns) x[i] += bias[i % columns];\n}\n" +
               "void run(float* x, float* b, int n, int height, int width) {\n"
               "    add<<<(n + 127) / 128, 128>>>(x, b, height, width);\n}\n");
    EXPECT_EQ(same, 32u);
    EXPECT_EQ(halves, 64u);
}

TEST(LaunchInference, aDivisorOfUnknownNameStaysOne) {
    const auto spec =
        bestLaunch("__global__ void each(float* c, int n, int per) {\n"
                   "  int i = blockIdx.x * per + threadIdx.x; if (i < n) c[i] = 1; }\n"
                   "void run(float* c, int n, int per) { each<<<n / per, 256>>>(c, n, per); }\n");
    EXPECT_EQ(scalarNamed(spec, "per")->integer, 1);
}

TEST(LaunchInference, aPositionStaysOneWhereNothingCountsUpToIt) {
    const auto launch =
        bestLaunch("__global__ void column(const float* a, float* c, int n, int k) {\n"
                   "  int y = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "  for (int i = k; i < n; ++i) if (y < n) c[y] += a[y * n + k]; }\n");
    EXPECT_EQ(scalarNamed(launch, "k")->integer, 0);
}

TEST(LaunchInference, aKernelWithoutLaunchFollowsItsOwnIndices) {
    const auto launch =
        bestLaunch("__global__ void add(const float* a, float* c, int width, int height) {\n"
                   "  int x = blockIdx.x * blockDim.x + threadIdx.x; int y = blockIdx.y * "
                   "blockDim.y + threadIdx.y;\n"
                   "  if (x < width && y < height) c[y * width + x] = a[y * width + x]; }\n");
    EXPECT_EQ(launch.origin, LaunchOrigin::Guessed);
    EXPECT_EQ(launch.block, (Dim3{16, 16, 1}));
    EXPECT_EQ(launch.grid.x,
              (static_cast<std::uint32_t>(*scalarNamed(launch, "width")->integer) + 15) / 16);
    EXPECT_EQ(launch.grid.y,
              (static_cast<std::uint32_t>(*scalarNamed(launch, "height")->integer) + 15) / 16);
}

TEST(LaunchInference, aBoundOfSeveralAxesIsSharedAmongThem) {
    const auto tiles = bestLaunch(R"(
__global__ void slopes(const float* a, float* c, int columns, int rows) {
    int index = columns * 16 * blockIdx.y + 16 * blockIdx.x + columns * threadIdx.y + threadIdx.x;
    int below = index + columns;
    if (index >= rows * columns || below >= rows * columns)
        return;
    c[index] = a[below] - a[index];
})");
    const auto extent = [](const LaunchSpec& launch, const char* name) {
        return static_cast<std::uint32_t>(*scalarNamed(launch, name)->integer);
    };
    EXPECT_EQ(tiles.block, (Dim3{16, 16, 1}));
    EXPECT_EQ(tiles.grid, (Dim3{extent(tiles, "columns") / 16, extent(tiles, "rows") / 16, 1}));
    const auto flat = bestLaunch(R"(
__global__ void add(float* c, int n) {
    int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (i < n)
        c[i] += 1;
})");
    EXPECT_EQ(flat.grid, (Dim3{(extent(flat, "n") + 255) / 256, 4, 1}));
    const auto own = bestLaunch(R"(
__global__ void scale(float* c, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int i = y * width + x;
    if (i >= width * height || x >= width)
        return;
    c[i] *= 2;
})");
    EXPECT_EQ(own.grid, (Dim3{extent(own, "width") / 16, extent(own, "height") / 16, 1}));
}

TEST(LaunchInference, launchBoundsAndSharedArraysShapeTheBlock) {
    EXPECT_EQ(
        bestLaunch(
            "__global__ void __launch_bounds__(64) k(float* x, int n) { x[threadIdx.x] = n; }")
            .block.x,
        64u);
    EXPECT_EQ(bestLaunch("__global__ void k(float* x) { __shared__ float s[96]; s[threadIdx.x] = "
                         "1; x[threadIdx.x] = s[0]; }")
                  .block.x,
              96u);
}

TEST(LaunchInference, aGuessedBlockFitsTheSharedArraysThatItIndexes) {
    const auto halo = bestLaunch(R"(
__global__ void fdtd(float* out, const float* in, int nx) {
    __shared__ float tile[9][9];
    int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty + 1][tx + 1] = in[(blockIdx.y * blockDim.y + ty) * nx + blockIdx.x * blockDim.x + tx];
    __syncthreads();
    out[ty * nx + tx] = tile[ty][tx];
})");
    EXPECT_EQ(halo.block, (Dim3{8, 8, 1}));
    const auto rows = bestLaunch(R"(
#define SIDE 16
__global__ void wavefront(int* m, int cols) {
    __shared__ int before[SIDE + 1][SIDE + 1];
    __shared__ int now[SIDE][SIDE];
    int column = threadIdx.x;
    for (int row = 0; row < SIDE; ++row)
        now[row][column] = m[row * cols + column];
    before[column + 1][0] = m[cols * column];
    __syncthreads();
    m[column] = now[0][column] + before[column][0];
})");
    EXPECT_EQ(rows.block, (Dim3{16, 1, 1}));
    // A buffer that some threads alone touch says nothing of the others.
    const auto partial = bestLaunch(R"(
__global__ void convolve(float* out, const float* in, const float* taps) {
    __shared__ float t[5];
    if (threadIdx.x < 5)
        t[threadIdx.x] = taps[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x] * t[2];
})");
    EXPECT_EQ(partial.block.x, 256u);
}

TEST(LaunchInference, tablesAreEmptyWhereTheKernelLooksForAnEmptyPlace) {
    const auto insert = bestLaunch(R"(
struct Entry { unsigned key, value; };
const unsigned kEmpty = 0xffffffff;
__global__ void insert(Entry* table, int* locks, const unsigned* keys, int n) {
    unsigned slot = keys[threadIdx.x];
    while (atomicCAS(&locks[slot], 0, 1) != 0) {}
    while (true) {
        unsigned before = atomicCAS(&table[slot].key, kEmpty, keys[threadIdx.x]);
        if (before == kEmpty)
            return;
        slot = (slot + 1) % n;
    }
})");
    ASSERT_NE(bufferNamed(insert, "table"), nullptr);
    EXPECT_EQ(bufferNamed(insert, "table")->fill, Fill::Constant);
    EXPECT_EQ(bufferNamed(insert, "table")->value, 4294967295.0);
    EXPECT_EQ(bufferNamed(insert, "locks")->fill, Fill::Constant);
    EXPECT_EQ(bufferNamed(insert, "locks")->value, 0.0);
    EXPECT_EQ(bufferNamed(insert, "keys")->fill, Fill::Random);

    const auto lookup = bestLaunch(R"(
#define EMPTY -1
__global__ void lookup(const int* table, const int* other, int* out, int n) {
    int slot = threadIdx.x;
    while (table[slot] != EMPTY && table[slot] != slot)
        slot = (slot + 1) % n;
    if (other[slot] == EMPTY)
        out[slot] = 1;
})");
    EXPECT_EQ(bufferNamed(lookup, "table")->value, -1.0);
    EXPECT_EQ(bufferNamed(lookup, "other")->fill, Fill::Random);

    // An addition made of exchanges expects no constant.
    const auto add = bestLaunch(R"(
__global__ void add(unsigned long long* sum) {
    unsigned long long old = *sum, assumed;
    do {
        assumed = old;
        old = atomicCAS(sum, assumed, assumed + 1);
    } while (assumed != old);
})");
    EXPECT_EQ(bufferNamed(add, "sum")->fill, Fill::Random);
}

TEST(LaunchInference, allocationsSizeTheBuffers) {
    const auto launch = bestLaunch(
        std::string(scale) + "void run(float* data, int n) { scale<<<1, 32>>>(data, n, 1.f); }\n"
                             "int main() { int n = 100; float* d; cudaMalloc((void**)&d, n * "
                             "sizeof(float)); run(d, n); }\n");
    ASSERT_NE(bufferNamed(launch, "x"), nullptr);
    EXPECT_EQ(bufferNamed(launch, "x")->elements, 100u);
}

TEST(LaunchInference, theAllocationOfAnotherFunctionsPointerSizesNothing) {
    const auto elementsIn = [](const std::string& host) {
        return bufferNamed(bestLaunch(std::string(scale) + host), "x")->elements;
    };
    const std::string other =
        "void single(int n) { float* d; cudaMalloc(&d, 18 * sizeof(float)); }\n";
    EXPECT_FALSE(elementsIn(other + "void run(int n, int load) { float* d; cudaMalloc(&d, load * "
                                    "sizeof(float)); scale<<<n, 32>>>(d, n, 1.f); }\n"));
    EXPECT_EQ(elementsIn("float* d;\nvoid allocate() { cudaMalloc(&d, 18 * sizeof(float)); }\n"
                         "void run(int n) { scale<<<n, 32>>>(d, n, 1.f); }\n"),
              18u);
}

TEST(LaunchInference, limitsOfSearchesBoundWhatMayBeReadAhead) {
    const auto launch = bestLaunch(
        "__global__ void find(const float* table, const int* rest, int* found, int n) {\n"
        "    int x;\n    for (x = 0; x < n; ++x) {\n"
        "        if (table[2 * x] > 0.5f) break;\n"
        "        if (rest[x] == 3) break;\n    }\n"
        "    for (int i = 0; i < n; ++i) found[i] = x;\n}\n");
    std::int64_t length = 0;
    for (const ArgumentSpec& argument : launch.arguments)
        if (const auto* scalar = std::get_if<ScalarSpec>(&argument))
            length = scalar->integer.value_or(0);
    ASSERT_GT(length, 1);
    EXPECT_EQ(bufferNamed(launch, "table")->minElements,
              static_cast<std::uint64_t>(2 * (length - 1) + 1));
    EXPECT_EQ(bufferNamed(launch, "rest")->minElements, 0U);
    const auto inHead = bestLaunch(
        "__global__ void find(const float* edges, const float* more, int* found, int n) {\n"
        "    int x = 0;\n    while (x < n && edges[x + 1] < 0.5f && more[x] > 0)\n"
        "        ++x;\n    found[threadIdx.x] = x;\n}\n");
    EXPECT_GT(bufferNamed(inHead, "edges")->minElements, 2U);
    EXPECT_EQ(bufferNamed(inHead, "more")->minElements, 0U);
    EXPECT_EQ(bufferNamed(launch, "found")->minElements, 0U);
}

TEST(LaunchInference, allocationsOfGuessedSizesBoundWhatMayBeReadAhead) {
    const auto launch =
        bestLaunch("__global__ void find(const float* table, int* found, int count) {\n"
                   "    for (int x = 0; x < count; ++x)\n"
                   "        if (table[x] > 0.5f) { found[threadIdx.x] = x; break; }\n}\n"
                   "int askUser();\n"
                   "int main() { int count = askUser(); float* table; int* found;\n"
                   "    cudaMalloc((void**)&table, sizeof(float) * count);\n"
                   "    cudaMalloc((void**)&found, sizeof(int) * 32);\n"
                   "    find<<<count / 32, 32>>>(table, found, count); }\n");
    const BufferSpec* table = bufferNamed(launch, "table");
    ASSERT_NE(table, nullptr);
    EXPECT_FALSE(table->elements);
    ASSERT_GT(table->minElements, 0U);
    const auto elementsWith = [&](bool written) {
        const LaunchSpec sized = withExtents(
            launch, {{.name = "table", .elements = 1, .read = true, .written = written}});
        return bufferNamed(sized, "table")->elements;
    };
    EXPECT_EQ(elementsWith(false), table->minElements);
    EXPECT_EQ(elementsWith(true), 1U) << "results have the extent that the original wrote";
}

TEST(LaunchInference, hugeLaunchesAreScaledDownConsistently) {
    const auto launch = bestLaunch(
        std::string(scale) +
        "int main() { int n = 1 << 30; float* x; cudaMalloc(&x, n * sizeof(float));\n"
        "const int threads = 256; scale<<<(n + threads - 1) / threads, threads>>>(x, n, 1.f); }\n");
    EXPECT_EQ(launch.block.x, 256u);
    const auto n = scalarNamed(launch, "n")->integer.value_or(0);
    EXPECT_LE(launch.grid.count() * 256, 64u << 20);
    EXPECT_EQ(launch.grid.x, (static_cast<std::uint32_t>(n) + 255) / 256);
    EXPECT_EQ(bufferNamed(launch, "x")->elements, static_cast<std::uint64_t>(n));
    EXPECT_THAT(launch.notes, ::testing::Contains(HasSubstr("scaled down")));
}

TEST(LaunchInference, indicesStayInRangeAndOffsetsRise) {
    const auto launch = bestLaunch(
        "__global__ void spmv(const int* rowPtr, const int* col, const float* val, const float* x, "
        "float* y, int rows) {\n"
        "  int r = blockIdx.x * blockDim.x + threadIdx.x; if (r >= rows) return; float s = 0;\n"
        "  for (int j = rowPtr[r]; j < rowPtr[r + 1]; ++j) s += val[j] * x[col[j]]; y[r] = s; }\n");
    EXPECT_EQ(bufferNamed(launch, "rowPtr")->fill, Fill::Iota);
    EXPECT_EQ(bufferNamed(launch, "col")->fill, Fill::Random);
    EXPECT_EQ(bufferNamed(launch, "col")->integerRange, scalarNamed(launch, "rows")->integer);
}

TEST(LaunchInference, indicesStayInAnArrayWhoseLengthIsStated) {
    constexpr std::string_view host =
        "int main() { int n = 4096; int* keys; cudaMalloc(&keys, n * sizeof(int)); int* bins;\n"
        "cudaMalloc(&bins, 100 * sizeof(int)); count<<<n / 256, 256>>>(keys, bins, n); }\n";
    const auto rangeWith = [&](std::string_view statement) {
        const auto launch =
            bestLaunch("__global__ void count(const int* keys, int* bins, int n) {\n"
                       "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {" +
                       std::string(statement) + "} }\n" + std::string(host));
        return bufferNamed(launch, "keys")->integerRange;
    };
    EXPECT_EQ(rangeWith("atomicAdd(&bins[keys[i]], 1);"), 100);
    EXPECT_EQ(rangeWith("int key = keys[i]; bins[key] = 1;"), 100);
    EXPECT_EQ(rangeWith("bins[keys[i] / 64] = 1;"), 4096) << "what the rest does is not known";
}

TEST(LaunchInference, templateArgumentsComeFromTheLaunch) {
    const auto launch =
        bestLaunch("template <typename T, int B> __global__ void k(T* x) { x[threadIdx.x] = B; }\n"
                   "template <typename U> void run(U* x) { const int size = 64; k<U, 2 * "
                   "size><<<1, size>>>(x); }\n"
                   "int main() { run<float>(0); }\n");
    EXPECT_EQ(launch.templateArguments, (std::vector<std::string>{"float", "128"}));
    EXPECT_EQ(bufferNamed(launch, "x")->elementBytes, 4u);
}

TEST(LaunchInference, nestedTemplateArgumentsKeepTheirBrackets) {
    const auto launch = bestLaunch(
        "template <typename T> struct Square { __device__ T operator()(T x) { return x * x; } };\n"
        "template <typename T, typename Op> __global__ void k(T* x, Op op) { x[0] = op(x[1]); }\n"
        "int main() { k<float, Square<float>><<<1, 32>>>(0, Square<float>()); }\n");
    EXPECT_EQ(launch.templateArguments, (std::vector<std::string>{"float", "Square<float>"}));
}

TEST(LaunchInference, aClassWithoutANamespaceOfItsOwnIsNamedAsTheFileMay) {
    const auto launch = bestLaunch(
        "namespace { struct Low { __device__ bool operator()(float v) const { return v < 1; } };\n"
        "template <typename P> __global__ void k(float* x, P p) { x[0] = p(x[1]); } }\n"
        "int main() { k<<<1, 32>>>((float*)0, Low{}); }\n");
    EXPECT_EQ(launch.templateArguments, std::vector<std::string>{"Low"});
}

TEST(LaunchInference, aDefaultOfATemplateParameterIsOneOfTheArgumentsBeforeIt) {
    const auto launch =
        bestLaunch("template <typename T> struct Wide { using Type = double; };\n"
                   "template <typename T, int n = sizeof(T), typename W = typename Wide<T>::Type>\n"
                   "__global__ void k(T* x) { W w = n; x[threadIdx.x] = w; }\n");
    EXPECT_EQ(launch.templateArguments,
              (std::vector<std::string>{"float", "sizeof(float)", "typename Wide<float>::Type"}));
}

TEST(LaunchInference, templateArgumentsComeThroughTemplatesOfTheHost) {
    const auto launch = bestLaunch(
        "enum class Mode { Plain, Fancy };\n"
        "__device__ double twice(double x) { return 2 * x; }\n"
        "template <double (*op)(double), typename T, int width, Mode mode>\n"
        "__global__ void k(T* x) { x[threadIdx.x] = op(x[threadIdx.x]) + width + (mode == "
        "Mode::Plain); }\n"
        "template <typename T, double (*function)(double), int size>\n"
        "void launch(T* x) { k<function, T, 2 * size, Mode::Fancy><<<1, 32>>>(x); }\n"
        "template <double (*f)(double)> void outer(double* x) { launch<double, f, 8>(x); }\n"
        "int main() { outer<twice>(0); }\n");
    EXPECT_EQ(launch.templateArguments,
              (std::vector<std::string>{"twice", "double", "16", "Mode::Fancy"}));
}

TEST(LaunchInference, aPinnedInstanceIsForWhatItsLaunchIsFor) {
    const auto launch = bestLaunch(
        "// kernelskill: launch twice<<<{(n + 63) / 64}, {64}>>>(n=17)\n"
        "template <int known> __global__ void twice(float* x, int n) { if (known > 0) n = known; "
        "int "
        "i = blockIdx.x * 64 + threadIdx.x; if (i < n) x[i] *= 2; }\n"
        "void run(float* x, int n) { if (n == 17) twice<17><<<(n + 63) / 64, 64>>>(x, n); else "
        "twice<0><<<(n + 63) / 64, 64>>>(x, n); }\n");
    EXPECT_EQ(launch.origin, LaunchOrigin::Pinned);
    EXPECT_EQ(launch.templateArguments, std::vector<std::string>{"17"});
    EXPECT_EQ(launch.madeFor.at("n"), 17);
}

TEST(LaunchInference, aGuessedLaunchIsOfTheInstanceThatTheProgramComesTo) {
    const std::string kernel =
        "template <int known> __global__ void spread(float* x, int n, int size) { if (known > 0) "
        "size = known; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) for (int l = 0; "
        "l < size; ++l) x[i] += l; }\ndim3 gridOf(int n);\n";
    const auto launch = bestLaunch(kernel + "void run(float* x, int n, int size) { if (size == 5) "
                                            "spread<5><<<gridOf(n), 256>>>(x, n, size); else "
                                            "spread<0><<<gridOf(n), 256>>>(x, n, size); }\n");
    EXPECT_EQ(launch.origin, LaunchOrigin::Guessed);
    EXPECT_EQ(launch.templateArguments, std::vector<std::string>{"0"});
    for (const std::string& note : launch.notes)
        EXPECT_FALSE(note.contains("known =")) << note;
}

TEST(LaunchInference, templateArgumentsComeWithTheHeldKernel) {
    const std::string kernel = "template <int B> __global__ void twice(float* x, int n) { int i = "
                               "blockIdx.x * B + threadIdx.x; if (i < n) x[i] *= 2; }\n";
    for (const std::string host :
         {"int main() { float* x = 0; auto held = twice<96>; held<<<4, 96>>>(x, 384); }",
          "template <class K> void launch(K held, int threads, float* x, int n) { held<<<n / "
          "threads, threads>>>(x, n); }\nint main() { float* x = 0; launch(twice<96>, 96, x, 384); "
          "}"}) {
        const auto launch = bestLaunch(kernel + host);
        EXPECT_EQ(launch.templateArguments, std::vector<std::string>{"96"}) << host;
        EXPECT_EQ(launch.block.x, 96u) << host;
        EXPECT_EQ(launch.grid.x, 4u) << host;
    }
}

TEST(LaunchInference, aParameterOfALambdaNamesNothingOutsideIt) {
    const auto launch = bestLaunch(
        "template <int axis> __global__ void k(float* x) { x[axis] = threadIdx.x; }\n"
        "int main() { float* x = 0; auto launch = [&](auto axis) { k<axis><<<1, 32>>>(x); }; }\n");
    ASSERT_EQ(launch.templateArguments.size(), 1u);
    EXPECT_NE(launch.templateArguments[0], "axis");
}

TEST(LaunchInference, aConstantOfTheHostsFunctionNamesNothingOutsideIt) {
    const auto launch =
        bestLaunch("template <int tile> __global__ void k(float* x) { __shared__ float s[tile]; "
                   "s[threadIdx.x % tile] = x[0]; x[0] = s[0]; }\n"
                   "int main() { float* x = 0; auto launch = [&](auto size) { "
                   "constexpr int tile = decltype(size)::value; k<tile><<<1, 32>>>(x); }; }\n");
    EXPECT_EQ(launch.templateArguments, std::vector<std::string>{"16"});
}

TEST(LaunchInference, anUnseenEnumeratorIsGuessedAsOneOfItsType) {
    const auto launch =
        bestLaunch("enum class Mode { Plain, Fancy };\n"
                   "template <Mode mode> __global__ void k(int* x) { x[0] = int(mode); }\n"
                   "template <Mode mode> void launch(int* x) { k<mode><<<1, 32>>>(x); }\n");
    EXPECT_EQ(launch.templateArguments, std::vector<std::string>{"static_cast<Mode>(0)"});
}

TEST(LaunchInference, aFunctionThatNoLaunchNamesIsRefused) {
    const auto model = parsedProgram(
        "template <float (*op)(float)> __global__ void k(float* x) { x[0] = op(x[1]); }\n"
        "template <float (*op)(float)> void launch(float* x) { k<op><<<1, 32>>>(x); }\n");
    ASSERT_FALSE(model.kernels.empty());
    const auto launches = inferLaunches(model, model.kernels.front());
    ASSERT_FALSE(launches);
    EXPECT_EQ(launches.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(launches.error().what, HasSubstr("'op'"));
    EXPECT_THAT(launches.error().where, HasSubstr("a.cu:"));
}

TEST(LaunchInference, whatCannotBePassedIsRefusedByName) {
    for (const auto* text : {"__global__ void k(float** rows) { rows[0][0] = 1; }",
                             "__global__ void k(float (*rows)(float)) { rows(1); }",
                             "struct List { int n; float* data; };\n__global__ void k(List rows) { "
                             "rows.data[0] = 1; }",
                             "template <class T> struct Traits { typedef T* Pointer; };\n"
                             "template <class T> struct View { typedef typename Traits<T>::Pointer "
                             "DataPointer; DataPointer data_; int size_; };\n"
                             "__global__ void k(View<float> rows) { rows.data_[0] = 1; }"}) {
        const auto model = parsedProgram(text);
        ASSERT_FALSE(model.kernels.empty());
        const auto launches = inferLaunches(model, model.kernels.front());
        ASSERT_FALSE(launches) << text;
        EXPECT_EQ(launches.error().kind, ErrorKind::Unsupported);
        EXPECT_THAT(launches.error().what, HasSubstr("'rows'"));
        EXPECT_THAT(launches.error().where, HasSubstr("a.cu:"));
    }
}

TEST(LaunchInference, scalarsHaveTheirTypesBytes) {
    const auto launch =
        bestLaunch("__global__ void k(float* x, unsigned char c, short s, double d, size_t count, "
                   "bool b, float3 v) { x[c] = s + d + count + b + v.x; }\n"
                   "int main() { k<<<1, 1>>>(0, 7, -2, 0.5, 9, true, float3()); }");
    EXPECT_EQ(scalarNamed(launch, "c")->bytes.size(), 1u);
    EXPECT_EQ(scalarNamed(launch, "s")->bytes.size(), 2u);
    EXPECT_EQ(scalarNamed(launch, "d")->bytes.size(), 8u);
    EXPECT_EQ(scalarNamed(launch, "count")->bytes.size(), 8u);
    EXPECT_EQ(scalarNamed(launch, "b")->bytes.size(), 1u);
    EXPECT_EQ(scalarNamed(launch, "v")->bytes.size(), 12u);
    EXPECT_EQ(std::to_integer<int>(scalarNamed(launch, "s")->bytes[0]), 0xfe);
}

TEST(LaunchInference, selfReferringTextEnds) {
    const auto launch = bestLaunch(
        std::string(scale) +
        "#define A B\n#define B A\nint f(int a) { return f(a); }\n"
        "void g(float* x, int n) { g(x, n); int m = m; scale<<<f(A), m>>>(x, n, 1.f); }\n");
    EXPECT_EQ(launch.arguments.size(), 3u);
}

TEST(LaunchInference, aBlockThatIsKnownIsKeptWhenTheGridIsNot) {
    const auto launch = bestLaunch(
        "#define BX 16\n#define BY 4\n"
        "__global__ void rows(float* d) { __shared__ float s[BY][BX]; "
        "s[threadIdx.y][threadIdx.x] = d[0]; d[blockIdx.y * BY + threadIdx.y] = s[0][0]; }\n"
        "dim3 gridOf(float*);\n"
        "void f(float* d) { dim3 threads(BX, BY); rows<<<gridOf(d), threads>>>(d); }\n");
    EXPECT_EQ(launch.block, (Dim3{16, 4, 1}));
}

TEST(LaunchInference, aVariableOfABlockThatHasEndedIsAnotherOne) {
    const auto launch = bestLaunch(
        "__global__ void f(float* d, int n) { d[blockIdx.x * blockDim.x + threadIdx.x] = n; }\n"
        "__global__ void g(float* d) { d[0] = 1; }\n"
        "int total;\n"
        "void run(float* d) {\n"
        "    { dim3 grid(1); g<<<grid, 1>>>(d); }\n"
        "    { dim3 grid(total / 64 + 1); f<<<grid, 64>>>(d, total); }\n}\n");
    EXPECT_EQ(launch.origin, LaunchOrigin::Guessed);
    EXPECT_EQ(launch.block, (Dim3{64, 1, 1}));
}

TEST(LaunchInference, aGridThatFollowsTheArgumentsAndTheBlockStays) {
    const LaunchSpec launch =
        bestLaunch("int ceilDiv(int a, int b) { return (a + b - 1) / b; }\n"
                   "__global__ void k(float* x, int N) {\n"
                   "    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;\n"
                   "    if (row >= N) return;\n"
                   "    x[row] = 1;\n"
                   "}\n"
                   "void run(float* x, int B, int T, int block_size) {\n"
                   "    int N = B * T;\n"
                   "    k<<<ceilDiv(N * 32, block_size), block_size>>>(x, N);\n"
                   "}\n");
    const auto rows = static_cast<std::uint32_t>(*scalarNamed(launch, "N")->integer);
    EXPECT_EQ(launch.grid.x, (rows * 32 + launch.block.x - 1) / launch.block.x);
}

TEST(LaunchInference, aGuessSmallerThanItsDivisorStillGivesABlock) {
    const auto launch =
        bestLaunch("__global__ void f(float* d, int foo) { d[threadIdx.x] = foo; }\n"
                   "void g(float* d, int foo) { f<<<foo / 64, 64>>>(d, foo); }\n");
    EXPECT_EQ(launch.grid, (Dim3{1, 1, 1}));
    EXPECT_EQ(launch.block, (Dim3{64, 1, 1}));
}

TEST(LaunchInference, TheDistanceOfRowsIsALengthAlsoWithAColumnMore) {
    const LaunchSpec launch = bestLaunch(R"(
__global__ void layer(float* weights, int hid) {
    int index = (hid + 1) * 16 * blockIdx.y + (hid + 1) * threadIdx.y + threadIdx.x + 1;
    weights[index] *= 2;
}
void run(float* weights, int hid) { layer<<<dim3(1, 4), dim3(16, 16)>>>(weights, hid); }
)");
    EXPECT_GE(*scalarNamed(launch, "hid")->integer, 16) << "rows must not overlap";
    const LaunchSpec shares = bestLaunch(R"(
__global__ void shares(float* x, int part) { x[blockIdx.x * part + threadIdx.x] = 1; }
void run(float* x, int part) { shares<<<4, 64>>>(x, part); }
)");
    EXPECT_EQ(*scalarNamed(shares, "part")->integer, 1) << "a block's share may be of any size";
}

} // namespace
} // namespace kernelskill::engine
