// libkernelskill-capture.so: the CUDA driver loads it into the user's program at its start
// (CUDA_INJECTION64_PATH) and calls InitializeInjection(). It registers a CUPTI callback around
// every kernel launch. If anything fails here, the program continues as without it.
#include "engine/capture/recorder/callback_api.h"
#include "engine/capture/recorder/injected_start.h"
#include "engine/capture/recorder/launch_call.h"
#include "engine/capture/recorder/launch_recorder.h"

#include <cupti_driver_cbid.h>
#include <fstream>
#include <utility>

namespace kernelskill::engine::capture {
namespace {

constexpr CUpti_CallbackId launches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};

/// Lives until the process ends, because CUPTI calls it from any thread at any time.
struct Listener {
    DriverFunctions driver;
    LaunchRecorder recorder;

    Listener(Recording recording, const DriverFunctions& found)
        : driver(found), recorder(std::move(recording), driver) {}
};

void CUPTIAPI aroundLaunch(void* listener, CUpti_CallbackDomain domain, CUpti_CallbackId function,
                           const void* data) {
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API)
        return;
    const auto& event = *static_cast<const CUpti_CallbackData*>(data);
    auto& recorder = static_cast<Listener*>(listener)->recorder;
    if (event.callbackSite == CUPTI_API_ENTER) {
        *event.correlationData = 0;
        auto call = launchCallOf(function, event.functionParams);
        if (!call)
            return;
        call->symbol = event.symbolName;
        // CUPTI gives both halves of a call one number to share, which passes the ownership.
        *event.correlationData = reinterpret_cast<std::uint64_t>(recorder.begin(*call).release());
    } else if (*event.correlationData != 0) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        std::unique_ptr<OpenLaunch> open(reinterpret_cast<OpenLaunch*>(*event.correlationData));
        *event.correlationData = 0;
        recorder.end(std::move(open), *static_cast<const CUresult*>(event.functionReturnValue));
    }
}

Result<void> listen(Recording recording) {
    const auto driver = DriverFunctions::load();
    if (!driver)
        return std::unexpected(driver.error());
    const auto cupti = CallbackApi::load(recording.cupti);
    if (!cupti)
        return std::unexpected(cupti.error());
    const std::string attached =
        recording.folder + "/" + attachedPrefix + std::to_string(::getpid());
    auto listener = std::make_unique<Listener>(std::move(recording), *driver);
    const auto subscriber = cupti->subscribe(&aroundLaunch, listener.get());
    if (!subscriber)
        return std::unexpected(subscriber.error());
    static_cast<void>(listener.release()); // CUPTI uses it from here on.
    for (const CUpti_CallbackId launch : launches) {
        if (auto enabled = cupti->check(
                cupti->cuptiEnableCallback(1, *subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launch));
            !enabled)
            return enabled;
    }
    std::ofstream{attached}.flush(); // An empty file is enough.
    return {};
}

} // namespace
} // namespace kernelskill::engine::capture

// NOLINTNEXTLINE(readability-identifier-naming): the driver requires this name
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    namespace ke = kernelskill::engine;
    ke::capture::startInjected(ke::recordingVariable,
                               "kernelskill: nothing is captured: ", ke::parseRecording,
                               ke::capture::listen);
    return 1;
}
