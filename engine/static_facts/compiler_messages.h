/// Reads NVRTC's log.
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

/// The first error of the compiler or of ptxas; nullopt if there is none.
[[nodiscard]] std::optional<DeviceMessage> firstDeviceError(std::string_view log);
/// The names that errors call undefined or not a member.
[[nodiscard]] std::vector<std::string> undefinedDeviceNames(std::string_view log);
/// The demangled function that ptxas could not resolve because another file defines it.
[[nodiscard]] std::optional<std::string> unresolvedFunction(std::string_view log);

/// "saxpy" for the symbol of blas::saxpy<float>; empty if unknown.
[[nodiscard]] std::string functionName(const std::string& symbol);

} // namespace kernelskill::engine
