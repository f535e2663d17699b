#include "engine/capture/recorder/callback_api.h"

#include <cupti_driver_cbid.h>

namespace kernelskill::engine::capture {

Result<CallbackApi> CallbackApi::load(const std::string& path) {
    const auto library =
        SharedLibrary::open({path, "libcupti.so.13", "libcupti.so.12", "libcupti.so"});
    if (!library)
        return std::unexpected(
            Error{ErrorKind::Missing, "CUPTI cannot be loaded: " + library.error().what, {}, {}});
    CallbackApi cupti;
    const char* missing = nullptr;
#define KERNELSKILL_FIND(name)                                                                     \
    if (!library->find(cupti.name, #name))                                                         \
        missing = #name;
    KERNELSKILL_CALLBACK_FUNCTIONS(KERNELSKILL_FIND)
#undef KERNELSKILL_FIND
    if (missing != nullptr)
        return std::unexpected(
            Error{ErrorKind::Missing, std::string("this CUPTI has no ") + missing, {}, {}});
    return cupti;
}

Result<void> CallbackApi::check(CUptiResult status) const {
    if (status == CUPTI_SUCCESS)
        return {};
    const char* text = nullptr;
    cuptiGetResultString(status, &text);
    return std::unexpected(Error{ErrorKind::Failed,
                                 std::string("CUPTI: ") + (text != nullptr ? text : "it failed"),
                                 {},
                                 {}});
}

Result<CUpti_SubscriberHandle> CallbackApi::subscribe(CUpti_CallbackFunc callback,
                                                      void* user) const {
    CUpti_SubscriberHandle subscriber = nullptr;
    if (auto subscribed = check(cuptiSubscribe(&subscriber, callback, user)); !subscribed)
        return std::unexpected(subscribed.error());
    return subscriber;
}

bool endsContext(CUpti_CallbackId function) {
    switch (function) {
    case CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy:
    case CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease:
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset:
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2:
        return true;
    default:
        return false;
    }
}

} // namespace kernelskill::engine::capture
