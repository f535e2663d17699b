/// CUPTI, NVIDIA's profiling library, loaded at run time.
#pragma once

#include "analysis/source/error.h"

#include <cupti_activity.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <functional>
#include <string>

namespace kernelskill::engine::gpu {

#define KERNELSKILL_CUPTI_FUNCTIONS(X)                                                             \
    X(cuptiGetResultString)                                                                        \
    X(cuptiProfilerInitialize)                                                                     \
    X(cuptiProfilerDeviceSupported)                                                                \
    X(cuptiProfilerGetCounterAvailability)                                                         \
    X(cuptiDeviceGetChipName)                                                                      \
    X(cuptiProfilerHostInitialize)                                                                 \
    X(cuptiProfilerHostDeinitialize)                                                               \
    X(cuptiProfilerHostConfigAddMetrics)                                                           \
    X(cuptiProfilerHostGetConfigImageSize)                                                         \
    X(cuptiProfilerHostGetConfigImage)                                                             \
    X(cuptiProfilerHostEvaluateToGpuValues)                                                        \
    X(cuptiRangeProfilerEnable)                                                                    \
    X(cuptiRangeProfilerDisable)                                                                   \
    X(cuptiRangeProfilerSetConfig)                                                                 \
    X(cuptiRangeProfilerStart)                                                                     \
    X(cuptiRangeProfilerStop)                                                                      \
    X(cuptiRangeProfilerDecodeData)                                                                \
    X(cuptiRangeProfilerGetCounterDataSize)                                                        \
    X(cuptiRangeProfilerCounterDataImageInitialize)                                                \
    X(cuptiPCSamplingEnable)                                                                       \
    X(cuptiPCSamplingDisable)                                                                      \
    X(cuptiPCSamplingStart)                                                                        \
    X(cuptiPCSamplingStop)                                                                         \
    X(cuptiPCSamplingGetData)                                                                      \
    X(cuptiPCSamplingSetConfigurationAttribute)                                                    \
    X(cuptiPCSamplingGetNumStallReasons)                                                           \
    X(cuptiPCSamplingGetStallReasons)                                                              \
    X(cuptiGetSassToSourceCorrelation)                                                             \
    X(cuptiActivityRegisterCallbacks)                                                              \
    X(cuptiActivityEnable)                                                                         \
    X(cuptiActivityDisable)                                                                        \
    X(cuptiActivityFlushAll)                                                                       \
    X(cuptiActivityGetNextRecord)

struct Cupti {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares what it is given
#define KERNELSKILL_MEMBER(name) decltype(&::name) name = nullptr;
    KERNELSKILL_CUPTI_FUNCTIONS(KERNELSKILL_MEMBER)
#undef KERNELSKILL_MEMBER

    /// Loads `library` if it is not empty, else the library that the loader finds. Missing, with a
    /// remedy, if there is none or it is older than CUDA 12.6.
    [[nodiscard]] static Result<Cupti> load(const std::string& library);

    /// Calls `function` anew as long as another process has the counters, for at most 20 s.
    [[nodiscard]] static CUptiResult whenFree(const std::function<CUptiResult()>& function);

    /// Failed; or Missing, with a remedy, if the user may not read counters or another process
    /// keeps them.
    [[nodiscard]] Error failure(const char* step, CUptiResult status) const;
    [[nodiscard]] Result<void> check(const char* step, CUptiResult status) const {
        if (status != CUPTI_SUCCESS)
            return std::unexpected(failure(step, status));
        return {};
    }
};

/// Declares `name` with its size field set, as every CUPTI function requires.
// NOLINTBEGIN(bugprone-macro-parentheses): it declares what it is given
#define KERNELSKILL_CUPTI_PARAMETERS(type, name)                                                   \
    type name{};                                                                                   \
    name.structSize = type##_STRUCT_SIZE
// NOLINTEND(bugprone-macro-parentheses)

} // namespace kernelskill::engine::gpu
