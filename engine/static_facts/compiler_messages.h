/// NVRTC's log, read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct DeviceMessage {
    std::string file;       ///< Empty for a message of ptxas.
    std::uint32_t line = 0; ///< One-based.
    std::string text;
};

/// The first error of the compiler or of ptxas; nullopt when the log holds none.
[[nodiscard]] std::optional<DeviceMessage> firstDeviceError(std::string_view log);
/// What errors call undefined or not a member.
[[nodiscard]] std::vector<std::string> undefinedDeviceNames(std::string_view log);
/// The function that ptxas looks for in vain, demangled: another file defines it.
[[nodiscard]] std::optional<std::string> unresolvedFunction(std::string_view log);

/// "saxpy" of the symbol of blas::saxpy<float>; empty when it cannot be told.
[[nodiscard]] std::string functionName(const std::string& symbol);

} // namespace kernelskill::engine
