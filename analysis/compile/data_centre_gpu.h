/// The GPU that sizes are chosen for where none is known: an H100 or H200.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kernelskill::analysis {

/// Source: NVIDIA H100 Tensor Core GPU Architecture, table 3, for the SXM5 board; an H200 has the
/// same chip.
struct DataCentreGpu {
    static constexpr std::int64_t multiprocessors = 132;
    static constexpr std::int64_t residentThreads = 2048; ///< Of a multiprocessor, at most.
    static constexpr std::int64_t residentBlocks = 32;    ///< Of a multiprocessor, at most.
    static constexpr std::int64_t sharedBytes = 233'472;  ///< Of a multiprocessor: 228 KiB.
    static constexpr std::int64_t l2Bytes = 50 << 20;     ///< Of an H100; an H200 has more.
};

/// Returns how many blocks of so many threads a multiprocessor holds, if registers and shared
/// memory allow it; at least 1.
[[nodiscard]] constexpr std::int64_t residentBlocksOf(std::int64_t threads) {
    return std::clamp(DataCentreGpu::residentThreads / std::max<std::int64_t>(threads, 1),
                      std::int64_t{1}, DataCentreGpu::residentBlocks);
}

} // namespace kernelskill::analysis
