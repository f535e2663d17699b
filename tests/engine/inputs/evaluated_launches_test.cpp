/// Launches in the text whose grid, block and numbers follow from what host code says.
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kernelskill::engine {
namespace {

constexpr std::string_view scale =
    "__global__ void scale(float* x, int n, float f) { int i = blockIdx.x * blockDim.x + "
    "threadIdx.x; if (i < n) x[i] *= f; }\n";

struct Site {
    std::string_view host; ///< Behind the kernel `scale`.
    Dim3 grid;
    Dim3 block;
    std::int64_t n;
};

class EvaluatedSite : public ::testing::TestWithParam<Site> {};

TEST_P(EvaluatedSite, givesGridBlockAndScalars) {
    const auto launch = bestLaunch(std::string(scale) + std::string(GetParam().host));
    EXPECT_EQ(launch.origin, LaunchOrigin::Evaluated) << GetParam().host;
    EXPECT_EQ(launch.grid, GetParam().grid) << GetParam().host;
    EXPECT_EQ(launch.block, GetParam().block) << GetParam().host;
    ASSERT_NE(scalarNamed(launch, "n"), nullptr);
    EXPECT_EQ(scalarNamed(launch, "n")->integer, GetParam().n) << GetParam().host;
}

INSTANTIATE_TEST_SUITE_P(
    HeldKernels, EvaluatedSite,
    ::testing::Values(
        Site{
            "int main() { float* x = 0; int n = 960; auto held = scale; held<<<n / 96, 96>>>(x, n, "
            "1.f); }",
            {10, 1, 1},
            {96, 1, 1},
            960},
        Site{"int main() { float* x = 0; int n = 960; void (*held)(float*, int, float) = &scale; "
             "held<<<n / 96, 96>>>(x, n, 1.f); }",
             {10, 1, 1},
             {96, 1, 1},
             960},
        Site{"using Kernel = void (*)(float*, int, float);\n__global__ void other(float* x, int n, "
             "float f) {}\nint main(int argc, char**) { float* x = 0; Kernel held = argc > 1 ? "
             "scale "
             ": other; held<<<5, 160>>>(x, 800, 1.f); }",
             {5, 1, 1},
             {160, 1, 1},
             800},
        Site{"__global__ void other(float* x, int n, float f) {}\nint main() { float* x = 0; auto "
             "held = other; held<<<2, 64>>>(x, 128, 1.f); held = scale; held<<<3, 32>>>(x, 96, "
             "1.f); "
             "held = other; held<<<4, 64>>>(x, 256, 1.f); }",
             {3, 1, 1},
             {32, 1, 1},
             96},
        Site{
            "__global__ void other(float* x, int n, float f) {}\ntypedef void (*Kernel)(float*, "
            "int, "
            "float);\nvoid launch(Kernel held, int threads, float* x, int n) { held<<<n / threads, "
            "threads>>>(x, n, 1.f); }\nint main() { float* x = 0; launch(other, 64, x, 640); "
            "launch(scale, 192, x, 1920); }",
            {10, 1, 1},
            {192, 1, 1},
            1920},
        Site{"void launch(void (*held)(float*, int, float), int threads, float* x, int n) { "
             "held<<<n / threads, threads>>>(x, n, 1.f); }\nint main() { float* x = 0; "
             "launch(&scale, 192, x, 1920); }",
             {10, 1, 1},
             {192, 1, 1},
             1920},
        Site{"template <typename K, typename... Arguments> void launch(K held, int blocks, int "
             "threads, Arguments... arguments) { held<<<blocks, threads>>>(arguments...); }\nint "
             "main() { float* x = 0; void* p = (void*)scale; float f = 1; int n = 320; void* "
             "args[] = "
             "{&x, &n, &f}; cudaLaunchKernel(p, dim3(5), dim3(64), args, 0, 0); }",
             {5, 1, 1},
             {64, 1, 1},
             320}));

INSTANTIATE_TEST_SUITE_P(
    TemplatesOfTheHost, EvaluatedSite,
    ::testing::Values(
        Site{
            "template <int Threads> void launch(float* x, int n) { scale<<<(n + Threads - 1) / "
            "Threads, Threads>>>(x, n, 1.f); }\nint main() { float* x = 0; launch<192>(x, 1920); }",
            {10, 1, 1},
            {192, 1, 1},
            1920},
        Site{"template <int B> struct Policy { static constexpr int threads = B; };\ntemplate "
             "<typename P> void go(float* x, int n) { scale<<<n / P::threads, P::threads>>>(x, n, "
             "1.f); }\nint main() { float* x = 0; go<Policy<288>>(x, 2880); }",
             {10, 1, 1},
             {288, 1, 1},
             2880},
        Site{
            "struct Small { static constexpr int threads = 32; };\ntemplate <typename P> void "
            "inner(float* x, int n) { scale<<<n / P::threads, P::threads>>>(x, n, 1.f); "
            "}\ntemplate "
            "<typename P> void outer(float* x, int n) { inner<P>(x, n); }\nint main() { float* x = "
            "0; outer<Small>(x, 320); }",
            {10, 1, 1},
            {32, 1, 1},
            320}));

INSTANTIATE_TEST_SUITE_P(
    Sites, EvaluatedSite,
    ::testing::Values(
        Site{"int main() { float* x = 0; const int n = 1000; scale<<<(n + 255) / 256, 256>>>(x, n, "
             "2.f); }",
             {4, 1, 1},
             {256, 1, 1},
             1000},
        Site{"#define N 4096\n#define TPB 128\nint main() { float* x = 0; scale<<<N / TPB, "
             "TPB>>>(x, N, 2.f); }",
             {32, 1, 1},
             {128, 1, 1},
             4096},
        Site{"int main() { float* x = 0; int n = 64; dim3 b(8, 4); dim3 g((n + b.x - 1) / b.x, 2); "
             "scale<<<g, b>>>(x, n, 1.f); }",
             {8, 2, 1},
             {8, 4, 1},
             64},
        Site{"int main() { float* x = 0; int n = 64; dim3 g, b; b.x = 32; g.x = n / b.x; g.y = 3; "
             "scale<<<g, b>>>(x, n, 1.f); }",
             {2, 3, 1},
             {32, 1, 1},
             64},
        Site{"int main() { float* x = 0; int n = 1000; float f = 2.f; dim3 g((n + 127) / 128), "
             "b(128); "
             "void* args[] = {&x, (void*)&n, &f}; "
             "cudaLaunchKernel((void*)scale, g, b, args, 0, 0); }",
             {8, 1, 1},
             {128, 1, 1},
             1000},
        Site{"int main() { float* x = 0; int n = 512; float f = 2.f; "
             "void* args[3] = {reinterpret_cast<void*>(&x), static_cast<void*>(&n), &f}; "
             "cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&scale), dim3(n / 64), "
             "dim3(64, 1, 1), args); }",
             {8, 1, 1},
             {64, 1, 1},
             512},
        Site{"int main() { float* x = 0; int n = 256; float f = 2.f; void* args[3]; "
             "args[0] = &x; args[1] = &n; args[2] = &f; "
             "cudaLaunchKernel(scale, 4, 64, args); }",
             {4, 1, 1},
             {64, 1, 1},
             256},
        Site{"int main() { float* x = 0; cudaLaunchConfig_t config = {}; config.gridDim = dim3(6); "
             "config.blockDim = 96; config.dynamicSmemBytes = 0; "
             "cudaLaunchKernelEx(&config, scale, x, 300, 2.f); }",
             {6, 1, 1},
             {96, 1, 1},
             300},
        Site{"#define DIV_UP(a, b) (((a) + (b) - 1) / (b))\nint main() { float* x = 0; "
             "scale<<<DIV_UP(100, 32), 32>>>(x, 100, 1.f); }",
             {4, 1, 1},
             {32, 1, 1},
             100},
        Site{"constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }\nvoid run(float* x, "
             "int n) { scale<<<ceilDiv(n, 64), 64>>>(x, n, 1.f); }\nint main() { run(0, 500); }",
             {8, 1, 1},
             {64, 1, 1},
             500},
        Site{"void run(float* x, int count, int threads = 128) { const int blocks = count / "
             "threads; scale<<<blocks, threads>>>(x, count, 1.f); }\nint main() { int size = 1 << "
             "10; run(0, size); }",
             {8, 1, 1},
             {128, 1, 1},
             1024},
        Site{"enum { Threads = 96, More };\nint main() { float* x = 0; scale<<<3, More>>>(x, 7, "
             "1.f); }",
             {3, 1, 1},
             {97, 1, 1},
             7},
        Site{"int main(int argc, char** argv) { float* x = 0; int n = argc > 1 ? atoi(argv[1]) : "
             "2048; scale<<<n / 256, 256>>>(x, n, 1.f); }",
             {8, 1, 1},
             {256, 1, 1},
             2048},
        Site{"int main(int argc, char** argv) { float* x = 0; int n = 512; if (argc > 1) n = "
             "atoi(argv[1]); scale<<<n / 256, 256>>>(x, n, 1.f); }",
             {2, 1, 1},
             {256, 1, 1},
             512},
        Site{"struct Config { int threads; };\nint main() { float* x = 0; Config c; c.threads = "
             "64; scale<<<2, c.threads>>>(x, 9, 1.f); }",
             {2, 1, 1},
             {64, 1, 1},
             9},
        Site{"static const int total = 300;\nint main() { float* x = 0; scale<<<(int)ceil(total / "
             "100.0), 100>>>(x, total, 1.f); }",
             {3, 1, 1},
             {100, 1, 1},
             300}));

} // namespace
} // namespace kernelskill::engine
