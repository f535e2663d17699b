/// Measures how long kernels ran, without the time that their launches take.
#pragma once

#include "engine/execution/gpu/runner/cupti.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {

/// Records the kernels of this process from start() on. Only one may exist at a time.
class ActivityClock {
public:
    /// Failed if CUPTI cannot record activities beside what else uses it.
    [[nodiscard]] static Result<std::unique_ptr<ActivityClock>> start(const Cupti& cupti);
    ActivityClock(const ActivityClock&) = delete;
    ActivityClock& operator=(const ActivityClock&) = delete;
    ~ActivityClock();

    /// The microseconds of each kernel so far whose mangled name is one of `symbols`, in the order
    /// in which they began. Call it after synchronising the device.
    [[nodiscard]] Result<std::vector<double>> durations(const std::set<std::string>& symbols);

private:
    explicit ActivityClock(const Cupti& cupti) : cupti_(cupti) {}

    const Cupti& cupti_;
};

} // namespace kernelskill::engine::gpu
