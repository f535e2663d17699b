#include "engine/execution/gpu/runner/activity_clock.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

constexpr std::size_t bufferBytes = 1 << 20;
constexpr std::size_t bufferAlignment = 8; // As CUPTI requires.

struct RecordedKernel {
    std::uint64_t begin = 0; ///< Nanoseconds.
    std::uint64_t end = 0;
    std::string symbol;
};

/// CUPTI's callbacks carry no pointer of ours, so what they write to is global.
struct Records {
    std::mutex mutex;
    const Cupti* cupti = nullptr; ///< Null while no clock exists.
    std::vector<RecordedKernel> kernels;
};

Records& records() {
    static Records all;
    return all;
}

void CUPTIAPI giveBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords) {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): CUPTI releases it to takeBuffer()
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(bufferAlignment, bufferBytes));
    *size = *buffer != nullptr ? bufferBytes : 0;
    *maxRecords = 0; // No limit other than the size.
}

void CUPTIAPI takeBuffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                         std::size_t validBytes) {
    const std::unique_ptr<std::uint8_t, decltype(&std::free)> owned(buffer, &std::free);
    Records& all = records();
    const std::scoped_lock lock(all.mutex);
    if (all.cupti == nullptr || validBytes == 0)
        return;
    CUpti_Activity* record = nullptr;
    while (all.cupti->cuptiActivityGetNextRecord(buffer, validBytes, &record) == CUPTI_SUCCESS) {
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            continue;
        const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
        all.kernels.push_back(
            {kernel.start, kernel.end, kernel.name != nullptr ? kernel.name : ""});
    }
}

} // namespace

Result<std::unique_ptr<ActivityClock>> ActivityClock::start(const Cupti& cupti) {
    {
        Records& all = records();
        const std::scoped_lock lock(all.mutex);
        if (all.cupti != nullptr)
            return std::unexpected(Error{ErrorKind::Failed, "another clock is running", {}, {}});
        all.cupti = &cupti;
        all.kernels.clear();
    }
    std::unique_ptr<ActivityClock> clock(new ActivityClock(cupti));
    if (auto done = cupti.check("register activities",
                                cupti.cuptiActivityRegisterCallbacks(&giveBuffer, &takeBuffer));
        !done)
        return std::unexpected(done.error());
    if (auto done = cupti.check("enable activities",
                                cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
        !done)
        return std::unexpected(done.error());
    return clock;
}

ActivityClock::~ActivityClock() {
    cupti_.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cupti_.cuptiActivityFlushAll(1);
    Records& all = records();
    const std::scoped_lock lock(all.mutex);
    all.cupti = nullptr;
    all.kernels.clear();
}

Result<std::vector<double>> ActivityClock::durations(const std::set<std::string>& symbols) {
    if (auto done = cupti_.check("flush activities", cupti_.cuptiActivityFlushAll(1)); !done)
        return std::unexpected(done.error());
    Records& all = records();
    const std::scoped_lock lock(all.mutex);
    std::ranges::stable_sort(all.kernels, {}, &RecordedKernel::begin);
    std::vector<double> result;
    for (const RecordedKernel& kernel : all.kernels)
        if (symbols.contains(kernel.symbol))
            result.push_back(static_cast<double>(kernel.end - kernel.begin) * 1e-3);
    return result;
}

} // namespace kernelskill::engine::gpu
