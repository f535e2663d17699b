// libcupti.so.13 for tests: the part of its callback API that recorders need, and of its activity
// API that timelines need. A launch takes 10 ns a thread.
#define __CUDA_API_VERSION_INTERNAL // for the arguments of launches
#include "../../timeline/fake_activities.h"
#include "fake_driver.h"
#include "fake_profiler.h"

#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>
#include <set>
#include <vector>

namespace {

struct Subscriber {
    CUpti_CallbackFunc callback = nullptr;
    void* user = nullptr;
    std::set<std::uint32_t> enabled; ///< Functions of the driver.
    bool hearsAll = false;           ///< All of them.
    std::set<std::uint32_t> resources;
};

Subscriber& subscriber() {
    static Subscriber instance;
    return instance;
}

CUcontext currentContext() {
    CUcontext context = nullptr;
    cuCtxGetCurrent(&context);
    return context;
}

std::uint64_t threadsOf(const cuLaunchKernel_params& launch) {
    return std::uint64_t{launch.gridDimX} * launch.gridDimY * launch.gridDimZ * launch.blockDimX *
           launch.blockDimY * launch.blockDimZ;
}

void forward(bool isExit, std::uint32_t function, const void* arguments, const char* symbol,
             CUresult* result, std::uint64_t* shared) {
    if (isExit && *result == CUDA_SUCCESS && function == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
        countRange(threadsOf(*static_cast<const cuLaunchKernel_params*>(arguments)));
    if (!subscriber().hearsAll && !subscriber().enabled.contains(function))
        return;
    CUpti_CallbackData data{};
    data.callbackSite = isExit ? CUPTI_API_EXIT : CUPTI_API_ENTER;
    data.functionParams = arguments;
    data.functionReturnValue = result;
    data.symbolName = symbol;
    data.correlationData = shared;
    data.context = currentContext();
    subscriber().callback(subscriber().user, CUPTI_CB_DOMAIN_DRIVER_API, function, &data);
}

struct Timeline {
    fake::Activities activities;
    std::vector<CUpti_ActivityKernel10> kernels; ///< Kernels that no flush has delivered.
    std::uint64_t now = 1000;
};

Timeline& timeline() {
    static Timeline instance;
    return instance;
}

void record(bool isExit, std::uint32_t function, const void* arguments, const char* symbol,
            CUresult* result, std::uint64_t*) {
    if (!isExit || *result != CUDA_SUCCESS || function != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
        return;
    const auto& launch = *static_cast<const cuLaunchKernel_params*>(arguments);
    CUpti_ActivityKernel10 kernel{};
    kernel.name = symbol;
    kernel.start = timeline().now + 500;
    kernel.end = timeline().now = kernel.start + 10 * threadsOf(launch);
    kernel.gridX = static_cast<std::int32_t>(launch.gridDimX);
    kernel.gridY = static_cast<std::int32_t>(launch.gridDimY);
    kernel.gridZ = static_cast<std::int32_t>(launch.gridDimZ);
    kernel.blockX = static_cast<std::int32_t>(launch.blockDimX);
    kernel.blockY = static_cast<std::int32_t>(launch.blockDimY);
    kernel.blockZ = static_cast<std::int32_t>(launch.blockDimZ);
    timeline().kernels.push_back(kernel);
}

void forwardResource(CUpti_CallbackIdResource what, CUcontext context, void* descriptor) {
    if (!subscriber().resources.contains(what))
        return;
    CUpti_ResourceData data{};
    data.context = context;
    data.resourceDescriptor = descriptor;
    subscriber().callback(subscriber().user, CUPTI_CB_DOMAIN_RESOURCE, what, &data);
}
void forwardModule(const char* image, std::size_t bytes) {
    CUpti_ModuleResourceData module{};
    module.pCubin = image;
    module.cubinSize = bytes;
    forwardResource(CUPTI_CBID_RESOURCE_MODULE_LOADED, currentContext(), &module);
}
void forwardContextEnd(CUcontext context) {
    forwardResource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context, nullptr);
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
    fakeListen({.onCall = &record});
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
    fakeListen({&forward, &forwardModule, &forwardContextEnd});
    return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId function) {
    if (enable == 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    (domain == CUPTI_CB_DOMAIN_RESOURCE ? subscriber().resources : subscriber().enabled)
        .insert(function);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle,
                              CUpti_CallbackDomain domain) {
    if (enable == 0 || domain != CUPTI_CB_DOMAIN_DRIVER_API)
        return CUPTI_ERROR_INVALID_PARAMETER;
    subscriber().hearsAll = true;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
    *text = "an error of the stand-in";
    return CUPTI_SUCCESS;
}
}
