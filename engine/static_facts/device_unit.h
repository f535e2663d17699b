/// The text to compile for the GPU for one kernel: the user's files without host code, and the name
/// of what to instantiate.
#pragma once

#include "analysis/compile/nvrtc.h"
#include "engine/execution/kernel_ref.h"
#include "engine/static_facts/device_headers.h"
#include "engine/unit/slice.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

enum class DeviceCompiler : std::uint8_t {
    Nvcc,  ///< Reads every header that the user's files name, the host's included.
    Nvrtc, ///< Has no host headers: those that device code can use are handed over.
};

/// Stands, in front of the absolute path of a user's header, for where its copy is.
inline constexpr std::string_view headerMirror = "@mirror@";

/// How much of the user's files goes in.
struct DeviceUnitBreadth {
    SliceWidth width = SliceWidth::Needed;
    DeviceHeaderBreadth includes = DeviceHeaderBreadth::DeviceCode;
    std::set<std::string> forced; ///< Names that the compiler missed.
};

struct DeviceUnit {
    std::string source; ///< Lines are those of the user's file for messages and debug information.
    std::vector<analysis::VirtualHeader> headers; ///< The user's: headerMirror + absolute path.
    std::string nameExpression;                   ///< "blas::saxpy<float, 4>"
};

/// `folders` are where headers that are not the user's may be. A unit for nvcc instantiates the
/// kernel; NVRTC is given its name.
[[nodiscard]] DeviceUnit makeDeviceUnit(const ScannedProgram& program, KernelRef kernel,
                                        const std::vector<std::string>& templateArguments,
                                        const std::vector<std::filesystem::path>& folders,
                                        const DeviceUnitBreadth& breadth, DeviceCompiler compiler);

} // namespace kernelskill::engine
