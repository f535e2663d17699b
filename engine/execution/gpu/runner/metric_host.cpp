#include "engine/execution/gpu/runner/metric_host.h"

#include <cmath>
#include <utility>

namespace kernelskill::engine::gpu {

Result<void> initialiseProfiler(const Cupti& cupti) {
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Initialize_Params, parameters);
    return cupti.check("initialise the profiler", cupti.cuptiProfilerInitialize(&parameters));
}

std::vector<const char*> pointersTo(const std::vector<std::string>& texts) {
    std::vector<const char*> pointers;
    for (const auto& text : texts)
        pointers.push_back(text.c_str());
    return pointers;
}

Result<MetricHost> MetricHost::make(const Cupti& cupti, CUdevice device, CUcontext context) {
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_Device_GetChipName_Params, chip);
    chip.deviceIndex = static_cast<std::size_t>(device);
    if (auto named = cupti.check("chip name", cupti.cuptiDeviceGetChipName(&chip)); !named)
        return std::unexpected(named.error());
    MetricHost host(cupti);
    host.chip_ = chip.pChipName;
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params, availability);
    availability.ctx = context;
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

MetricHost::MetricHost(MetricHost&& other) noexcept
    : cupti_(other.cupti_), chip_(std::move(other.chip_)),
      availability_(std::move(other.availability_)),
      object_(std::exchange(other.object_, nullptr)) {}

MetricHost::~MetricHost() {
    close();
}

Result<std::vector<std::string>> MetricHost::add(const std::vector<std::string>& metrics) {
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

Result<std::vector<std::uint8_t>> MetricHost::configuration() const {
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
    if (auto got = cupti_.check("the configuration", cupti_.cuptiProfilerHostGetConfigImage(&get));
        !got)
        return std::unexpected(got.error());
    return image;
}

Result<Metrics> MetricHost::evaluate(const std::vector<std::uint8_t>& counters,
                                     const std::vector<std::string>& metrics,
                                     std::size_t range) const {
    auto names = pointersTo(metrics);
    std::vector<double> values(metrics.size());
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, parameters);
    parameters.pHostObject = object_;
    parameters.pCounterDataImage = counters.data();
    parameters.counterDataImageSize = counters.size();
    parameters.rangeIndex = range;
    parameters.ppMetricNames = names.data();
    parameters.numMetrics = names.size();
    parameters.pMetricValues = values.data();
    if (auto evaluated = cupti_.check("evaluate the metrics",
                                      cupti_.cuptiProfilerHostEvaluateToGpuValues(&parameters));
        !evaluated)
        return std::unexpected(evaluated.error());
    Metrics result;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        if (std::isfinite(values[i]))
            result[metrics[i]] = values[i];
    }
    return result;
}

Result<void> MetricHost::open() {
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

void MetricHost::close() {
    if (object_ == nullptr)
        return;
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, parameters);
    parameters.pHostObject = std::exchange(object_, nullptr);
    cupti_.cuptiProfilerHostDeinitialize(&parameters);
}

Result<void> MetricHost::reopen() {
    close();
    return open();
}

CUptiResult MetricHost::addAll(const std::vector<std::string>& metrics) const {
    auto names = pointersTo(metrics);
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params, parameters);
    parameters.pHostObject = object_;
    parameters.ppMetricNames = names.data();
    parameters.numMetrics = names.size();
    return cupti_.cuptiProfilerHostConfigAddMetrics(&parameters);
}

} // namespace kernelskill::engine::gpu
