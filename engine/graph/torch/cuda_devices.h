/// The GPUs that LibTorch sees. Needs no header of CUDA: names and sizes come from the driver.
#pragma once

#include <c10/core/Device.h>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

struct CudaDevice {
    std::string name;
    std::uint64_t l2Bytes = 0; ///< 0 if unknown.
};

/// None if LibTorch is built without CUDA, or there is no driver.
[[nodiscard]] std::vector<CudaDevice> cudaDevices();

/// "NVIDIA H100 80GB HBM3"; "cpu" for a CPU.
[[nodiscard]] std::string deviceName(c10::Device device);

} // namespace kernelskill::engine::graph
