// libcupti.so.13 for tests: the part of its callback API that capturing needs, and of its activity
// API that timelines need. A launch takes 10 ns a thread.
#define __CUDA_API_VERSION_INTERNAL // for the arguments of launches
#include "../../timeline/fake_activities.h"
#include "fake_driver.h"

#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>
#include <set>
#include <vector>

namespace {

struct Subscriber {
    CUpti_CallbackFunc callback = nullptr;
    void* user = nullptr;
    std::set<std::uint32_t> enabled;
};

Subscriber& subscriber() {
    static Subscriber instance;
    return instance;
}

void forward(bool isExit, const char* symbol, const FakeLaunch& launch, CUresult* result,
             std::uint64_t* shared) {
    const std::uint32_t function = launch.config != nullptr
                                       ? CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx
                                       : CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    if (!subscriber().enabled.contains(function))
        return;
    const cuLaunchKernel_params plain{launch.function,   launch.grid[0],  launch.grid[1],
                                      launch.grid[2],    launch.block[0], launch.block[1],
                                      launch.block[2],   launch.shared,   launch.stream,
                                      launch.parameters, launch.extra};
    const cuLaunchKernelEx_params extended{launch.config, launch.function, launch.parameters,
                                           launch.extra};
    CUpti_CallbackData data{};
    data.callbackSite = isExit ? CUPTI_API_EXIT : CUPTI_API_ENTER;
    data.functionParams = launch.config != nullptr ? static_cast<const void*>(&extended) : &plain;
    data.functionReturnValue = result;
    data.symbolName = symbol;
    data.correlationData = shared;
    subscriber().callback(subscriber().user, CUPTI_CB_DOMAIN_DRIVER_API, function, &data);
}

struct Timeline {
    fake::Activities activities;
    std::vector<CUpti_ActivityKernel10> kernels; ///< Those that no flush has delivered.
    std::uint64_t now = 1000;
};

Timeline& timeline() {
    static Timeline instance;
    return instance;
}

void record(bool isExit, const char* symbol, const FakeLaunch& launch, CUresult* result,
            std::uint64_t*) {
    if (!isExit || *result != CUDA_SUCCESS)
        return;
    const std::uint64_t threads = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2] *
                                  launch.block[0] * launch.block[1] * launch.block[2];
    CUpti_ActivityKernel10 kernel{};
    kernel.name = symbol;
    kernel.start = timeline().now + 500;
    kernel.end = timeline().now = kernel.start + 10 * threads;
    kernel.gridX = static_cast<std::int32_t>(launch.grid[0]);
    kernel.gridY = static_cast<std::int32_t>(launch.grid[1]);
    kernel.gridZ = static_cast<std::int32_t>(launch.grid[2]);
    kernel.blockX = static_cast<std::int32_t>(launch.block[0]);
    kernel.blockY = static_cast<std::int32_t>(launch.block[1]);
    kernel.blockZ = static_cast<std::int32_t>(launch.block[2]);
    timeline().kernels.push_back(kernel);
}

} // namespace

extern "C" {
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc give,
                                           CUpti_BuffersCallbackCompleteFunc take) {
    timeline().activities.giveBuffer = give;
    timeline().activities.takeBuffer = take;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    timeline().activities.enabled.insert(kind);
    fakeListen(&record);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
    fake::Buffer buffer(timeline().activities);
    for (const auto& kernel : timeline().kernels)
        buffer.add(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kernel);
    timeline().kernels.clear();
    buffer.deliver();
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t validBytes,
                                       CUpti_Activity** next) {
    return fake::nextRecord(buffer, validBytes, next);
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
    *dropped = 0;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushPeriod(std::uint32_t) {
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                           void* user) {
    *handle = reinterpret_cast<CUpti_SubscriberHandle>(&subscriber());
    subscriber().callback = callback;
    subscriber().user = user;
    fakeListen(&forward);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId function) {
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || enable == 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    subscriber().enabled.insert(function);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
    *text = "an error of the stand-in";
    return CUPTI_SUCCESS;
}
}
