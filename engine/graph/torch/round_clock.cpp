#include "engine/graph/torch/round_clock.h"

#include "engine/graph/torch/cuda_devices.h"
#include "engine/graph/torch/torch_names.h"

#include <algorithm>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace kernelskill::engine::graph {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

/// Whether an event of this LibTorch gives times.
template <typename Event>
constexpr bool hasTimes = requires(const Event& event) { event.elapsedTime(event); };

template <typename Event>
Result<double> timeOnGpu(c10::Device device, const at::Tensor& sweep, const Work& work) {
    if constexpr (hasTimes<Event>) {
        const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
        const auto stream = guard.getStream(device);
        Event begin(c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
        Event end(c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
        sweep.zero_();
        begin.record(stream);
        const auto done = work();
        end.record(stream);
        guard.synchronizeStream(stream);
        if (!done)
            return std::unexpected(done.error());
        constexpr double microsecondsOfMillisecond = 1000;
        return begin.elapsedTime(end) * microsecondsOfMillisecond;
    } else {
        static_cast<void>(device);
        static_cast<void>(sweep);
        static_cast<void>(work);
        return 0;
    }
}

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

} // namespace

Result<RoundClock> RoundClock::of(c10::Device device) {
    RoundClock clock(device);
    if (device.is_cpu())
        return clock;
    if (!hasTimes<c10::Event>)
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     "the events of LibTorch " + torchVersion() + " give no times",
                                     {},
                                     "build with LibTorch 2.3 or newer"});
    c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).uncheckedSetDevice(device);
    clock.sweep_ = sweepBuffer(device);
    return clock;
}

Result<double> RoundClock::time(const Work& work) {
    if (isOfDevice())
        return timeOnGpu<c10::Event>(device_, sweep_, work);
    const auto begin = Clock::now();
    const auto done = work();
    const auto end = Clock::now();
    if (!done)
        return std::unexpected(done.error());
    return Microseconds(end - begin).count();
}

Result<std::vector<double>> timeRounds(const RoundLimits& limits,
                                       const std::function<Result<double>()>& round) {
    std::vector<double> microseconds;
    const auto begin = Clock::now();
    const auto isLate = [&] { return Clock::now() - begin > limits.longest; };
    for (std::uint32_t i = 0; i < limits.warmUpRounds && (i == 0 || !isLate()); ++i)
        if (const auto time = round(); !time)
            return std::unexpected(time.error());
    for (std::uint32_t i = 0; i < std::max(limits.rounds, 1u) && (i == 0 || !isLate()); ++i) {
        const auto time = round();
        if (!time)
            return std::unexpected(time.error());
        microseconds.push_back(*time);
    }
    return microseconds;
}

} // namespace kernelskill::engine::graph
