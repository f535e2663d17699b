#include "engine/timeline/timeline_summary.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>

namespace kernelskill::engine {
namespace {

/// A longer gap is not caused by launching: the host does something else.
constexpr std::uint64_t maxLaunchGap = 5 * shortKernel;

class DeviceWatch {
public:
    explicit DeviceWatch(const DeviceActivity& first) {
        times_.device = first.device;
        times_.begin = first.begin;
        times_.end = first.begin;
    }

    void add(const DeviceActivity& activity) {
        const std::uint64_t gap = activity.begin > times_.end ? activity.begin - times_.end : 0;
        extendTrain(activity, gap);
        if (activity.end > times_.end) {
            times_.busy += activity.end - std::max(activity.begin, times_.end);
            times_.end = activity.end;
        }
        if (activity.kind == ActivityKind::Kernel) {
            times_.kernels += activity.nanoseconds();
        } else if (activity.kind == ActivityKind::Copy) {
            times_.copies += activity.nanoseconds();
            times_.copiedBytes += activity.bytes;
        } else {
            times_.sets += activity.nanoseconds();
        }
    }

    DeviceTimes result() {
        endTrain();
        return times_;
    }

private:
    void extendTrain(const DeviceActivity& activity, std::uint64_t gap) {
        const bool isShort =
            activity.kind == ActivityKind::Kernel && activity.nanoseconds() <= shortKernel;
        if (!isShort || gap > maxLaunchGap)
            endTrain();
        if (!isShort)
            return;
        if (train_.launches == 0)
            train_.begin = activity.begin;
        else
            train_.idle += gap;
        ++train_.launches;
        train_.end = std::max(train_.end, activity.end);
    }

    void endTrain() {
        if (train_.launches >= minTrainLaunches && train_.idle > times_.worst.idle)
            times_.worst = train_;
        train_ = {};
    }

    DeviceTimes times_;
    LaunchTrain train_;
};

KernelTimes timesOf(const std::string& name, std::vector<const DeviceActivity*>& launches) {
    std::ranges::sort(launches, {}, &DeviceActivity::nanoseconds);
    KernelTimes times;
    times.symbol = name;
    times.name = demangledName(name);
    times.launches = launches.size();
    for (const DeviceActivity* launch : launches)
        times.total += launch->nanoseconds();
    times.shortest = launches.front()->nanoseconds();
    times.median = launches[launches.size() / 2]->nanoseconds();
    const DeviceActivity& longest = *launches.back();
    times.longest = longest.nanoseconds();
    times.grid = longest.grid;
    times.block = longest.block;
    times.registers = longest.registers;
    times.sharedBytes = longest.sharedBytes;
    return times;
}

} // namespace

std::uint64_t TimelineSummary::gpuTime() const {
    std::uint64_t time = 0;
    for (const DeviceTimes& each : devices)
        time += each.kernels + each.copies + each.sets;
    return time;
}

std::uint64_t TimelineSummary::kernelTime() const {
    std::uint64_t time = 0;
    for (const DeviceTimes& each : devices)
        time += each.kernels;
    return time;
}

TimelineSummary summaryOf(std::span<const DeviceActivity> activities) {
    std::map<std::uint32_t, DeviceWatch> devices;
    std::map<std::string, std::vector<const DeviceActivity*>> kernels;
    for (const DeviceActivity& activity : activities) {
        devices.try_emplace(activity.device, activity).first->second.add(activity);
        if (activity.kind == ActivityKind::Kernel)
            kernels[activity.name].push_back(&activity);
    }
    TimelineSummary summary;
    for (auto& [number, watch] : devices)
        summary.devices.push_back(watch.result());
    for (auto& [name, launches] : kernels)
        summary.kernels.push_back(timesOf(name, launches));
    std::ranges::stable_sort(summary.kernels, std::ranges::greater{}, &KernelTimes::total);
    return summary;
}

std::string demangledName(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text{
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free};
    return status == 0 ? text.get() : name;
}

} // namespace kernelskill::engine
