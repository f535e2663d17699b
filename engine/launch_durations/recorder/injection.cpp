// libkernelskill-durations.so: the CUDA driver loads it into the user's program at its start
// (CUDA_INJECTION64_PATH) and calls InitializeInjection(). CUPTI's range profiler then runs the
// program's kernels one by one and measures each. If anything fails here, the program continues as
// without it.
#include "engine/capture/recorder/callback_api.h"
#include "engine/capture/recorder/injected_start.h"
#include "engine/capture/recorder/launch_call.h"
#include "engine/launch_durations/recorder/duration_counter.h"
#include "engine/replay/recorder/own_calls.h"

#include <cstdlib>
#include <cupti_driver_cbid.h>
#include <exception>
#include <memory>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine::launch_durations {
namespace {

/// Lives until the process ends, because CUPTI calls it from any thread at any time.
struct Listener {
    const DurationTarget target;
    const capture::DriverFunctions driver;
    const gpu::Cupti cupti;
    const int process = ::getpid();
    DurationCounter counter{target, driver, cupti};

    Listener(DurationTarget wanted, const capture::DriverFunctions& found, const gpu::Cupti& loaded)
        : target(std::move(wanted)), driver(found), cupti(loaded) {}

    /// The process's listener. A handler of the process's end takes no argument to find it by.
    static inline Listener* current = nullptr;
};

/// Whether kernels of a graph run, which come without a launch of their own.
bool launchesGraph(CUpti_CallbackId function) {
    switch (function) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
        return true;
    default:
        return false;
    }
}

/// Called when CUPTI has loaded all of its libraries: what they tear down at the process's end
/// comes behind this.
void writeAtExit() {
    std::atexit([] {
        try {
            if (::getpid() == Listener::current->process)
                Listener::current->counter.end({});
        } catch (const std::exception&) { // NOLINT(bugprone-empty-catch)
            // Out of memory: the last launches are not written.
        }
    });
}

void CUPTIAPI beforeCall(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId function,
                         const void* data) {
    auto& listener = *static_cast<Listener*>(user);
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || replay::OwnCalls::areMade() ||
        ::getpid() != listener.process)
        return;
    const auto& event = *static_cast<const CUpti_CallbackData*>(data);
    if (event.callbackSite != CUPTI_API_ENTER)
        return;
    try {
        if (capture::launchCallOf(function, event.functionParams)) {
            if (listener.counter.begin(event.symbolName, event.context))
                writeAtExit();
        } else if (launchesGraph(function)) {
            listener.counter.end("it launches graphs");
        } else if (capture::endsContext(function)) {
            listener.counter.end({});
        }
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch)
        // Out of memory: these launches are not measured, and the program continues.
    }
}

Result<void> listen(DurationTarget target) {
    const auto driver = capture::DriverFunctions::loadAll();
    if (!driver)
        return std::unexpected(driver.error());
    const auto callbacks = capture::CallbackApi::load(target.cupti);
    if (!callbacks)
        return std::unexpected(callbacks.error());
    const auto cupti = gpu::Cupti::load(target.cupti);
    if (!cupti)
        return std::unexpected(cupti.error());
    auto listener = std::make_unique<Listener>(std::move(target), *driver, *cupti);
    if (auto created = listener->counter.create(); !created)
        return created;
    const auto subscriber = callbacks->subscribe(&beforeCall, listener.get());
    if (!subscriber)
        return std::unexpected(subscriber.error());
    Listener::current = listener.release(); // CUPTI uses it from here on.
    return callbacks->check(
        callbacks->cuptiEnableDomain(1, *subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
}

} // namespace
} // namespace kernelskill::engine::launch_durations

// NOLINTNEXTLINE(readability-identifier-naming): the driver requires this name
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    namespace ke = kernelskill::engine;
    ke::capture::startInjected(ke::durationVariable,
                               "kernelskill: no launch is measured: ", ke::parseDurationTarget,
                               ke::launch_durations::listen);
    return 1;
}
