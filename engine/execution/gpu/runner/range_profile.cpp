#include "engine/execution/gpu/runner/range_profile.h"

#include "engine/execution/gpu/runner/synchronise.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

constexpr std::uint32_t maxPasses = 200; // A metric needs only a few.
/// Each kernel of a pass is a range: first the sweep of the cache, then the profiled kernel.
constexpr std::size_t ranges = 2;
constexpr std::size_t rangeOfKernel = 1;

std::vector<const char*> pointersTo(const std::vector<std::string>& texts) {
    std::vector<const char*> pointers;
    for (const auto& text : texts)
        pointers.push_back(text.c_str());
    return pointers;
}

/// CUPTI's description of the chip: which counters form a metric.
class MetricHost {
public:
    static Result<MetricHost> make(const Cupti& cupti, const Device& device) {
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_Device_GetChipName_Params, chip);
        chip.deviceIndex = static_cast<std::size_t>(device.handle());
        if (auto named = cupti.check("chip name", cupti.cuptiDeviceGetChipName(&chip)); !named)
            return std::unexpected(named.error());
        MetricHost host(cupti);
        host.chip_ = chip.pChipName;
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params, availability);
        availability.ctx = device.context();
        const auto readAvailability = [&] {
            return cupti.check("available counters", Cupti::whenFree([&] {
                                   return cupti.cuptiProfilerGetCounterAvailability(&availability);
                               }));
        };
        if (auto sized = readAvailability(); !sized)
            return std::unexpected(sized.error());
        host.availability_.resize(availability.counterAvailabilityImageSize);
        availability.pCounterAvailabilityImage = host.availability_.data();
        if (auto read = readAvailability(); !read)
            return std::unexpected(read.error());
        if (auto opened = host.open(); !opened)
            return std::unexpected(opened.error());
        return host;
    }

    MetricHost(MetricHost&& other) noexcept
        : cupti_(other.cupti_), chip_(std::move(other.chip_)),
          availability_(std::move(other.availability_)),
          object_(std::exchange(other.object_, nullptr)) {}
    MetricHost& operator=(MetricHost&&) = delete;
    ~MetricHost() { close(); }

    /// Adds the metrics of `metrics` that the chip has, and returns them.
    Result<std::vector<std::string>> add(const std::vector<std::string>& metrics) {
        if (addAll(metrics) == CUPTI_SUCCESS)
            return metrics;
        // One of the names is unknown, and CUPTI does not say which one. Metrics that were added
        // before it remain, so start anew.
        std::vector<std::string> known;
        for (const auto& metric : metrics) {
            if (auto reopened = reopen(); !reopened)
                return std::unexpected(reopened.error());
            if (addAll({metric}) == CUPTI_SUCCESS)
                known.push_back(metric);
        }
        if (auto reopened = reopen(); !reopened)
            return std::unexpected(reopened.error());
        if (known.empty())
            return known;
        if (auto added = cupti_.check("add the metrics", addAll(known)); !added)
            return std::unexpected(added.error());
        return known;
    }

    Result<std::vector<std::uint8_t>> configuration() const {
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
        size.pHostObject = object_;
        if (auto sized = cupti_.check("size of the configuration",
                                      cupti_.cuptiProfilerHostGetConfigImageSize(&size));
            !sized)
            return std::unexpected(sized.error());
        std::vector<std::uint8_t> image(size.configImageSize);
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params, get);
        get.pHostObject = object_;
        get.configImageSize = image.size();
        get.pConfigImage = image.data();
        if (auto got =
                cupti_.check("the configuration", cupti_.cuptiProfilerHostGetConfigImage(&get));
            !got)
            return std::unexpected(got.error());
        return image;
    }

    Result<Metrics> evaluate(const std::vector<std::uint8_t>& counters,
                             const std::vector<std::string>& metrics) const {
        auto names = pointersTo(metrics);
        std::vector<double> values(metrics.size());
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, parameters);
        parameters.pHostObject = object_;
        parameters.pCounterDataImage = counters.data();
        parameters.counterDataImageSize = counters.size();
        parameters.rangeIndex = rangeOfKernel;
        parameters.ppMetricNames = names.data();
        parameters.numMetrics = names.size();
        parameters.pMetricValues = values.data();
        if (auto evaluated = cupti_.check("evaluate the metrics",
                                          cupti_.cuptiProfilerHostEvaluateToGpuValues(&parameters));
            !evaluated)
            return std::unexpected(evaluated.error());
        Metrics result;
        for (std::size_t i = 0; i < metrics.size(); ++i) {
            if (std::isfinite(values[i])) // The ratio 0 / 0 is not a number.
                result[metrics[i]] = values[i];
        }
        return result;
    }

private:
    explicit MetricHost(const Cupti& cupti) : cupti_(cupti) {}

    Result<void> open() {
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Host_Initialize_Params, parameters);
        parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
        parameters.pChipName = chip_.c_str();
        parameters.pCounterAvailabilityImage = availability_.data();
        if (auto made = cupti_.check("open the profiler's host",
                                     cupti_.cuptiProfilerHostInitialize(&parameters));
            !made)
            return made;
        object_ = parameters.pHostObject;
        return {};
    }

    void close() {
        if (object_ == nullptr)
            return;
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, parameters);
        parameters.pHostObject = std::exchange(object_, nullptr);
        cupti_.cuptiProfilerHostDeinitialize(&parameters);
    }

    Result<void> reopen() {
        close();
        return open();
    }

    CUptiResult addAll(const std::vector<std::string>& metrics) const {
        auto names = pointersTo(metrics);
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params, parameters);
        parameters.pHostObject = object_;
        parameters.ppMetricNames = names.data();
        parameters.numMetrics = names.size();
        return cupti_.cuptiProfilerHostConfigAddMetrics(&parameters);
    }

    const Cupti& cupti_;
    std::string chip_;
    std::vector<std::uint8_t> availability_;
    CUpti_Profiler_Host_Object* object_ = nullptr;
};

/// The range profiler, enabled on a context for as long as this object lives.
class Session {
public:
    static Result<Session> enable(const Cupti& cupti, const Device& device) {
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Enable_Params, parameters);
        parameters.ctx = device.context();
        if (auto enabled = cupti.check("enable the profiler", Cupti::whenFree([&] {
                                           return cupti.cuptiRangeProfilerEnable(&parameters);
                                       }));
            !enabled) {
            // CUPTI has answered CUPTI_ERROR_INVALID_PARAMETER while other processes counted. A
            // kernel can be timed all the same.
            Error error = enabled.error();
            error.kind = ErrorKind::Missing;
            return std::unexpected(std::move(error));
        }
        return Session(cupti, parameters.pRangeProfilerObject);
    }

    Session(Session&& other) noexcept
        : cupti_(other.cupti_), object_(std::exchange(other.object_, nullptr)) {}
    Session& operator=(Session&&) = delete;
    ~Session() {
        if (object_ == nullptr)
            return;
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Disable_Params, parameters);
        parameters.pRangeProfilerObject = object_;
        cupti_.cuptiRangeProfilerDisable(&parameters);
    }

    Result<void> configure(const std::vector<std::string>& metrics,
                           std::vector<std::uint8_t> configuration) {
        configuration_ = std::move(configuration);
        auto names = pointersTo(metrics);
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
        size.pRangeProfilerObject = object_;
        size.pMetricNames = names.data();
        size.numMetrics = names.size();
        size.maxNumOfRanges = ranges;
        size.maxNumRangeTreeNodes = ranges;
        if (auto sized = cupti_.check("size of the counters",
                                      cupti_.cuptiRangeProfilerGetCounterDataSize(&size));
            !sized)
            return sized;
        counters_.resize(size.counterDataSize);
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, begin);
        begin.pRangeProfilerObject = object_;
        begin.counterDataSize = counters_.size();
        begin.pCounterData = counters_.data();
        if (auto begun = cupti_.check("room for the counters",
                                      cupti_.cuptiRangeProfilerCounterDataImageInitialize(&begin));
            !begun)
            return begun;
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params, parameters);
        parameters.pRangeProfilerObject = object_;
        parameters.configSize = configuration_.size();
        parameters.pConfig = configuration_.data();
        parameters.counterDataImageSize = counters_.size();
        parameters.pCounterDataImage = counters_.data();
        // Around the kernel alone, so that percentages refer to its time.
        parameters.range = CUPTI_AutoRange;
        parameters.replayMode = CUPTI_UserReplay;
        parameters.maxRangesPerPass = ranges;
        parameters.numNestingLevels = 1;
        parameters.minNestingLevel = 1;
        parameters.passIndex = 0;
        parameters.targetNestingLevel = 0;
        return cupti_.check("configure the profiler",
                            cupti_.cuptiRangeProfilerSetConfig(&parameters));
    }

    Result<void> start() {
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Start_Params, begin);
        begin.pRangeProfilerObject = object_;
        return cupti_.check("start a pass", Cupti::whenFree([&] {
                                return cupti_.cuptiRangeProfilerStart(&begin);
                            }));
    }

    /// Returns whether that was the last pass.
    Result<bool> stop() {
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Stop_Params, end);
        end.pRangeProfilerObject = object_;
        if (auto ended = cupti_.check("end a pass", cupti_.cuptiRangeProfilerStop(&end)); !ended)
            return std::unexpected(ended.error());
        return end.isAllPassSubmitted != 0;
    }

    Result<std::vector<std::uint8_t>> counters() {
        KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params, parameters);
        parameters.pRangeProfilerObject = object_;
        if (auto decoded = cupti_.check("decode the counters",
                                        cupti_.cuptiRangeProfilerDecodeData(&parameters));
            !decoded)
            return std::unexpected(decoded.error());
        return counters_;
    }

private:
    Session(const Cupti& cupti, CUpti_RangeProfiler_Object* object)
        : cupti_(cupti), object_(object) {}

    const Cupti& cupti_;
    CUpti_RangeProfiler_Object* object_;
    std::vector<std::uint8_t> configuration_;
    std::vector<std::uint8_t> counters_;
};

Result<void> initialise(const Cupti& cupti) {
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Initialize_Params, parameters);
    return cupti.check("initialise the profiler", cupti.cuptiProfilerInitialize(&parameters));
}

} // namespace

Result<void> checkProfiler(const Cupti& cupti, const Device& device) {
    if (auto ready = initialise(cupti); !ready)
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
    auto session = Session::enable(cupti, device);
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
    if (auto ready = initialise(cupti); !ready)
        return std::unexpected(ready.error());
    auto host = MetricHost::make(cupti, device);
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
    auto session = Session::enable(parts_->cupti, parts_->device);
    if (!session)
        return std::unexpected(session.error());
    if (auto configured = session->configure(parts_->known, parts_->configuration); !configured)
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
    auto values = parts_->host.evaluate(*counters, parts_->known);
    if (!values)
        return std::unexpected(values.error());
    result.metrics = std::move(*values);
    return result;
}

} // namespace kernelskill::engine::gpu
