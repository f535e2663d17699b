#include "engine/execution/gpu/runner/device_clocks.h"

#include "engine/process/shared_library.h"

namespace kernelskill::engine::gpu {
namespace {

// Not every toolkit has NVML's header. These are its stable names and numbers.
using NvmlDevice = void*;
constexpr int nvmlSuccess = 0;
constexpr int smClock = 1;
constexpr int memoryClock = 2;
constexpr int coreTemperature = 0;

struct Nvml {
    int (*init)() = nullptr;
    int (*handleByBusId)(const char*, NvmlDevice*) = nullptr;
    int (*clockInfo)(NvmlDevice, int, unsigned*) = nullptr;
    int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
    int (*throttleReasons)(NvmlDevice, unsigned long long*) = nullptr;

    bool load() {
        const auto library = SharedLibrary::open({"libnvidia-ml.so.1"});
        return library && library->find(init, "nvmlInit_v2") &&
               library->find(handleByBusId, "nvmlDeviceGetHandleByPciBusId_v2") &&
               library->find(clockInfo, "nvmlDeviceGetClockInfo") &&
               library->find(temperature, "nvmlDeviceGetTemperature") &&
               library->find(throttleReasons, "nvmlDeviceGetCurrentClocksThrottleReasons") &&
               init() == nvmlSuccess;
    }
};

} // namespace

Clocks clocksOf(const std::string& busId) {
    Clocks clocks;
    Nvml nvml;
    NvmlDevice device = nullptr;
    if (!nvml.load() || nvml.handleByBusId(busId.c_str(), &device) != nvmlSuccess)
        return clocks;
    // Values that cannot be read stay zero.
    static_cast<void>(nvml.clockInfo(device, smClock, &clocks.smMegahertz));
    static_cast<void>(nvml.clockInfo(device, memoryClock, &clocks.memoryMegahertz));
    static_cast<void>(nvml.temperature(device, coreTemperature, &clocks.temperatureCelsius));
    unsigned long long reasons = 0;
    if (nvml.throttleReasons(device, &reasons) == nvmlSuccess)
        clocks.throttleReasons = reasons;
    return clocks;
}

} // namespace kernelskill::engine::gpu
