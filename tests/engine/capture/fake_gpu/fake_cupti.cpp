// libcupti.so.13 for tests: the part of its callback API that capturing needs.
#include "fake_driver.h"

#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <set>

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

CUcontext const context = reinterpret_cast<CUcontext>(0xC0);

void forward(bool isExit, std::uint32_t function, const void* arguments, const char* symbol,
             CUresult* result, std::uint64_t* shared) {
    if (!subscriber().hearsAll && !subscriber().enabled.contains(function))
        return;
    CUpti_CallbackData data{};
    data.callbackSite = isExit ? CUPTI_API_EXIT : CUPTI_API_ENTER;
    data.functionParams = arguments;
    data.functionReturnValue = result;
    data.symbolName = symbol;
    data.correlationData = shared;
    data.context = context;
    subscriber().callback(subscriber().user, CUPTI_CB_DOMAIN_DRIVER_API, function, &data);
}

void forwardModule(const char* image, std::size_t bytes) {
    if (!subscriber().resources.contains(CUPTI_CBID_RESOURCE_MODULE_LOADED))
        return;
    CUpti_ModuleResourceData module{};
    module.pCubin = image;
    module.cubinSize = bytes;
    CUpti_ResourceData data{};
    data.context = context;
    data.resourceDescriptor = &module;
    subscriber().callback(subscriber().user, CUPTI_CB_DOMAIN_RESOURCE,
                          CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
}

} // namespace

extern "C" {
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                           void* user) {
    *handle = reinterpret_cast<CUpti_SubscriberHandle>(&subscriber());
    subscriber().callback = callback;
    subscriber().user = user;
    fakeListen(&forward, &forwardModule);
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
