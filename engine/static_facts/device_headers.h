/// The headers for device code under NVRTC, which has no standard library.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/compile/nvrtc.h"
#include "engine/unit/user_files.h"

#include <filesystem>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Included first: the part of the standard library that nvcc always includes, for device code.
inline constexpr std::string_view baseHeaderName = "kernelskill/device_base.h";

/// The base header, and one for each standard header that device code can use.
[[nodiscard]] const std::vector<analysis::VirtualHeader>& deviceHeaders();

/// The toolkit's include folders: CUDA's, then CCCL's where it has a folder of its own.
[[nodiscard]] std::vector<std::filesystem::path>
toolkitIncludeFolders(const analysis::CudaToolkit& toolkit);

enum class DeviceHeaderBreadth : std::uint8_t {
    DeviceCode, ///< Without headers of libraries that only host code calls.
    AllFound,
};

/// Decides which #include lines a unit for NVRTC keeps.
class DeviceIncludeRules {
public:
    DeviceIncludeRules(std::vector<std::filesystem::path> folders, DeviceHeaderBreadth breadth);
    [[nodiscard]] bool keeps(const IncludeLine& line) const;

private:
    std::vector<std::filesystem::path> folders_;
    DeviceHeaderBreadth breadth_;
};

} // namespace kernelskill::engine
