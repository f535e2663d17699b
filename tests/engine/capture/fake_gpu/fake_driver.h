/// The functions that the test's stand-in for libcuda.so.1 offers besides the driver's own
/// functions: kernels of the host, and a way for the stand-in of CUPTI to be called around
/// launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda.h>

/// The arguments of a launch; those of cuLaunchKernelEx where there is a `config`.
struct FakeLaunch {
    CUfunction function = nullptr;
    unsigned grid[3] = {1, 1, 1};
    unsigned block[3] = {1, 1, 1};
    unsigned shared = 0;
    CUstream stream = nullptr;
    void** parameters = nullptr;
    void** extra = nullptr;
    const CUlaunchConfig* config = nullptr;
};

extern "C" {
/// A kernel that runs `body` with the parameters' values, one after the other in memory, when its
/// stream gets to it.
CUfunction fakeKernel(const char* symbol, const std::size_t* sizes, std::size_t count,
                      void (*body)(const std::byte* parameters));
/// Nothing in this stream ends.
void fakeBlock(CUstream stream);
/// While it is set, calls that may not be made during a capture end it, unless their thread
/// exchanged its mode; fakeIsInvalidated() says whether that happened.
void fakeCapture(CUstream stream, bool isCapturing);
bool fakeIsInvalidated();

using FakeCallback = void (*)(bool isExit, const char* symbol, const FakeLaunch& launch,
                              CUresult* result, std::uint64_t* shared);
void fakeListen(FakeCallback callback);
}
