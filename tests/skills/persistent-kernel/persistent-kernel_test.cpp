#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "persistent-kernel";

/// The function that the edit adds, with `name`.
std::string helper(const std::string& name, const std::string& unit = "    ") {
    return "\n// How many blocks the GPU holds at once, but at most `blocks`.\ntemplate <typename "
           "Kernel>\n"
           "static unsigned int " +
           name + "(Kernel kernel, unsigned int blocks, int threads, size_t shared) {\n" + unit +
           "int device, multiprocessors, residents;\n" + unit + "cudaGetDevice(&device);\n" + unit +
           "cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);\n" +
           unit +
           "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&residents, kernel, threads, shared);\n" +
           unit + "const unsigned int all = multiprocessors * residents;\n" + unit +
           "return min(blocks, all);\n}\n";
}

TEST(PersistentKernel, KeepsATableAndGoesOnWhereThreadsLeft) {
    checkApplicable(
        id, R"(
__global__ void lookup(const float* lut, const int* x, float* y, size_t n) {
    __shared__ float s[64];
    if (threadIdx.x < 64)
        s[threadIdx.x] = lut[threadIdx.x];
    __syncthreads();
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    // One element.
    y[i] = s[x[i] & 63];
}
void run(const float* lut, const int* x, float* y, size_t n, cudaStream_t s) {
    dim3 block(128);
    dim3 grid((n + 127) / 128);
    lookup<<<grid, block, 0, s>>>(lut, x, y, n);
}
)",
        R"(
__global__ void lookup(const float* lut, const int* x, float* y, size_t n, unsigned int blocks) {
    __shared__ float s[64];
    if (threadIdx.x < 64)
        s[threadIdx.x] = lut[threadIdx.x];
    __syncthreads();
    for (unsigned int block = blockIdx.x; block < blocks; block += gridDim.x) {
        size_t i = block * (size_t)blockDim.x + threadIdx.x;
        if (i >= n) continue;
        // One element.
        y[i] = s[x[i] & 63];
    }
}
)" + helper("residentBlocks") +
            R"(void run(const float* lut, const int* x, float* y, size_t n, cudaStream_t s) {
    dim3 block(128);
    dim3 grid((n + 127) / 128);
    lookup<<<residentBlocks(lookup, grid.x, block.x * block.y * block.z, 0), block, 0, s>>>(lut, x, y, n, grid.x);
}
)");
}

TEST(PersistentKernel, BeginsRoundsWithTheBarrierWhereSharedMemoryIsWritten) {
    checkApplicable(id, R"(
#define T 128
template <typename V>
__global__ void
row_filter(const V* w, const V* in, V* out)
{
  __shared__ V weights[T];
  __shared__ V row[T];
  int t = threadIdx.x;
  int b = blockIdx.x;
  weights[t] = w[t] * w[t];
  __syncthreads();
  row[t] = in[b * T + t];
  __syncthreads();
  out[b * T + t] = row[T - 1 - t] * weights[t];
}
void run(const float* w, const float* in, float* out, int rows)
{
  row_filter<float><<<rows, T>>>(w, in, out);
}
)",
                    R"(
#define T 128
template <typename V>
__global__ void
row_filter(const V* w, const V* in, V* out, unsigned int blocks)
{
  __shared__ V weights[T];
  __shared__ V row[T];
  int t = threadIdx.x;
  weights[t] = w[t] * w[t];
  for (unsigned int block = blockIdx.x; block < blocks; block += gridDim.x) {
    __syncthreads();
    int b = block;
    row[t] = in[b * T + t];
    __syncthreads();
    out[b * T + t] = row[T - 1 - t] * weights[t];
  }
}
)" + helper("resident_blocks", "  ") +
                        R"(void run(const float* w, const float* in, float* out, int rows)
{
  row_filter<float><<<resident_blocks(row_filter<float>, rows, T, 0), T>>>(w, in, out, rows);
}
)");
}

TEST(PersistentKernel, ComputesConstantsOnceInBlocksOfTwoAxes) {
    checkApplicable(id, R"(
static __global__ void shade(float4* image, float gamma, float gain) {
    const float scale = powf(gain, gamma) * expf(-gamma);
    const float bias = logf(1.0f + gain);
    float value = sinf(gain);
    const unsigned p = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    value += image[p].x * scale;
    image[p].x = value + bias;
}
void run(float4* image, int rows) {
    shade<<<dim3(rows / 4), dim3(32, 4)>>>(image, 2.2f, 1.5f);
}
)",
                    R"(
static __global__ void shade(float4* image, float gamma, float gain, unsigned int blocks) {
    const float scale = powf(gain, gamma) * expf(-gamma);
    const float bias = logf(1.0f + gain);
    for (unsigned int block = blockIdx.x; block < blocks; block += gridDim.x) {
        float value = sinf(gain);
        const unsigned p = (block * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        value += image[p].x * scale;
        image[p].x = value + bias;
    }
}
)" + helper("residentBlocks") +
                        R"(void run(float4* image, int rows) {
    shade<<<dim3(residentBlocks(shade, rows / 4, 32 * 4, 0)), dim3(32, 4)>>>(image, 2.2f, 1.5f, rows / 4);
}
)");
}

TEST(PersistentKernel, KeepsDynamicSharedMemory) {
    checkApplicable(id, R"(
__global__ void codes(const int* book, const int* in, int* out, int size, int n) {
    extern __shared__ int shared[];
    const int t = threadIdx.x;
    for (int k = t; k < size; k += blockDim.x) {
        shared[k] = book[k];
    }
    __syncthreads();

    const int i = t + blockIdx.x * blockDim.x;
    if (i < n) {
        out[i] = shared[in[i] % size];
    }
}
int main() {
    int *book, *in, *out;
    int size = 100, n = 1 << 20;
    cudaMalloc(&book, size * sizeof(int));
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    codes<<<n / 64, 64, size * sizeof(int)>>>(book, in, out, size, n);
}
)",
                    R"(
__global__ void codes(const int* book, const int* in, int* out, int size, int n, unsigned int blocks) {
    extern __shared__ int shared[];
    const int t = threadIdx.x;
    for (int k = t; k < size; k += blockDim.x) {
        shared[k] = book[k];
    }
    __syncthreads();
    for (unsigned int block = blockIdx.x; block < blocks; block += gridDim.x) {

        const int i = t + block * blockDim.x;
        if (i < n) {
            out[i] = shared[in[i] % size];
        }
    }
}
)" + helper("residentBlocks") +
                        R"(int main() {
    int *book, *in, *out;
    int size = 100, n = 1 << 20;
    cudaMalloc(&book, size * sizeof(int));
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    codes<<<residentBlocks(codes, n / 64, 64, size * sizeof(int)), 64, size * sizeof(int)>>>(book, in, out, size, n, n / 64);
}
)");
}

/// A table, with what is special about a case in the middle.
std::string table(const std::string& work, const std::string& launch = "m, 128", //
                  const std::string& head = "",
                  const std::string& fill = "s[threadIdx.x] = t[threadIdx.x];") {
    return head +
           "__global__ void k(const float* t, float* y, int n) {\n    __shared__ float s[128];\n   "
           " " +
           fill + "\n    __syncthreads();\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           work + "}\nvoid run(const float* t, float* y, int m) {\n    k<<<" + launch +
           ">>>(t, y, m);\n}\n";
}
const std::string store = "    y[i] += s[i % 128];\n";

TEST(PersistentKernel, UsesTheFunctionThatAnEarlierEditAdded) {
    const std::string once = appliedText(id, table(store));
    EXPECT_TRUE(once.contains("k<<<residentBlocks(k, m, 128, 0), 128>>>(t, y, m, m);")) << once;
    std::string second = table(store);
    second.replace(second.find("void k("), 7, "void l(");
    second.replace(second.find("    k<<<"), 8, "    l<<<");
    second.replace(second.find("void run("), 9, "void also(");
    second.insert(second.find("__global__"), "$0");
    const std::string twice = appliedText(id, once + second);
    EXPECT_EQ(twice.find("template <typename Kernel>"), twice.rfind("template <typename Kernel>"));
}

TEST(PersistentKernel, IsAboutTheKernel) {
    checkTarget(id, table(store), "k");
}

class PersistentKernelIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(PersistentKernelIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, PersistentKernelIsNotOffered,
    testing::Values(
        GateCase{
            "NoSetUp", "no-set-up",
            "__global__ void k(float* y, int n) {\n    int i = blockIdx.x * blockDim.x + "
            "threadIdx.x;\n    if (i < n)\n        y[i] = 1;\n}\nvoid run(float* y, int n) {\n    "
            "k<<<n, 128>>>(y, n);\n}\n"},
        GateCase{"TheTableIsTheBlocks", "no-set-up",
                 table(store, "m, 128", "", "s[threadIdx.x] = t[blockIdx.x * 128 + threadIdx.x];")},
        GateCase{"TheWorkChangesTheTable", "no-set-up", table("    s[i % 128] = i;\n" + store)},
        GateCase{
            "LeavesBeforeTheTable", "no-set-up",
            "__global__ void k(const float* t, float* y, int n) {\n    __shared__ float s[128];\n"
            "    if (blockIdx.x * 128 >= n)\n        return;\n    s[threadIdx.x] = "
            "t[threadIdx.x];\n"
            "    __syncthreads();\n    y[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x ^ 1];\n}\n"
            "void run(const float* t, float* y, int m) {\n    k<<<m, 128>>>(t, y, m);\n}\n"},
        GateCase{"LongWork", "work-outweighs",
                 table("    for (int j = 0; j < n; j++)\n        y[i] += s[j % 128];\n")},
        GateCase{"AsksForTheGrid", "uses-grid", table("    y[i] = s[i % 128] * gridDim.x;\n")},
        GateCase{"AsksForY", "grid-axes", table("    y[i + blockIdx.y] = s[i % 128];\n")},
        GateCase{"BlocksAlongY", "grid-axes", table(store, "dim3(m, m), 128")},
        GateCase{"Fence", "blocks-meet", table(store + "    __threadfence();\n    y[0] = 1;\n")},
        GateCase{
            "Volatile", "blocks-meet",
            "__global__ void k(const float* t, volatile float* y) {\n    __shared__ float s[128];\n"
            "    s[threadIdx.x] = t[threadIdx.x];\n    __syncthreads();\n"
            "    y[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x ^ 1];\n}\n"
            "void run(const float* t, float* y, int m) {\n    k<<<m, 128>>>(t, y);\n}\n"},
        GateCase{"LeavesALoop", "return-in-loop",
                 table("    for (int j = 0; j < 2; j++)\n        if (i + j >= n)\n            "
                       "return;\n" +
                       store)},
        GateCase{"LeavesBarriers", "early-return",
                 table("    if (i >= n)\n        return;\n    __syncthreads();\n" + store)},
        GateCase{"FewBlocks", "few-blocks", table(store, "64, 128")},
        GateCase{"GridCounts", "grid-has-effect", table(store, "m++, 128")},
        GateCase{"NoLaunch", "no-launch", table(store).substr(0, table(store).find("void run"))},
        GateCase{"DeclaredBefore", "declared-before",
                 table(store, "m, 128", "__global__ void k(const float* t, float* y, int n);\n")},
        GateCase{
            "DefaultArgument", "default-argument",
            "__global__ void k(const float* t, float* y, int n = 4) {\n"
            "    __shared__ float s[128];\n    s[threadIdx.x] = t[threadIdx.x];\n"
            "    __syncthreads();\n    y[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x ^ 1];\n}\n"
            "void run(const float* t, float* y, int m) {\n    k<<<m, 128>>>(t, y);\n}\n"},
        GateCase{"OneLine", "several-statements-a-line",
                 table("    y[i] = s[0]; y[i] += s[i % 128];\n")},
        GateCase{
            "DeducedArguments", "kernel-name",
            "template <typename V>\n__global__ void k(const V* t, V* y) {\n"
            "    __shared__ V s[128];\n    s[threadIdx.x] = t[threadIdx.x];\n    __syncthreads();\n"
            "    y[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x ^ 1];\n}\n"
            "void run(const float* t, float* y, int m) {\n    k<<<m, 128>>>(t, y);\n}\n"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
