/// CUPTI's range profiler, enabled on a context.
#pragma once

#include "engine/execution/gpu/runner/cupti.h"

#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {

/// Counts as long as it lives. Each kernel between start() and stop() is a range.
class RangeSession {
public:
    /// `cupti` outlives the session. Missing if the profiler cannot be enabled.
    [[nodiscard]] static Result<RangeSession> enable(const Cupti& cupti, CUcontext context);
    RangeSession(RangeSession&& other) noexcept;
    RangeSession& operator=(RangeSession&&) = delete;
    ~RangeSession();

    /// At most `ranges` kernels are counted in a pass. `configuration` is MetricHost's.
    [[nodiscard]] Result<void> configure(const std::vector<std::string>& metrics,
                                         std::vector<std::uint8_t> configuration,
                                         std::size_t ranges);
    [[nodiscard]] Result<void> start();
    /// Returns whether that was the last pass.
    [[nodiscard]] Result<bool> stop();
    /// The counters of all ranges, for MetricHost::evaluate().
    [[nodiscard]] Result<std::vector<std::uint8_t>> counters();

private:
    RangeSession(const Cupti& cupti, CUpti_RangeProfiler_Object* object)
        : cupti_(cupti), object_(object) {}

    const Cupti& cupti_;
    CUpti_RangeProfiler_Object* object_;
    std::vector<std::uint8_t> configuration_;
    std::vector<std::uint8_t> counters_;
};

} // namespace kernelskill::engine::gpu
