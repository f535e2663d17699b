#include "engine/execution/gpu/runner/timing_run.h"

#include "engine/execution/gpu/runner/activity_clock.h"
#include "engine/execution/gpu/runner/device_clocks.h"
#include "engine/execution/gpu/runner/event_clock.h"
#include "engine/execution/gpu/runner/helper_launch.h"
#include "engine/execution/gpu/runner/synchronise.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {
namespace {

using Now = std::chrono::steady_clock;

/// An idle GPU needs some milliseconds of work to reach its clocks.
constexpr std::chrono::milliseconds minWarmUp{50};

/// Whether one of two subjects was `ratio` times as fast as the other in each round.
bool isClear(const std::vector<std::vector<double>>& microseconds, double ratio) {
    if (ratio <= 0 || microseconds.size() != 2)
        return false;
    const auto isAlways = [&](const std::vector<double>& fast, const std::vector<double>& slow) {
        return std::ranges::equal(fast, slow,
                                  [&](double less, double more) { return less * ratio < more; });
    };
    return isAlways(microseconds[0], microseconds[1]) || isAlways(microseconds[1], microseconds[0]);
}

class SideBySide {
public:
    SideBySide(Device& device, const Cupti* cupti, std::span<const PreparedLaunch* const> launches,
               const TimingPlan& plan, bool& isFatal)
        : device_(device), cupti_(cupti), launches_(launches), plan_(plan), isFatal_(isFatal) {}

    Result<TimingAnswer> run() {
        if (auto prepared = prepare(); !prepared)
            return std::unexpected(prepared.error());
        TimingAnswer answer;
        answer.microseconds.resize(launches_.size());
        const auto begin = Now::now();
        const auto isTooLong = [&](std::uint32_t rounds, std::chrono::milliseconds longest) {
            return rounds > 0 && Now::now() >= begin + longest;
        };
        for (std::uint32_t i = 0; (i < plan_.warmUpRounds || Now::now() < begin + minWarmUp) &&
                                  !isTooLong(i, plan_.longest / 4);
             ++i) {
            if (auto warmed = round(i, nullptr); !warmed)
                return std::unexpected(warmed.error());
        }
        answer.before = clocksOf(device_.busId());
        const auto recorded = cupti_ != nullptr
                                  ? ActivityClock::start(*cupti_)
                                  : std::unexpected(Error{ErrorKind::Missing, {}, {}, {}});
        const auto end = Now::now() + plan_.budget;
        for (std::uint32_t i = 0;
             i < plan_.maxRounds && !isTooLong(i, plan_.longest) &&
             (i < plan_.minRounds ||
              (Now::now() < end && !isClear(answer.microseconds, plan_.clearRatio)));
             ++i) {
            if (auto timed = round(i, &answer); !timed)
                return std::unexpected(timed.error());
        }
        answer.after = clocksOf(device_.busId());
        if (recorded)
            takeDurations(**recorded, answer);
        return answer;
    }

private:
    Result<void> prepare() {
        if (plan_.sweepCache) {
            auto sweep = CacheSweep::prepare(device_);
            if (!sweep)
                return std::unexpected(sweep.error());
            sweep_.emplace(std::move(*sweep));
        }
        auto clock = EventClock::make(device_);
        if (!clock)
            return std::unexpected(clock.error());
        clock_.emplace(*clock);
        return {};
    }

    /// Replaces the times between events, which hold a part of the launch, by those of the kernels
    /// alone, if each launch was recorded.
    void takeDurations(ActivityClock& clock, TimingAnswer& answer) const {
        std::set<std::string> symbols;
        for (const PreparedLaunch* launch : launches_)
            symbols.insert(launch->symbol());
        const auto durations = clock.durations(symbols);
        if (!durations || durations->size() != order_.size())
            return;
        std::vector<std::size_t> next(launches_.size(), 0);
        for (std::size_t i = 0; i < order_.size(); ++i)
            answer.microseconds[order_[i]][next[order_[i]]++] = (*durations)[i];
        answer.areDurations = true;
    }

    /// Runs every subject once. Each is first as often as last.
    Result<void> round(std::uint32_t number, TimingAnswer* answer) {
        for (std::size_t step = 0; step < launches_.size(); ++step) {
            const auto which = number % 2 == 0 ? step : launches_.size() - 1 - step;
            const auto time = timeOnce(*launches_[which]);
            if (!time)
                return std::unexpected(time.error());
            if (answer == nullptr)
                continue;
            answer->microseconds[which].push_back(*time);
            order_.push_back(which);
        }
        return {};
    }

    Result<double> timeOnce(const PreparedLaunch& launch) {
        auto done = launch.restore();
        if (done && sweep_)
            done = (*sweep_)();
        // Earlier work must have ended, because a launch that waits in the queue would be timed
        // with it.
        if (done)
            done = synchronise(device_.driver(), isFatal_);
        if (done)
            done = clock_->start();
        if (done)
            done = launch.launch();
        if (done)
            done = clock_->stop();
        if (done)
            done = synchronise(device_.driver(), isFatal_);
        if (!done)
            return std::unexpected(done.error());
        return clock_->microseconds();
    }

    Device& device_;
    const Cupti* cupti_;
    std::span<const PreparedLaunch* const> launches_;
    const TimingPlan& plan_;
    bool& isFatal_;
    std::optional<CacheSweep> sweep_;
    std::optional<EventClock> clock_;
    std::vector<std::size_t> order_; ///< The subjects in the order in which they were timed.
};

} // namespace

Result<TimingAnswer> timeSubjects(Device& device, const Cupti* cupti, const TimingRequest& request,
                                  bool& isFatal) {
    std::vector<std::unique_ptr<PreparedLaunch>> launches;
    std::vector<const PreparedLaunch*> each;
    for (const Subject& subject : request.subjects) {
        auto launch = PreparedLaunch::prepare(device, subject, request.seed,
                                              launches.empty() ? nullptr : launches.front().get());
        if (!launch)
            return std::unexpected(launch.error());
        each.push_back(launch->get());
        launches.push_back(std::move(*launch));
    }
    return timeLaunches(device, cupti, each, request.plan, isFatal);
}

Result<TimingAnswer> timeLaunches(Device& device, const Cupti* cupti,
                                  std::span<const PreparedLaunch* const> launches,
                                  const TimingPlan& plan, bool& isFatal) {
    return SideBySide(device, cupti, launches, plan, isFatal).run();
}

} // namespace kernelskill::engine::gpu
