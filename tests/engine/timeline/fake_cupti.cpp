// A CUPTI without a GPU: it delivers two kernels, a copy and a set at the first flush, a third
// kernel at the second, through the callbacks that it was given, as the real one does.
#include "fake_activities.h"

#include <cstdlib>

namespace {

fake::Activities activities;
bool isFlushed = false;

CUpti_ActivityKernel10 kernel(const char* name, std::uint64_t start, std::uint64_t end) {
    CUpti_ActivityKernel10 record{};
    record.start = start;
    record.end = end;
    record.streamId = 7;
    record.gridX = 128;
    record.gridY = record.gridZ = 1;
    record.blockX = 256;
    record.blockY = record.blockZ = 1;
    record.registersPerThread = 40;
    record.staticSharedMemory = 1024;
    record.dynamicSharedMemory = 512;
    record.name = name;
    return record;
}

} // namespace

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc give,
                                           CUpti_BuffersCallbackCompleteFunc take) {
    activities.giveBuffer = give;
    activities.takeBuffer = take;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    if (std::getenv("FAKE_CUPTI_REFUSES") != nullptr)
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    activities.enabled.insert(kind);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t) {
    fake::Buffer buffer(activities);
    if (!isFlushed) {
        buffer.add(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kernel("_Z5scalePf", 5000, 9000));
        CUpti_ActivityMemcpy6 copy{};
        copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
        copy.bytes = 4096;
        copy.start = 1000;
        copy.end = 3000;
        buffer.add(CUPTI_ACTIVITY_KIND_MEMCPY, copy);
        CUpti_ActivityMemset4 set{};
        set.bytes = 64;
        set.start = 3000;
        set.end = 3500;
        buffer.add(CUPTI_ACTIVITY_KIND_MEMSET, set);
        buffer.add(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kernel("_Z5scalePf", 10000, 16000));
    } else {
        buffer.add(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kernel("_Z3sumPf", 20000, 50000));
    }
    isFlushed = true;
    buffer.deliver();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t validBytes,
                                       CUpti_Activity** record) {
    return fake::nextRecord(buffer, validBytes, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
    *dropped = std::getenv("FAKE_CUPTI_DROPS") != nullptr ? 3 : 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushPeriod(std::uint32_t) {
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
    *text = "not today";
    return CUPTI_SUCCESS;
}
}
