/// How a launch is held: what is found out and saved before anything is tried.
#include "engine/replay/recorder/held_launch.h"

#include <array>
#include <cstring>
#include <utility>

namespace kernelskill::engine::replay {
namespace {

Error unsupported(std::string what) {
    return {ErrorKind::Unsupported, std::move(what), {}, {}};
}

} // namespace

Result<void> HeldLaunch::prepare(const capture::LaunchCall& call, const ProgramMemory& memory) {
    const std::chrono::milliseconds patience(target_.waitMilliseconds);
    if (const auto obstacle = memory.obstacle())
        return std::unexpected(
            unsupported("the program uses " + *obstacle + ", which is not saved"));
    // Nothing else may be asked of the driver before: it could wait for this work as well.
    if (!awaitAllWork(driver_, patience))
        return std::unexpected(unsupported("the work before the launch did not end in " +
                                           std::to_string(patience.count()) + " ms"));
    // Our own modules, which are loaded afterwards, may have kernels of the same name.
    if (auto found = findCode(call, memory); !found)
        return found;
    auto work = DeviceWork::make(driver_);
    if (!work)
        return std::unexpected(work.error());
    work_ = std::move(*work);
    auto done = readLaunch(call);
    if (done)
        done = saveAndRun(memory);
    if (done)
        describe(call);
    return done;
}

Result<void> HeldLaunch::findCode(const capture::LaunchCall& call, const ProgramMemory& memory) {
    held_ = call.function;
    if (!capture::isFunction(call.function, driver_)) {
        if (auto found = driver_.check(
                "find the kernel's function",
                driver_.cuKernelGetFunction(&held_, reinterpret_cast<CUkernel>(call.function)));
            !found)
            return found;
    }
    symbols_ = memory.moduleOf(call.symbol);
    if (!symbols_)
        return std::unexpected(
            unsupported("the code of the kernel's module was not seen, so its variables are not "
                        "known"));
    return checkCalls(*symbols_, call.symbol);
}

Result<void> HeldLaunch::readLaunch(const capture::LaunchCall& call) {
    auto parameters = capture::parametersOf(call, driver_);
    if (!parameters)
        return std::unexpected(parameters.error());
    original_ = {call.function, call.grid, call.block, call.sharedBytes, {}, call.attributes};
    for (CapturedParameter& parameter : *parameters) {
        original_.values.push_back(parameter.value);
        CUdeviceptr address = 0;
        if (parameter.value.size() == sizeof address) {
            std::memcpy(&address, parameter.value.data(), sizeof address);
            if (const auto range = work_->rangeAt(address))
                parameter.buffer =
                    CapturedBuffer{range->address, range->bytes, {}, {}, "it is in the program"};
        }
    }
    description_.launch.parameters = std::move(*parameters);
    return {};
}

Result<void> HeldLaunch::saveAndRun(const ProgramMemory& memory) {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    if (auto asked = driver_.check("ask for the context", driver_.cuCtxGetCurrent(&context));
        !asked)
        return asked;
    if (auto asked = driver_.check("ask for the module", driver_.cuFuncGetModule(&module, held_));
        !asked)
        return asked;
    auto saved = HeldMemory::save(*work_, memory.allocationsOf(context), *symbols_, module,
                                  original_.words(), target_);
    if (!saved)
        return std::unexpected(saved.error());
    memory_ = std::move(*saved);
    if (auto ran = runOnce(original_, noVariables, nullptr, originalLimit()); !ran)
        return ran;
    const auto written = memory_->keepResult();
    if (!written)
        return std::unexpected(written.error());
    description_.writtenBytes = *written;
    if (auto ran = runOnce(original_, noVariables, nullptr, originalLimit()); !ran)
        return ran;
    const auto time = work_->microseconds();
    if (!time)
        return std::unexpected(time.error());
    description_.originalTime = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::duration<double, std::micro>(*time));
    auto variation = memory_->differences({}, noVariables);
    if (!variation)
        return std::unexpected(variation.error());
    description_.variation = std::move(*variation);
    if (auto done = memory_->restore(); !done)
        return done;
    return work_->finish();
}

void HeldLaunch::describe(const capture::LaunchCall& call) {
    CapturedLaunch& launch = description_.launch;
    launch.symbol = call.symbol;
    launch.ordinal = target_.ordinal;
    launch.grid = call.grid;
    launch.block = call.block;
    launch.sharedBytes = call.sharedBytes;
    CUdevice device = 0;
    std::array<char, 256> name{};
    if (driver_.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
        driver_.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device) ==
            CUDA_SUCCESS)
        launch.device = name.data();
    description_.capabilityMajor =
        static_cast<std::uint32_t>(work_->attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
    description_.capabilityMinor =
        static_cast<std::uint32_t>(work_->attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    description_.allocations = memory_->allocations();
    description_.allocatedBytes = memory_->allocatedBytes();
    description_.variables = memory_->variables();
    description_.savedBytes = memory_->store().deviceBytes() + memory_->store().hostBytes();
}

Result<void> HeldLaunch::runOnce(const KernelRun& run, const VariablePlaces& variables,
                                 const Poisoned* poisoned, std::chrono::milliseconds limit) {
    auto done = memory_->restore();
    if (done)
        done = memory_->seed(variables);
    if (poisoned != nullptr) {
        for (const auto& [part, address] : poisoned->places) {
            if (done)
                done = memory_->poison(part, address);
        }
    }
    if (done)
        done = launchTimed(run, limit);
    return done;
}

Result<void> HeldLaunch::launchTimed(const KernelRun& run, std::chrono::milliseconds limit) {
    auto done = work_->startClock();
    if (done)
        done = run.launch(*work_);
    if (done)
        done = work_->stopClock();
    if (done)
        done = work_->finish(limit);
    return done;
}

Result<void> HeldLaunch::restore() {
    if (isLost())
        return std::unexpected(Error{
            ErrorKind::Failed, "a kernel has faulted or does not end, so nothing runs", {}, {}});
    return memory_ ? memory_->restoreAll() : Result<void>();
}

} // namespace kernelskill::engine::replay
