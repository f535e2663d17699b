// libkernelskill-final-memory.so: the CUDA driver loads it into the user's program at its start
// (CUDA_INJECTION64_PATH) and calls InitializeInjection(). By CUPTI's callbacks it follows the
// program's buffers and writes what each holds before it is freed, or at the program's end. If
// anything fails here, the program continues as without it.
#include "engine/capture/recorder/callback_api.h"
#include "engine/capture/recorder/injected_start.h"
#include "engine/final_memory/recorder/buffer_writer.h"
#include "engine/replay/recorder/own_calls.h"

#include <cstdlib>
#include <cupti_driver_cbid.h>
#include <exception>
#include <memory>
#include <optional>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine::final_memory {
namespace {

/// Lives until the process ends, because CUPTI calls it from any thread at any time.
struct Listener {
    const FinalMemoryTarget target;
    const capture::DriverFunctions driver;
    const int process = ::getpid();
    replay::ProgramMemory memory;
    BufferWriter writer{target, driver, memory};

    Listener(FinalMemoryTarget wanted, const capture::DriverFunctions& found)
        : target(std::move(wanted)), driver(found) {}

    /// The process's listener. A handler of the process's end takes no argument to find it by.
    static inline Listener* current = nullptr;
};

void beginCall(Listener& listener, CUpti_CallbackId function, const CUpti_CallbackData& event) {
    if (auto call = capture::launchCallOf(function, event.functionParams)) {
        call->symbol = event.symbolName;
        listener.writer.noteLaunch(*call);
    } else if (const auto freed = replay::freeCallOf(function, event.functionParams)) {
        listener.writer.write(*freed);
    } else if (capture::endsContext(function)) {
        listener.writer.writeAllOf(event.context);
    }
}

void CUPTIAPI onCallback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                         const void* data) {
    auto& listener = *static_cast<Listener*>(user);
    if (::getpid() != listener.process)
        return; // A child of the program's.
    try {
        if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
            if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
                listener.memory.noteEnd(static_cast<const CUpti_ResourceData*>(data)->context);
            return;
        }
        if (domain != CUPTI_CB_DOMAIN_DRIVER_API || replay::OwnCalls::areMade())
            return;
        const auto& event = *static_cast<const CUpti_CallbackData*>(data);
        if (event.callbackSite == CUPTI_API_ENTER)
            beginCall(listener, id, event);
        else
            listener.memory.noteCall(id, event.functionParams, event.context,
                                     *static_cast<const CUresult*>(event.functionReturnValue));
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch)
        // Out of memory: this buffer is not recorded, and the program continues.
    }
}

Result<void> listen(FinalMemoryTarget target) {
    const auto driver = capture::DriverFunctions::loadAll();
    if (!driver)
        return std::unexpected(driver.error());
    const auto cupti = capture::CallbackApi::load(target.cupti);
    if (!cupti)
        return std::unexpected(cupti.error());
    auto listener = std::make_unique<Listener>(std::move(target), *driver);
    if (auto begun = listener->writer.begin(); !begun)
        return begun;
    const auto subscriber = cupti->subscribe(&onCallback, listener.get());
    if (!subscriber)
        return std::unexpected(subscriber.error());
    Listener::current = listener.release(); // CUPTI uses it from here on.
    std::atexit([] {
        try {
            if (::getpid() == Listener::current->process)
                Listener::current->writer.finish();
        } catch (const std::exception&) { // NOLINT(bugprone-empty-catch)
            // Out of memory: the list has no end, and says so by that.
        }
    });
    if (auto enabled =
            cupti->check(cupti->cuptiEnableCallback(1, *subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                                    CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING));
        !enabled)
        return enabled;
    return cupti->check(cupti->cuptiEnableDomain(1, *subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
}

} // namespace
} // namespace kernelskill::engine::final_memory

// NOLINTNEXTLINE(readability-identifier-naming): the driver requires this name
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    namespace ke = kernelskill::engine;
    ke::capture::startInjected(ke::finalMemoryVariable,
                               "kernelskill: no buffer is recorded: ", ke::parseFinalMemoryTarget,
                               ke::final_memory::listen);
    return 1;
}
