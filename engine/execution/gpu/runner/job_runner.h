/// Answers requests: the work of a runner, without its process.
#pragma once

#include "engine/execution/gpu/runner/cupti.h"
#include "engine/execution/gpu/runner/device.h"
#include "engine/execution/gpu/runner/prepared_launch.h"
#include "engine/execution/gpu/runner/range_profile.h"
#include "engine/execution/gpu/runner_wire.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {

class JobRunner {
public:
    /// `cuptiLibrary` may be empty: then the loader searches. Missing if there is no driver or GPU.
    /// CUPTI is loaded on first use.
    [[nodiscard]] static Result<std::unique_ptr<JobRunner>> open(int ordinal,
                                                                 std::string cuptiLibrary);

    [[nodiscard]] Answer answer(const Request& request);

private:
    JobRunner(std::unique_ptr<Device> device, std::string cuptiLibrary)
        : device_(std::move(device)), cuptiLibrary_(std::move(cuptiLibrary)) {}

    [[nodiscard]] Result<const Cupti*> cupti();
    /// The profiler for these metrics; reused if the last job had the same ones.
    [[nodiscard]] Result<const RangeProfiler*> profiler(const std::vector<std::string>& metrics);
    [[nodiscard]] Answer describe();
    [[nodiscard]] Result<RunAnswer> run(const RunRequest& request, bool& isFatal);
    /// Makes the later launches of a request, and keeps their outputs in the answer if they differ.
    [[nodiscard]] Result<void> repeat(const RunRequest& request, const PreparedLaunch& launch,
                                      RunAnswer& answer, bool& isFatal) const;
    [[nodiscard]] Result<void> count(const RunRequest& request, const PreparedLaunch& launch,
                                     RunAnswer& answer, bool& isFatal);
    [[nodiscard]] Result<void> sample(const RunRequest& request, const PreparedLaunch& launch,
                                      RunAnswer& answer, bool& isFatal);

    std::unique_ptr<Device> device_;
    std::string cuptiLibrary_;
    std::optional<Result<Cupti>> cupti_;
    std::vector<std::string> profiledMetrics_; ///< The metrics of profiler_.
    std::unique_ptr<RangeProfiler> profiler_;
};

} // namespace kernelskill::engine::gpu
