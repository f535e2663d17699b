/// Hardware counters of one kernel, by CUPTI's range profiler.
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

/// Why counters cannot be read here; a value where they can.
[[nodiscard]] Result<void> checkProfiler(const Cupti& cupti, const Device& device);

/// Reads the same metrics of any number of kernels. To make one takes 0.2 seconds.
class RangeProfiler {
public:
    /// Both have to live as long as the profiler. Metrics that the chip does not have are left out.
    [[nodiscard]] static Result<std::unique_ptr<RangeProfiler>>
    make(const Cupti& cupti, const Device& device, const std::vector<std::string>& metrics);
    RangeProfiler(const RangeProfiler&) = delete;
    RangeProfiler& operator=(const RangeProfiler&) = delete;
    ~RangeProfiler();

    /// Those of make() that this chip does not have.
    [[nodiscard]] const std::vector<std::string>& unknown() const;
    /// Runs `launch` once a pass, each on restored buffers and a swept cache, as ncu does.
    [[nodiscard]] Result<RangeCounters> count(const PreparedLaunch& launch, const CacheSweep& sweep,
                                              bool& isFatal) const;

private:
    struct Parts;
    explicit RangeProfiler(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

} // namespace kernelskill::engine::gpu
