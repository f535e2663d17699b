#include "engine/review/host/work_order.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::uint32_t host = 0;

} // namespace

WorkOrder::WorkOrder(const HostTrace& trace, const StreamAssumption& assumption)
    : assumption_(assumption) {
    addLane("the host", StreamKind::NonBlocking, false);
    for (const auto& [name, kind] : assumption.kinds)
        addLane(name, kind, true);
    for (const auto& [name, kind] : trace.created)
        addLane(name, kind, false);
    for (Lane& lane : lanes_)
        lane.front.resize(lanes_.size());
    for (std::uint32_t number = 0; number < trace.steps.size(); ++number) {
        first_.push_back(static_cast<std::uint32_t>(nodes_.size()));
        follow(number, trace.steps[number]);
    }
    first_.push_back(static_cast<std::uint32_t>(nodes_.size()));
}

void WorkOrder::addLane(const std::string& name, StreamKind kind, bool isOutside) {
    numbers_[name] = lanes();
    lanes_.push_back({name, kind, isOutside, {}, 0});
}

std::uint32_t WorkOrder::laneOf(const std::string& stream) const {
    const auto outside = assumption_.lanes.find(stream);
    return numbers_.at(outside == assumption_.lanes.end() ? stream : outside->second);
}

void WorkOrder::join(Clock& clock, const Clock& other) {
    for (std::size_t i = 0; i < clock.size(); ++i)
        clock[i] = std::max(clock[i], other[i]);
}

WorkOrder::Clock WorkOrder::before(std::uint32_t number) const {
    const Lane& lane = lanes_[number];
    Clock clock = lane.front;
    join(clock, lanes_[host].front);
    for (const Lane& other : lanes_) {
        const bool isPair =
            (lane.kind == StreamKind::Legacy && other.kind == StreamKind::Blocking) ||
            (lane.kind == StreamKind::Blocking && other.kind == StreamKind::Legacy);
        if (isPair)
            join(clock, other.front);
    }
    return clock;
}

void WorkOrder::addNode(std::uint32_t step, std::uint32_t number, Clock clock) {
    Lane& lane = lanes_[number];
    clock[number] = ++lane.count;
    nodes_.push_back({step, number, lane.count});
    clocks_.insert(clocks_.end(), clock.begin(), clock.end());
    lane.front = std::move(clock);
}

void WorkOrder::follow(std::uint32_t number, const HostStep& step) {
    switch (step.kind) {
    case HostStepKind::Wait:
        wait(step);
        return;
    case HostStepKind::Read:
        addNode(number, host, lanes_[host].front);
        return;
    case HostStepKind::Call:
    case HostStepKind::Host:
        addEverywhere(number, step);
        return;
    default:
        break;
    }
    const std::uint32_t lane = laneOf(step.stream);
    Clock clock = before(lane);
    if (step.kind == HostStepKind::Follow)
        if (const auto event = events_.find(step.event); event != events_.end())
            join(clock, event->second);
    addNode(number, lane, std::move(clock));
    if (step.kind == HostStepKind::Record)
        events_[step.event] = lanes_[lane].front;
    if (step.copiesToHost && assumption_.isPageable)
        join(lanes_[host].front, lanes_[lane].front);
}

void WorkOrder::wait(const HostStep& step) {
    Clock& now = lanes_[host].front;
    if (step.isDeviceWide) {
        for (const Lane& lane : lanes_)
            join(now, lane.front);
        return;
    }
    if (!step.event.empty()) {
        if (const auto event = events_.find(step.event); event != events_.end())
            join(now, event->second);
        return;
    }
    const std::uint32_t lane = laneOf(step.stream);
    if (assumption_.waitsForBlocking && lanes_[lane].kind == StreamKind::Legacy)
        join(now, before(lane));
    else
        join(now, lanes_[lane].front);
}

/// The works that such a call gives to two streams are not ordered.
void WorkOrder::addEverywhere(std::uint32_t number, const HostStep& step) {
    std::vector<std::pair<std::uint32_t, Clock>> added;
    for (std::uint32_t lane = 1; lane < lanes(); ++lane) {
        const std::string& name = lanes_[lane].name;
        const bool isNamed = std::ranges::find(step.handles, name) != step.handles.end() ||
                             (name.contains('#') && step.what.contains(name));
        if ((lanes_[lane].isOutside && !step.allocates) || isNamed)
            added.emplace_back(lane, before(lane));
    }
    addNode(number, host, lanes_[host].front);
    for (auto& [lane, clock] : added) {
        // Code that was given a stream may keep it.
        lanes_[lane].isOutside |= step.kind == HostStepKind::Host;
        clock[host] = std::max(clock[host], lanes_[host].count);
        addNode(number, lane, std::move(clock));
    }
}

} // namespace kernelskill::engine
