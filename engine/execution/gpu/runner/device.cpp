#include "engine/execution/gpu/runner/device.h"

#include <array>
#include <cstdio>

namespace kernelskill::engine::gpu {
namespace {

constexpr std::size_t maxModules = 64;

std::string uuidText(const CUuuid& uuid) {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        std::array<char, 3> digits{};
        std::snprintf(digits.data(), digits.size(), "%02x",
                      static_cast<unsigned char>(uuid.bytes[i]));
        text += digits.data();
    }
    return text;
}

} // namespace

Result<std::unique_ptr<Device>> Device::open(const CudaDriver& driver, int ordinal) {
    std::unique_ptr<Device> device(new Device(driver));
    const auto missing = [&](const char* step, CUresult status) {
        auto error = driver.failure(step, status);
        error.kind = ErrorKind::Missing;
        error.remedy = "look at nvidia-smi, or run on the emulator";
        return std::unexpected(std::move(error));
    };
    if (const auto status = driver.cuInit(0); status != CUDA_SUCCESS)
        return missing("no usable GPU", status);
    int count = 0;
    if (const auto status = driver.cuDeviceGetCount(&count); status != CUDA_SUCCESS)
        return missing("count GPUs", status);
    if (ordinal >= count)
        return std::unexpected(Error{ErrorKind::Missing,
                                     "there is no GPU " + std::to_string(ordinal) + ": CUDA sees " +
                                         std::to_string(count),
                                     {},
                                     "look at CUDA_VISIBLE_DEVICES and nvidia-smi"});
    if (const auto status = driver.cuDeviceGet(&device->device_, ordinal); status != CUDA_SUCCESS)
        return missing("open the GPU", status);
    if (const auto status = driver.cuDevicePrimaryCtxRetain(&device->context_, device->device_);
        status != CUDA_SUCCESS)
        return missing("make a context", status);
    if (const auto status = driver.cuCtxSetCurrent(device->context_); status != CUDA_SUCCESS)
        return missing("use the context", status);
    if (const auto status = driver.cuStreamCreate(&device->stream_, CU_STREAM_NON_BLOCKING);
        status != CUDA_SUCCESS)
        return missing("make a stream", status);
    return device;
}

int Device::attribute(CUdevice_attribute which) const {
    int value = 0;
    static_cast<void>(driver_.cuDeviceGetAttribute(&value, which, device_));
    return value;
}

std::string Device::busId() const {
    std::array<char, 32> text{};
    static_cast<void>(driver_.cuDeviceGetPCIBusId(text.data(), text.size(), device_));
    return text.data();
}

DeviceDescription Device::describe() const {
    DeviceDescription description;
    static_cast<void>(driver_.cuDeviceGetCount(&description.devices));
    std::array<char, 128> name{};
    if (driver_.cuDeviceGetName(name.data(), name.size(), device_) == CUDA_SUCCESS)
        description.name = name.data();
    CUuuid uuid{};
    if (driver_.cuDeviceGetUuid(&uuid, device_) == CUDA_SUCCESS)
        description.uuid = uuidText(uuid);
    std::size_t memory = 0;
    if (driver_.cuDeviceTotalMem(&memory, device_) == CUDA_SUCCESS)
        description.memoryBytes = memory;
    static_cast<void>(driver_.cuDriverGetVersion(&description.driverVersion));
    const auto positive = [&](CUdevice_attribute which) {
        return static_cast<std::uint32_t>(attribute(which));
    };
    description.capabilityMajor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    description.capabilityMinor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    description.multiprocessors = positive(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    description.l2Bytes = positive(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    description.smClockMegahertz = positive(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
    description.memoryClockMegahertz = positive(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) / 1000;
    description.memoryBusBits = positive(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    return description;
}

Result<CUmodule> Device::module(const std::string& image) {
    if (const auto known = modules_.find(image); known != modules_.end())
        return known->second;
    if (modules_.size() >= maxModules) {
        for (const auto& [content, loaded] : modules_)
            driver_.cuModuleUnload(loaded);
        modules_.clear();
    }
    CUmodule loaded = nullptr;
    const auto status = driver_.cuModuleLoadData(&loaded, image.c_str());
    if (status != CUDA_SUCCESS) {
        auto error = driver_.failure("load the kernel", status);
        if (status == CUDA_ERROR_NO_BINARY_FOR_GPU || status == CUDA_ERROR_INVALID_IMAGE)
            error.remedy = "the code was compiled for another architecture than sm_" +
                           std::to_string(describe().capabilityMajor) +
                           std::to_string(describe().capabilityMinor);
        return std::unexpected(std::move(error));
    }
    modules_.emplace(image, loaded);
    return loaded;
}

void Device::forget(const std::string& image) {
    if (const auto known = modules_.find(image); known != modules_.end()) {
        driver_.cuModuleUnload(known->second);
        modules_.erase(known);
    }
}

} // namespace kernelskill::engine::gpu
