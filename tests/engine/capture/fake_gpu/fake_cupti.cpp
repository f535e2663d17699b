// libcupti.so.13 for tests: the part of its callback API that capturing needs.
#define __CUDA_API_VERSION_INTERNAL // for the arguments of launches
#include "fake_driver.h"

#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>
#include <set>

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

} // namespace

extern "C" {
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
