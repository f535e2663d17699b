// The one metric is gpu__time_duration.sum. As in CUPTI, what evaluates metrics is torn down at the
// end of the process by a handler that is registered when it is first asked for.
#include "fake_profiler.h"

#include <cstdlib>
#include <cstring>
#include <cupti_activity.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <string_view>
#include <vector>

namespace {

struct Pass {
    std::vector<double> nanoseconds; ///< Of its ranges.
    std::size_t maxRanges = 0;
    std::uint8_t* counters = nullptr;
    bool isConfigured = false;
    bool isRunning = false;
    bool isTornDown = false;
};

Pass& pass() {
    static Pass instance;
    return instance;
}

} // namespace

void countRange(std::uint64_t threads) {
    if (pass().isRunning && pass().nanoseconds.size() < pass().maxRanges)
        pass().nanoseconds.push_back(10 * static_cast<double>(threads));
}

extern "C" {
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) {
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* parameters) {
    parameters->isSupported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    return CUPTI_SUCCESS;
}
CUptiResult
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* parameters) {
    parameters->counterAvailabilityImageSize = 1;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* parameters) {
    parameters->pChipName = "STANDIN";
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* parameters) {
    static const int registered = std::atexit([] { pass().isTornDown = true; });
    parameters->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&pass());
    return registered == 0 ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) {
    return CUPTI_SUCCESS;
}
CUptiResult
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* parameters) {
    for (std::size_t i = 0; i < parameters->numMetrics; ++i)
        if (parameters->ppMetricNames[i] != std::string_view("gpu__time_duration.sum"))
            return CUPTI_ERROR_INVALID_METRIC_NAME;
    return CUPTI_SUCCESS;
}
CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* parameters) {
    parameters->configImageSize = 1;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params*) {
    return CUPTI_SUCCESS;
}
CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* parameters) {
    const std::size_t at = parameters->rangeIndex * sizeof(double);
    if (pass().isTornDown || at + sizeof(double) > parameters->counterDataImageSize)
        return CUPTI_ERROR_INVALID_METRIC_NAME;
    std::memcpy(parameters->pMetricValues, parameters->pCounterDataImage + at, sizeof(double));
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* parameters) {
    parameters->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&pass());
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) {
    pass().isConfigured = false;
    return CUPTI_SUCCESS;
}
CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* parameters) {
    parameters->counterDataSize = parameters->maxNumOfRanges * sizeof(double);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* parameters) {
    std::memset(parameters->pCounterData, 0, parameters->counterDataSize);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* parameters) {
    if (pass().isConfigured)
        return CUPTI_ERROR_UNKNOWN; // CUPTI of CUDA 13.0 ends the process with a fault.
    pass().isConfigured = true;
    pass().counters = parameters->pCounterDataImage;
    pass().maxRanges = parameters->maxRangesPerPass;
    pass().nanoseconds.clear();
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
    pass().isRunning = true;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* parameters) {
    pass().isRunning = false;
    parameters->isAllPassSubmitted = 1;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params*) {
    std::memcpy(pass().counters, pass().nanoseconds.data(),
                pass().nanoseconds.size() * sizeof(double));
    return CUPTI_SUCCESS;
}

// Programs that are recorded take no samples; the functions only have to be there.
#define KERNELSKILL_UNSUPPORTED(name, Parameters)                                                  \
    CUptiResult name(Parameters*) {                                                                \
        return CUPTI_ERROR_NOT_SUPPORTED;                                                          \
    }
KERNELSKILL_UNSUPPORTED(cuptiPCSamplingEnable, CUpti_PCSamplingEnableParams)
KERNELSKILL_UNSUPPORTED(cuptiPCSamplingDisable, CUpti_PCSamplingDisableParams)
KERNELSKILL_UNSUPPORTED(cuptiPCSamplingStart, CUpti_PCSamplingStartParams)
KERNELSKILL_UNSUPPORTED(cuptiPCSamplingStop, CUpti_PCSamplingStopParams)
KERNELSKILL_UNSUPPORTED(cuptiPCSamplingGetData, CUpti_PCSamplingGetDataParams)
KERNELSKILL_UNSUPPORTED(cuptiPCSamplingSetConfigurationAttribute,
                        CUpti_PCSamplingConfigurationInfoParams)
KERNELSKILL_UNSUPPORTED(cuptiPCSamplingGetNumStallReasons, CUpti_PCSamplingGetNumStallReasonsParams)
KERNELSKILL_UNSUPPORTED(cuptiPCSamplingGetStallReasons, CUpti_PCSamplingGetStallReasonsParams)
KERNELSKILL_UNSUPPORTED(cuptiGetSassToSourceCorrelation, CUpti_GetSassToSourceCorrelationParams)
#undef KERNELSKILL_UNSUPPORTED

CUptiResult cuptiActivityDisable(CUpti_ActivityKind) {
    return CUPTI_SUCCESS;
}
}
