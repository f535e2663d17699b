// libkernelskill-replay.so: the CUDA driver loads it into the user's program at its start
// (CUDA_INJECTION64_PATH) and calls InitializeInjection(). By CUPTI's callbacks it follows the
// program's memory and holds the program at one launch. If anything fails here, the program
// continues as without it.
#include "engine/capture/recorder/callback_api.h"
#include "engine/capture/recorder/injected_start.h"
#include "engine/capture/recorder/launch_call.h"
#include "engine/replay/recorder/launch_holder.h"
#include "engine/replay/recorder/own_calls.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine::replay {
namespace {

/// Lives until the process ends, because CUPTI calls it from any thread at any time.
struct Listener {
    const ReplayTarget target;
    const capture::DriverFunctions driver;
    const int process = ::getpid();
    ProgramMemory memory;
    CallGate gate;
    LaunchHolder holder{target, driver, memory, gate};

    Listener(ReplayTarget wanted, const capture::DriverFunctions& found)
        : target(std::move(wanted)), driver(found) {}
};

/// Calls of the program that this thread is inside of.
thread_local int callDepth = 0;

void beginCall(Listener& listener, CUpti_CallbackId function, const CUpti_CallbackData& event) {
    if (callDepth++ == 0)
        listener.gate.enter();
    *event.correlationData = 0;
    if (auto call = capture::launchCallOf(function, event.functionParams)) {
        call->symbol = event.symbolName;
        *event.correlationData = listener.holder.begin(*call) ? 1 : 0;
    }
}

void endCall(Listener& listener, CUpti_CallbackId function, const CUpti_CallbackData& event) {
    if (callDepth == 0)
        return; // The call that loaded this library began before.
    const auto result = *static_cast<const CUresult*>(event.functionReturnValue);
    listener.memory.noteCall(function, event.functionParams, event.context, result);
    if (*event.correlationData == 1 && result == CUDA_SUCCESS)
        listener.holder.countLaunch();
    if (--callDepth == 0)
        listener.gate.leave();
}

void noteResource(Listener& listener, CUpti_CallbackId what, const CUpti_ResourceData& event) {
    if (what == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
        listener.memory.noteEnd(event.context);
    } else if (what == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
        const auto* module = static_cast<const CUpti_ModuleResourceData*>(event.resourceDescriptor);
        if (module != nullptr && module->pCubin != nullptr)
            listener.memory.noteModule(
                {reinterpret_cast<const std::byte*>(module->pCubin), module->cubinSize});
    }
}

void CUPTIAPI onCallback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                         const void* data) {
    auto& listener = *static_cast<Listener*>(user);
    if (::getpid() != listener.process)
        return; // A child of the program's, in which nobody opens the gate.
    try {
        // The driver may load a module of the program during one of our own calls.
        if (domain == CUPTI_CB_DOMAIN_RESOURCE)
            return noteResource(listener, id, *static_cast<const CUpti_ResourceData*>(data));
        if (domain != CUPTI_CB_DOMAIN_DRIVER_API || OwnCalls::areMade())
            return;
        const auto& event = *static_cast<const CUpti_CallbackData*>(data);
        if (event.callbackSite == CUPTI_API_ENTER)
            beginCall(listener, id, event);
        else
            endCall(listener, id, event);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s%s\n", notHeldPrefix.data(), problem.what());
    }
}

Result<void> listen(ReplayTarget target) {
    const auto driver = capture::DriverFunctions::loadAll();
    if (!driver)
        return std::unexpected(driver.error());
    const auto cupti = capture::CallbackApi::load(target.cupti);
    if (!cupti)
        return std::unexpected(cupti.error());
    auto listener = std::make_unique<Listener>(std::move(target), *driver);
    const auto subscriber = cupti->subscribe(&onCallback, listener.get());
    if (!subscriber)
        return std::unexpected(subscriber.error());
    static_cast<void>(listener.release()); // CUPTI uses it from here on.
    for (const CUpti_CallbackId resource :
         {CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) {
        if (auto enabled = cupti->check(
                cupti->cuptiEnableCallback(1, *subscriber, CUPTI_CB_DOMAIN_RESOURCE, resource));
            !enabled)
            return enabled;
    }
    return cupti->check(cupti->cuptiEnableDomain(1, *subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
}

} // namespace
} // namespace kernelskill::engine::replay

// NOLINTNEXTLINE(readability-identifier-naming): the driver requires this name
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    namespace ke = kernelskill::engine;
    ke::capture::startInjected(ke::replayVariable, ke::notHeldPrefix, ke::parseReplayTarget,
                               ke::replay::listen);
    return 1;
}
