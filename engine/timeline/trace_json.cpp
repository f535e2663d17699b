#include "engine/timeline/trace_json.h"

#include "analysis/source/json.h"
#include "engine/timeline/timeline_summary.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

using nlohmann::json;

json argumentsOf(const DeviceActivity& activity) {
    if (activity.kind != ActivityKind::Kernel)
        return {{"bytes", activity.bytes}};
    return {{"grid", activity.grid},
            {"block", activity.block},
            {"registers", activity.registers},
            {"shared bytes", activity.sharedBytes}};
}

std::string titleOf(const DeviceActivity& activity) {
    switch (activity.kind) {
    case ActivityKind::Kernel:
        return demangledName(activity.name);
    case ActivityKind::Copy:
        return "memcpy " + activity.name;
    case ActivityKind::Set:
        return "memset";
    }
    return {};
}

json nameOf(const char* what, std::uint32_t device, std::uint32_t stream, std::string name) {
    return {{"ph", "M"},
            {"name", what},
            {"pid", device},
            {"tid", stream},
            {"args", {{"name", std::move(name)}}}};
}

} // namespace

std::string traceJson(std::span<const DeviceActivity> activities) {
    const std::uint64_t begin = activities.empty() ? 0 : activities.front().begin;
    const auto microseconds = [](std::uint64_t nanoseconds) {
        return static_cast<double>(nanoseconds) * 1e-3;
    };
    json events = json::array();
    std::set<std::pair<std::uint32_t, std::uint32_t>> streams;
    for (const DeviceActivity& activity : activities) {
        if (streams.emplace(activity.device, activity.stream).second) {
            events.push_back(nameOf("process_name", activity.device, activity.stream,
                                    "GPU " + std::to_string(activity.device)));
            events.push_back(nameOf("thread_name", activity.device, activity.stream,
                                    "stream " + std::to_string(activity.stream)));
        }
        events.push_back({{"ph", "X"},
                          {"name", titleOf(activity)},
                          {"pid", activity.device},
                          {"tid", activity.stream},
                          {"ts", microseconds(activity.begin - begin)},
                          {"dur", microseconds(activity.nanoseconds())},
                          {"args", argumentsOf(activity)}});
    }
    return json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}.dump(
        -1, ' ', false, json::error_handler_t::replace);
}

} // namespace kernelskill::engine
