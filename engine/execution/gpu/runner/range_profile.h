/// Reads hardware counters of one kernel by CUPTI's range profiler.
#pragma once

#include "engine/execution/gpu/runner/cupti.h"
#include "engine/execution/gpu/runner/device.h"
#include "engine/execution/gpu/runner/helper_launch.h"
#include "engine/execution/gpu/runner/prepared_launch.h"
#include "engine/execution/profile.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {

struct RangeCounters {
    Metrics metrics;
    std::uint32_t passes = 0;
};

/// Returns the reason if counters cannot be read here.
[[nodiscard]] Result<void> checkProfiler(const Cupti& cupti, const Device& device);

/// Reads the same metrics for any number of kernels. Creating one takes 0.2 seconds.
class RangeProfiler {
public:
    /// Both arguments outlive the profiler. Metrics that the chip lacks are left out.
    [[nodiscard]] static Result<std::unique_ptr<RangeProfiler>>
    make(const Cupti& cupti, const Device& device, const std::vector<std::string>& metrics);
    RangeProfiler(const RangeProfiler&) = delete;
    RangeProfiler& operator=(const RangeProfiler&) = delete;
    ~RangeProfiler();

    /// The metrics given to make() that this chip lacks.
    [[nodiscard]] const std::vector<std::string>& unknown() const;
    /// Runs `launch` once per pass, each time with restored buffers and a swept cache, as ncu does.
    [[nodiscard]] Result<RangeCounters> count(const PreparedLaunch& launch, const CacheSweep& sweep,
                                              bool& isFatal) const;

private:
    struct Parts;
    explicit RangeProfiler(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

} // namespace kernelskill::engine::gpu
