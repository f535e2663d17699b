#include "engine/graph/torch/timing.h"

#include "engine/graph/torch/cuda_devices.h"
#include "engine/graph/torch/failures.h"
#include "engine/graph/torch/torch_names.h"

#include <algorithm>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <chrono>
#include <functional>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

/// Runs the program once and returns the time in microseconds.
using Round = std::function<Result<double>()>;

Result<double> onCpu(const PreparedProgram& program) {
    auto first = program.begin();
    const auto begin = Clock::now();
    const auto values = program.run(std::move(first), {});
    const auto end = Clock::now();
    if (!values)
        return std::unexpected(values.error());
    return Microseconds(end - begin).count();
}

/// Whether an event of this LibTorch gives times.
template <typename Event>
constexpr bool hasTimes = requires(const Event& event) { event.elapsedTime(event); };

template <typename Event>
Result<double> onGpu(const PreparedProgram& program, at::Tensor& sweep) {
    if constexpr (hasTimes<Event>) {
        const auto device = program.place().device;
        const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
        const auto stream = guard.getStream(device);
        Event begin(c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
        Event end(c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
        auto first = program.begin();
        sweep.zero_();
        begin.record(stream);
        const auto values = program.run(std::move(first), {});
        end.record(stream);
        guard.synchronizeStream(stream);
        if (!values)
            return std::unexpected(values.error());
        constexpr double microsecondsOfMillisecond = 1000;
        return begin.elapsedTime(end) * microsecondsOfMillisecond;
    } else {
        static_cast<void>(program);
        static_cast<void>(sweep);
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     "the events of LibTorch " + torchVersion() + " give no times",
                                     {},
                                     "build with LibTorch 2.3 or newer"});
    }
}

/// Allocates a buffer of twice the cache's size; writing it sweeps the cache.
at::Tensor sweepBuffer(c10::Device device) {
    constexpr std::uint64_t usualL2Bytes = std::uint64_t{64} << 20;
    const auto devices = cudaDevices();
    const auto index = static_cast<std::size_t>(device.index());
    const std::uint64_t l2Bytes = index < devices.size() && devices[index].l2Bytes > 0
                                      ? devices[index].l2Bytes
                                      : usualL2Bytes;
    return at::empty({static_cast<std::int64_t>(2 * l2Bytes)},
                     at::TensorOptions().dtype(at::kByte).device(device));
}

Result<TorchTiming> repeat(const TorchTimingRequest& request, const Round& round) {
    TorchTiming timing;
    const auto begin = Clock::now();
    const auto isLate = [&] { return Clock::now() - begin > request.longest; };
    for (std::uint32_t i = 0; i < request.warmUpRounds && (i == 0 || !isLate()); ++i)
        if (const auto time = round(); !time)
            return std::unexpected(time.error());
    for (std::uint32_t i = 0; i < std::max(request.rounds, 1u) && (i == 0 || !isLate()); ++i) {
        const auto time = round();
        if (!time)
            return std::unexpected(time.error());
        timing.microseconds.push_back(*time);
    }
    return timing;
}

} // namespace

Result<TorchTiming> timeProgram(const PreparedProgram& program, const TorchTimingRequest& request) {
    return withoutExceptions("the program cannot be timed", "", [&]() -> Result<TorchTiming> {
        if (program.place().device.is_cpu())
            return repeat(request, [&] { return onCpu(program); });
        const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
        guard.uncheckedSetDevice(program.place().device);
        auto sweep = sweepBuffer(program.place().device);
        auto timing = repeat(request, [&] { return onGpu<c10::Event>(program, sweep); });
        if (timing)
            timing->areDeviceTimes = true;
        return timing;
    });
}

} // namespace kernelskill::engine::graph
