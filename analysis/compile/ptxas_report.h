/// Reads what ptxas reports of each function with `-v`: registers, spills, stack, shared memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Numbers that are not in the log are absent, not zero. Shared memory and barriers are the
/// exception, because ptxas omits them if there are none.
struct FunctionResources {
    std::string symbol;                     ///< Mangled.
    bool isKernel = false;                  ///< If false, a function that was not inlined.
    std::string architecture;               ///< "sm_90"; empty unless it is a kernel.
    std::optional<std::uint32_t> registers; ///< Per thread; only for kernels.
    std::optional<std::uint64_t> stackBytes;
    std::optional<std::uint64_t> spillStoreBytes;
    std::optional<std::uint64_t> spillLoadBytes;
    std::uint64_t staticSharedBytes = 0;
    std::uint32_t barriers = 0;
};

/// The functions in the order of the log. Ignores lines of other tools.
[[nodiscard]] std::vector<FunctionResources> parsePtxasReport(std::string_view log);

} // namespace kernelskill::analysis
