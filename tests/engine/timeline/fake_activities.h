/// Records of CUPTI's activity API, for stand-ins of CUPTI.
#pragma once

#include <cstdint>
#include <cstring>
#include <cupti_activity.h>
#include <set>

namespace fake {

inline std::size_t sizeOf(const CUpti_Activity& record) {
    switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
    default:
        return sizeof(CUpti_ActivityMemset4);
    }
}

/// The callbacks and activities that the recorder has asked for.
struct Activities {
    CUpti_BuffersCallbackRequestFunc giveBuffer = nullptr;
    CUpti_BuffersCallbackCompleteFunc takeBuffer = nullptr;
    std::set<int> enabled;
};

/// A buffer of the recorder.
class Buffer {
public:
    explicit Buffer(const Activities& activities) : activities_(activities) {
        std::size_t most = 0;
        activities_.giveBuffer(&bytes_, &size_, &most);
    }
    template <typename Record>
    void add(CUpti_ActivityKind kind, Record record) {
        record.kind = kind;
        if (!activities_.enabled.contains(kind) || used_ + sizeof record > size_)
            return;
        std::memcpy(bytes_ + used_, &record, sizeof record);
        used_ += sizeof record;
    }
    void deliver() { activities_.takeBuffer(nullptr, 0, bytes_, size_, used_); }

private:
    const Activities& activities_;
    std::uint8_t* bytes_ = nullptr;
    std::size_t size_ = 0;
    std::size_t used_ = 0;
};

/// Does what cuptiActivityGetNextRecord() does.
inline CUptiResult nextRecord(std::uint8_t* buffer, std::size_t validBytes,
                              CUpti_Activity** record) {
    std::uint8_t* next =
        *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + sizeOf(**record);
    if (next >= buffer + validBytes)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}

} // namespace fake
