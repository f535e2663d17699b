/// What ptxas says of each function with `-v`: registers, spills, stack, shared memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Numbers that the log does not give are missing, not zero; but for shared memory and barriers,
/// which ptxas leaves out where there are none.
struct FunctionResources {
    std::string symbol;                     ///< Mangled.
    bool isKernel = false;                  ///< Else a function that was not inlined.
    std::string architecture;               ///< "sm_90"; empty for other than kernels.
    std::optional<std::uint32_t> registers; ///< Per thread; of kernels.
    std::optional<std::uint64_t> stackBytes;
    std::optional<std::uint64_t> spillStoreBytes;
    std::optional<std::uint64_t> spillLoadBytes;
    std::uint64_t staticSharedBytes = 0;
    std::uint32_t barriers = 0;
};

/// In the order of the log. Lines that are not ptxas's are passed over.
[[nodiscard]] std::vector<FunctionResources> parsePtxasReport(std::string_view log);

} // namespace kernelskill::analysis
