#include "engine/capture/recorder/device_reader.h"

#include <thread>
#include <utility>

namespace kernelskill::engine::capture {
namespace {

constexpr std::chrono::microseconds pollInterval{50};

} // namespace

std::optional<DeviceReader> DeviceReader::make(const DriverFunctions& driver) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (driver.cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS)
        return std::nullopt;
    CUstream stream = nullptr;
    if (driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) {
        driver.cuThreadExchangeStreamCaptureMode(&mode);
        return std::nullopt;
    }
    return DeviceReader(driver, stream, mode);
}

DeviceReader::DeviceReader(DeviceReader&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)), stream_(other.stream_),
      modeBefore_(other.modeBefore_) {}

DeviceReader::~DeviceReader() {
    if (driver_ == nullptr)
        return;
    driver_->cuStreamDestroy(stream_);
    driver_->cuThreadExchangeStreamCaptureMode(&modeBefore_);
}

bool DeviceReader::waitFor(CUstream stream, std::chrono::milliseconds time) const {
    CUevent event = nullptr;
    if (driver_->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        return false;
    auto status = driver_->cuEventRecord(event, stream);
    const auto end = std::chrono::steady_clock::now() + time;
    while (status == CUDA_SUCCESS &&
           (status = driver_->cuEventQuery(event)) == CUDA_ERROR_NOT_READY &&
           std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(pollInterval);
        status = CUDA_SUCCESS;
    }
    driver_->cuEventDestroy(event);
    return status == CUDA_SUCCESS;
}

std::optional<DeviceRange> DeviceReader::rangeAt(CUdeviceptr address) const {
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    if (address == 0 || driver_->cuMemGetAddressRange(&base, &bytes, address) != CUDA_SUCCESS ||
        address < base || address - base >= bytes)
        return std::nullopt;
    return DeviceRange{address, bytes - (address - base)};
}

std::optional<std::vector<std::byte>> DeviceReader::read(const DeviceRange& range) const {
    std::vector<std::byte> bytes(range.bytes);
    if (driver_->cuMemcpyDtoHAsync(bytes.data(), range.address, bytes.size(), stream_) !=
            CUDA_SUCCESS ||
        driver_->cuStreamSynchronize(stream_) != CUDA_SUCCESS)
        return std::nullopt;
    return bytes;
}

} // namespace kernelskill::engine::capture
