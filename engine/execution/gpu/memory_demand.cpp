#include "engine/execution/gpu/memory_demand.h"

#include <limits>
#include <string>

namespace kernelskill::engine::gpu {

namespace {

constexpr std::uint64_t bytesPerMebibyte = 1ull << 20;

std::string mebibytes(std::uint64_t bytes) {
    return std::to_string(bytes / bytesPerMebibyte) + " MiB";
}

} // namespace

std::uint64_t memoryDemand(const BufferSpec& buffer) {
    const std::uint64_t bytesPerElement =
        std::uint64_t{buffer.elementBytes} * (buffer.isOutput ? 2 : 1);
    const std::uint64_t elements = buffer.elements.value_or(0);
    constexpr auto max = std::numeric_limits<std::uint64_t>::max();
    return bytesPerElement > 0 && elements > max / bytesPerElement ? max
                                                                   : elements * bytesPerElement;
}

Result<void> checkGuessedDemand(const LaunchSpec& launch, std::uint64_t demandedBytes,
                                std::uint64_t freeBytes) {
    if (launch.origin != LaunchOrigin::Guessed || demandedBytes <= freeBytes / 2)
        return {};
    return std::unexpected(
        Error{ErrorKind::InvalidInput,
              "the guessed launch of " + launch.kernel + " asks for " + mebibytes(demandedBytes) +
                  " of the GPU's memory, more than half of the " + mebibytes(freeBytes) +
                  " that are free",
              {},
              "pin the launch with the sizes that the program uses: `// kernelskill: launch " +
                  launch.kernel + "<<<grid, block>>>(...)`"});
}

} // namespace kernelskill::engine::gpu
