#include "engine/graph/torch/cuda_devices.h"

#include "engine/graph/torch/aten.h"
#include "engine/process/shared_library.h"

#include <array>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace kernelskill::engine::graph {
namespace {

/// A constant of cuda.h, which is not needed for more than this.
constexpr int attributeL2CacheSize = 38;

struct DriverFunctions {
    int (*init)(unsigned) = nullptr;
    int (*deviceGet)(int*, int) = nullptr;
    int (*deviceGetName)(char*, int, int) = nullptr;
    int (*deviceGetAttribute)(int*, int, int) = nullptr;
};

CudaDevice describe(const DriverFunctions& driver, int ordinal) {
    CudaDevice found;
    int device = 0;
    std::array<char, 128> name{};
    int bytes = 0;
    if (driver.deviceGet(&device, ordinal) != 0)
        return found;
    if (driver.deviceGetName(name.data(), static_cast<int>(name.size()) - 1, device) == 0)
        found.name = name.data();
    if (driver.deviceGetAttribute(&bytes, attributeL2CacheSize, device) == 0 && bytes > 0)
        found.l2Bytes = static_cast<std::uint64_t>(bytes);
    return found;
}

} // namespace

std::vector<CudaDevice> cudaDevices() {
    if (!at::hasCUDA())
        return {};
    const auto library = SharedLibrary::open({"libcuda.so.1"});
    DriverFunctions driver;
    const bool isUsable = library && library->find(driver.init, "cuInit") &&
                          library->find(driver.deviceGet, "cuDeviceGet") &&
                          library->find(driver.deviceGetName, "cuDeviceGetName") &&
                          library->find(driver.deviceGetAttribute, "cuDeviceGetAttribute") &&
                          driver.init(0) == 0;
    if (!isUsable)
        return {};
    std::vector<CudaDevice> devices;
    const int count = c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).deviceCount();
    for (int i = 0; i < count; ++i)
        devices.push_back(describe(driver, i));
    return devices;
}

std::string deviceName(c10::Device device) {
    const auto devices = device.is_cuda() ? cudaDevices() : std::vector<CudaDevice>();
    const auto index = static_cast<std::size_t>(device.index());
    return index < devices.size() ? devices[index].name : device.str();
}

} // namespace kernelskill::engine::graph
