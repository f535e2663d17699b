#include "engine/execution/gpu/runner/ceilings.h"

#include "engine/execution/gpu/runner/event_clock.h"
#include "engine/execution/gpu/runner/helper_launch.h"
#include "engine/execution/gpu/runner/synchronise.h"

#include <algorithm>
#include <bit>

namespace kernelskill::engine::gpu {
namespace {

// For each side of a copy: far more than any L2 cache.
constexpr std::uint64_t memoryBytes = 1ull << 30;
constexpr int repetitions = 12;
constexpr std::uint64_t fusedPerIteration = 64;
constexpr std::uint64_t floatIterations = 1 << 13;
/// On most GPUs doubles take 2 to 64 times as long.
constexpr std::uint64_t doubleIterations = 1 << 9;

class Stopwatch {
public:
    Stopwatch(Device& device, const Helpers& helpers, const EventClock& clock, bool& isFatal)
        : device_(device), helpers_(helpers), clock_(clock), isFatal_(isFatal) {}

    /// The shortest of several runs, in seconds, because a ceiling is a maximum.
    Result<double> shortest(CUfunction kernel, const HelperArguments& arguments) const {
        double best = 0;
        for (int i = 0; i < repetitions; ++i) {
            auto done = clock_.start();
            if (done)
                done = helpers_.launch(kernel, arguments);
            if (done)
                done = clock_.stop();
            if (done)
                done = synchronise(device_.driver(), isFatal_);
            if (!done)
                return std::unexpected(done.error());
            const auto time = clock_.microseconds();
            if (!time)
                return time;
            best = i == 0 ? *time : std::min(best, *time);
        }
        return best * 1e-6;
    }

private:
    Device& device_;
    const Helpers& helpers_;
    const EventClock& clock_;
    bool& isFatal_;
};

} // namespace

Result<CeilingsAnswer> measureCeilings(Device& device, bool& isFatal) {
    const auto helpers = Helpers::load(device);
    if (!helpers)
        return std::unexpected(helpers.error());
    const auto clock = EventClock::make(device);
    if (!clock)
        return std::unexpected(clock.error());
    const auto from = Scratch::allocate(device.driver(), memoryBytes);
    if (!from)
        return std::unexpected(from.error());
    const auto to = Scratch::allocate(device.driver(), memoryBytes);
    if (!to)
        return std::unexpected(to.error());
    const Stopwatch stopwatch(device, *helpers, *clock, isFatal);
    const auto threads = static_cast<double>(helpers->blocks()) * Helpers::threadsPerBlock;
    const auto flops = [&](std::uint64_t iterations) {
        return threads * static_cast<double>(iterations * fusedPerIteration) * 2;
    };
    // An eighth to a quarter of the L2 cache: it fits even if each half of the cache keeps a copy.
    const auto l2 = static_cast<std::uint64_t>(device.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
    const auto cached = std::bit_floor(std::clamp<std::uint64_t>(l2 / 4, 1 << 20, memoryBytes));

    const auto copy = stopwatch.shortest(
        helpers->copyMemory, {from->address(), to->address(), memoryBytes / copiedWordBytes});
    const auto read = stopwatch.shortest(
        helpers->readMemory, {from->address(), to->address(), memoryBytes / copiedWordBytes});
    const auto again = stopwatch.shortest(
        helpers->readMemory,
        {from->address(), to->address(), memoryBytes / copiedWordBytes, cached - copiedWordBytes});
    const auto floats =
        stopwatch.shortest(helpers->fuseFloat, {from->address(), to->address(), floatIterations});
    const auto doubles =
        stopwatch.shortest(helpers->fuseDouble, {from->address(), to->address(), doubleIterations});
    for (const auto* time : {&copy, &read, &again, &floats, &doubles}) {
        if (!*time)
            return std::unexpected(time->error());
    }
    CeilingsAnswer answer;
    answer.copyBytesPerSecond = 2 * static_cast<double>(memoryBytes) / *copy;
    answer.readBytesPerSecond = static_cast<double>(memoryBytes) / *read;
    answer.l2BytesPerSecond = static_cast<double>(memoryBytes) / *again;
    answer.float32PerSecond = flops(floatIterations) / *floats;
    answer.float64PerSecond = flops(doubleIterations) / *doubles;
    return answer;
}

} // namespace kernelskill::engine::gpu
