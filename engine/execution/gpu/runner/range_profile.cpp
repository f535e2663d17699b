#include "engine/execution/gpu/runner/range_profile.h"

#include "engine/execution/gpu/runner/metric_host.h"
#include "engine/execution/gpu/runner/range_session.h"
#include "engine/execution/gpu/runner/synchronise.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

constexpr std::uint32_t maxPasses = 200; // A metric needs only a few.
/// Each kernel of a pass is a range: first the sweep of the cache, then the profiled kernel.
constexpr std::size_t ranges = 2;
constexpr std::size_t rangeOfKernel = 1;

} // namespace

Result<void> checkProfiler(const Cupti& cupti, const Device& device) {
    if (auto ready = initialiseProfiler(cupti); !ready)
        return ready;
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_DeviceSupported_Params, support);
    support.cuDevice = device.handle();
    support.api = CUPTI_PROFILER_RANGE_PROFILING;
    if (auto asked =
            cupti.check("support for this GPU", cupti.cuptiProfilerDeviceSupported(&support));
        !asked)
        return asked;
    if (support.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
        return std::unexpected(
            Error{ErrorKind::Unsupported,
                  support.architecture != CUPTI_PROFILER_CONFIGURATION_SUPPORTED
                      ? "CUPTI does not profile GPUs as old as this one"
                      : "the GPU's counters are disabled on this machine (virtual GPU, SLI, WSL or "
                        "confidential computing)",
                  {},
                  {}});
    // Only an attempt shows whether this user has the right.
    auto session = RangeSession::enable(cupti, device.context());
    if (!session)
        return std::unexpected(session.error());
    return {};
}

struct RangeProfiler::Parts {
    const Cupti& cupti;
    const Device& device;
    MetricHost host;
    std::vector<std::string> known;
    std::vector<std::string> unknown;
    std::vector<std::uint8_t> configuration;
};

RangeProfiler::RangeProfiler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
RangeProfiler::~RangeProfiler() = default;

Result<std::unique_ptr<RangeProfiler>>
RangeProfiler::make(const Cupti& cupti, const Device& device,
                    const std::vector<std::string>& metrics) {
    if (auto ready = initialiseProfiler(cupti); !ready)
        return std::unexpected(ready.error());
    auto host = MetricHost::make(cupti, device.handle(), device.context());
    if (!host)
        return std::unexpected(host.error());
    auto known = host->add(metrics);
    if (!known)
        return std::unexpected(known.error());
    std::vector<std::string> unknown;
    std::ranges::copy_if(metrics, std::back_inserter(unknown), [&](const std::string& metric) {
        return std::ranges::find(*known, metric) == known->end();
    });
    std::vector<std::uint8_t> configuration;
    if (!known->empty()) {
        auto made = host->configuration();
        if (!made)
            return std::unexpected(made.error());
        configuration = std::move(*made);
    }
    return std::unique_ptr<RangeProfiler>(new RangeProfiler(
        std::unique_ptr<Parts>(new Parts{cupti, device, std::move(*host), std::move(*known),
                                         std::move(unknown), std::move(configuration)})));
}

const std::vector<std::string>& RangeProfiler::unknown() const {
    return parts_->unknown;
}

Result<RangeCounters> RangeProfiler::count(const PreparedLaunch& launch, const CacheSweep& sweep,
                                           bool& isFatal) const {
    RangeCounters result;
    if (parts_->known.empty())
        return result;
    const auto& driver = parts_->device.driver();
    auto session = RangeSession::enable(parts_->cupti, parts_->device.context());
    if (!session)
        return std::unexpected(session.error());
    if (auto configured = session->configure(parts_->known, parts_->configuration, ranges);
        !configured)
        return std::unexpected(configured.error());
    for (bool isLast = false; !isLast && result.passes < maxPasses; ++result.passes) {
        auto done = launch.restore();
        if (done)
            done = synchronise(driver, isFatal);
        if (done)
            done = session->start();
        // After the start, because that leaves CUPTI's own data in the cache.
        if (done)
            done = sweep();
        if (done)
            done = launch.launch();
        if (done)
            done = synchronise(driver, isFatal);
        if (!done)
            return std::unexpected(done.error());
        const auto last = session->stop();
        if (!last)
            return std::unexpected(last.error());
        isLast = *last;
    }
    const auto counters = session->counters();
    if (!counters)
        return std::unexpected(counters.error());
    auto values = parts_->host.evaluate(*counters, parts_->known, rangeOfKernel);
    if (!values)
        return std::unexpected(values.error());
    result.metrics = std::move(*values);
    return result;
}

} // namespace kernelskill::engine::gpu
