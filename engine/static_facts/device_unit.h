/// The text to compile for the GPU for one kernel: the user's files without host code, and the name
/// of the instance.
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
    Nvcc,  ///< Reads every header that the user's files include, the host's as well.
    Nvrtc, ///< Has no host headers: it gets those that device code can use.
};

/// Precedes the absolute path of a user's header and marks the place of its copy.
inline constexpr std::string_view headerMirror = "@mirror@";

/// How much of the user's files the unit contains.
struct DeviceUnitBreadth {
    SliceWidth width = SliceWidth::Needed;
    DeviceHeaderBreadth includes = DeviceHeaderBreadth::DeviceCode;
    std::set<std::string> forced; ///< Names that the compiler missed.
};

struct DeviceUnit {
    std::string source; ///< Its line directives name lines of the user's file.
    /// The user's headers, named headerMirror + absolute path.
    std::vector<analysis::VirtualHeader> headers;
    std::string nameExpression; ///< "blas::saxpy<float, 4>"
};

/// `folders` may contain headers that are not the user's. A unit for nvcc instantiates the kernel;
/// NVRTC gets the name expression.
[[nodiscard]] DeviceUnit makeDeviceUnit(const ScannedProgram& program, KernelRef kernel,
                                        const std::vector<std::string>& templateArguments,
                                        const std::vector<std::filesystem::path>& folders,
                                        const DeviceUnitBreadth& breadth, DeviceCompiler compiler);

} // namespace kernelskill::engine
