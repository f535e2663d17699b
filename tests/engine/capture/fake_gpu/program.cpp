// A program of a user's, on the stand-in of the driver. Its words say what it does, in turn; its
// last line of output is the sum of y.
#include "fake_driver.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int count = 1000;
constexpr int threads = 256;

// void saxpy(float a, const float* x, float* y, int n)
void saxpy(const std::byte* parameters) {
    float a = 0;
    const float* x = nullptr;
    float* y = nullptr;
    int n = 0;
    std::memcpy(&a, parameters, sizeof a);
    std::memcpy(&x, parameters + 8, sizeof x);
    std::memcpy(&y, parameters + 16, sizeof y);
    std::memcpy(&n, parameters + 24, sizeof n);
    for (int i = 0; i < n; ++i)
        y[i] += a * x[i];
}

void nothing(const std::byte*) {}

struct Program {
    CUfunction saxpyKernel;
    CUfunction emptyKernel;
    CUfunction otherKernel;
    CUdeviceptr x = 0;
    CUdeviceptr y = 0;
    int n = count;

    Program() {
        constexpr std::array<std::size_t, 4> sizes{4, 8, 8, 4};
        saxpyKernel = fakeKernel("_Z5saxpyfPKfPfi", sizes.data(), sizes.size(), &saxpy);
        emptyKernel = fakeKernel("empty", nullptr, 0, &nothing);
        otherKernel = fakeKernel("other", sizes.data(), sizes.size(), &saxpy);
        cuMemAlloc(&x, count * sizeof(float));
        cuMemAlloc(&y, count * sizeof(float));
        std::vector<float> values(count);
        std::iota(values.begin(), values.end(), 1.0f);
        cuMemcpyHtoD(x, values.data(), count * sizeof(float));
        cuMemcpyHtoD(y, values.data(), count * sizeof(float));
    }

    CUresult launch(CUstream stream = nullptr, unsigned block = threads) {
        return launch(saxpyKernel, stream, block);
    }
    CUresult launch(CUfunction kernel, CUstream stream, unsigned block) {
        float a = 2;
        std::array<void*, 4> parameters{&a, &x, &y, &n};
        return cuLaunchKernel(kernel, (count + threads - 1) / threads, 1, 1, block, 1, 1, 64,
                              stream, parameters.data(), nullptr);
    }

    void launchPacked() {
        std::array<std::byte, 28> values{};
        const float a = 2;
        std::memcpy(values.data(), &a, 4);
        std::memcpy(values.data() + 8, &x, 8);
        std::memcpy(values.data() + 16, &y, 8);
        std::memcpy(values.data() + 24, &n, 4);
        std::size_t size = values.size();
        std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, values.data(),
                                   CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
        cuLaunchKernel(saxpyKernel, 4, 1, 1, threads, 1, 1, 0, nullptr, nullptr, extra.data());
    }

    void launchExtended() {
        float a = 2;
        std::array<void*, 4> parameters{&a, &x, &y, &n};
        CUlaunchConfig config{};
        config.gridDimX = 5;
        config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
        config.blockDimX = 200;
        cuLaunchKernelEx(&config, saxpyKernel, parameters.data(), nullptr);
    }

    [[nodiscard]] double sum() const {
        std::vector<float> values(static_cast<std::size_t>(n));
        cuMemcpyDtoH(values.data(), y, values.size() * sizeof(float));
        return std::accumulate(values.begin(), values.end(), 0.0);
    }
};

const auto ownStream = reinterpret_cast<CUstream>(0x500);

} // namespace

int main(int argc, char** argv) {
    cuInit(0);
    Program program;
    int status = 0;
    for (int word = 1; word < argc; ++word) {
        const std::string_view what = argv[word];
        if (what == "launch")
            program.launch();
        else if (what == "other")
            program.launch(program.otherKernel, nullptr, threads);
        else if (what == "own-stream")
            program.launch(ownStream);
        else if (what == "packed")
            program.launchPacked();
        else if (what == "extended")
            program.launchExtended();
        else if (what == "empty")
            cuLaunchKernel(program.emptyKernel, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
        else if (what == "too-many-threads")
            std::printf("refused %d\n", program.launch(nullptr, 2000) != CUDA_SUCCESS);
        else if (what == "inside") { // A pointer into its allocation.
            program.y += 400;
            program.n = 900;
        } else if (what == "same")
            program.x = program.y;
        else if (what == "blocked")
            fakeBlock(ownStream);
        else if (what == "capture")
            fakeCapture(ownStream, true);
        else if (what == "end-capture")
            fakeCapture(ownStream, false);
        else if (what == "threads") {
            std::vector<std::jthread> all;
            for (int i = 0; i < 8; ++i)
                all.emplace_back([&] { program.launch(reinterpret_cast<CUstream>(0x600)); });
        } else if (what == "fork") {
            std::fflush(nullptr);
            if (const pid_t child = fork(); child == 0) {
                program.launch();
                _exit(0);
            } else {
                waitpid(child, nullptr, 0);
            }
        } else if (what == "free")
            cuMemFree(program.x);
        else if (what == "free-in-order")
            cuMemFreeAsync(program.x, ownStream);
        else if (what == "allocate")
            cuMemAlloc(&program.x, count * sizeof(float));
        else if (what == "allocate-more")
            cuMemAlloc(&program.x, 2 * count * sizeof(float));
        else if (what == "end-context") {
            CUcontext context = nullptr;
            cuCtxGetCurrent(&context);
            cuCtxDestroy(context);
        } else if (what == "end-at-once")
            _exit(0);
        else if (what == "fail")
            status = 7;
    }
    if (fakeIsInvalidated())
        std::printf("the capture was broken\n");
    std::printf("%.0f\n", program.sum());
    return status;
}
