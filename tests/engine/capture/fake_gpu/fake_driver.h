/// The functions that the test's stand-in for libcuda.so.1 offers besides the driver's own
/// functions: kernels of the host, and a way for the stand-in of CUPTI to be called around
/// launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda.h>

extern "C" {
/// A kernel that runs `body` with the parameters' values, one after the other in memory, when its
/// stream gets to it.
CUfunction fakeKernel(const char* symbol, const std::size_t* sizes, std::size_t count,
                      void (*body)(const std::byte* parameters));
/// The same kernel in modules that are loaded from an image: a kernel of this name there runs
/// `body`.
void fakeImageKernel(const char* symbol, const std::size_t* sizes, std::size_t count,
                     void (*body)(const std::byte* parameters));
/// Gives the program's own module a variable.
void fakeAddVariable(const char* name, const void* value, std::size_t bytes);
/// The place of that variable.
void* fakeOwnVariable(const char* name);
/// Loads the program's module, or has it loaded when a kernel of it is needed. `calls` are the
/// functions that its kernels call, and `managed` is a managed variable that the driver does not
/// know by name; empty texts: none.
void fakeLoadModule(const char* calls, const char* managed, bool isLazy);
/// Returns, to a kernel's body, the variable of the running kernel's module; null if it has none.
void* fakeVariable(const char* name);
/// Returns, to a kernel's body, the threads of its launch.
std::uint64_t fakeThreads();
/// A kernel's body calls it to take so long.
void fakeSpend(float microseconds);
/// A kernel's body calls it to lose the context.
void fakeFault();
/// A kernel's body calls it so that the kernel never ends. Calls that wait for kernels, as the
/// driver's do, then wait for ever.
void fakeHang();
/// The next asynchronous fill with other bytes than 0 fails.
void fakeRefuseFill();
/// Called once while the driver works on the next launch.
void fakeDuringLaunch(void (*act)());
/// Nothing in this stream ends.
void fakeBlock(CUstream stream);
/// While it is set, calls that may not be made during a capture end it, unless their thread
/// exchanged its mode; fakeIsInvalidated() says whether that happened. A capture that has not begun
/// ends with an error.
void fakeCapture(CUstream stream, bool isCapturing);
bool fakeIsInvalidated();

/// Around each call: `function` and `arguments` are those of CUPTI's callbacks.
using FakeCallback = void (*)(bool isExit, std::uint32_t function, const void* arguments,
                              const char* symbol, CUresult* result, std::uint64_t* shared);
using FakeModuleCallback = void (*)(const char* image, std::size_t bytes);
using FakeContextCallback = void (*)(CUcontext context);
struct FakeListener {
    FakeCallback onCall = nullptr;
    FakeModuleCallback onModule = nullptr;      ///< After a module was loaded.
    FakeContextCallback onContextEnd = nullptr; ///< Before a context ends.
};
void fakeListen(FakeListener listener);
}
