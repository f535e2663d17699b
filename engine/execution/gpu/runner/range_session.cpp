#include "engine/execution/gpu/runner/range_session.h"

#include "engine/execution/gpu/runner/metric_host.h"

#include <utility>

namespace kernelskill::engine::gpu {

Result<RangeSession> RangeSession::enable(const Cupti& cupti, CUcontext context) {
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Enable_Params, parameters);
    parameters.ctx = context;
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
    return RangeSession(cupti, parameters.pRangeProfilerObject);
}

RangeSession::RangeSession(RangeSession&& other) noexcept
    : cupti_(other.cupti_), object_(std::exchange(other.object_, nullptr)),
      configuration_(std::move(other.configuration_)), counters_(std::move(other.counters_)) {}

RangeSession::~RangeSession() {
    if (object_ == nullptr)
        return;
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Disable_Params, parameters);
    parameters.pRangeProfilerObject = object_;
    cupti_.cuptiRangeProfilerDisable(&parameters);
}

Result<void> RangeSession::configure(const std::vector<std::string>& metrics,
                                     std::vector<std::uint8_t> configuration, std::size_t ranges) {
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
    return cupti_.check("configure the profiler", cupti_.cuptiRangeProfilerSetConfig(&parameters));
}

Result<void> RangeSession::start() {
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Start_Params, begin);
    begin.pRangeProfilerObject = object_;
    return cupti_.check("start a pass",
                        Cupti::whenFree([&] { return cupti_.cuptiRangeProfilerStart(&begin); }));
}

Result<bool> RangeSession::stop() {
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_Stop_Params, end);
    end.pRangeProfilerObject = object_;
    if (auto ended = cupti_.check("end a pass", cupti_.cuptiRangeProfilerStop(&end)); !ended)
        return std::unexpected(ended.error());
    return end.isAllPassSubmitted != 0;
}

Result<std::vector<std::uint8_t>> RangeSession::counters() {
    KERNELSKILL_CUPTI_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params, parameters);
    parameters.pRangeProfilerObject = object_;
    if (auto decoded =
            cupti_.check("decode the counters", cupti_.cuptiRangeProfilerDecodeData(&parameters));
        !decoded)
        return std::unexpected(decoded.error());
    return counters_;
}

} // namespace kernelskill::engine::gpu
