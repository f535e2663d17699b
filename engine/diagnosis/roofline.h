/// Bounds the time of a kernel on a GPU from below and above, from counts alone. The answer is
/// always an interval, because counts do not say what the caches keep or what overlaps.
#pragma once

#include "analysis/features/features.h"
#include "engine/diagnosis/gpus.h"
#include "engine/diagnosis/interval.h"
#include "engine/execution/profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Floating-point operations; a multiply-add counts as two.
struct OperationCounts {
    double single = 0;
    double dbl = 0;
    double half = 0; ///< Operations on 16-bit types; their rate depends on the GPU and the code.
    double singleFused = 0;    ///< The part of `single` that multiply-adds make.
    double doubleFused = 0;    ///< The part of `dbl` that multiply-adds make.
    double unknown = 0;        ///< Operations of unknown precision, estimated from the source.
    bool mayBeDouble = false;  ///< Whether the unknown ones may be in double.
    bool mayBeHalf = false;    ///< Whether the unknown ones may be in half.
    bool isIncomplete = false; ///< Set if functions with unknown operations are called.
    [[nodiscard]] double sum() const { return single + dbl + half + unknown; }
};

/// The counts of a run that a roofline uses.
struct RooflineCounts {
    double uniqueBytes =
        0; ///< Bytes of distinct sectors: the minimum that DRAM moves with cold caches.
    /// Bytes of all sectors: the maximum that L2 delivers to the multiprocessors.
    double movedBytes = 0;
    std::optional<OperationCounts> operations; ///< nullopt if not counted.
    std::uint64_t blocks = 0;                  ///< Blocks of the grid.
    bool isScaled = false;                     ///< True if counted on a part of the grid's blocks.
};

/// nullopt if the profile counts no global memory.
[[nodiscard]] std::optional<RooflineCounts> rooflineCounts(const analysis::KernelModel& kernel,
                                                           const analysis::Features& features,
                                                           const Profile& profile);

enum class RooflinePosition : std::uint8_t {
    MemoryBound,  ///< Even if every byte is moved only once.
    ComputeBound, ///< Even if every access goes to DRAM.
    Between,      ///< It depends on the caches.
    Unknown,      ///< Operations were not counted.
};
/// "memory-bound", "compute-bound", "depends-on-caches", "unknown"
[[nodiscard]] std::string_view spelling(RooflinePosition position);

struct Roofline {
    std::string gpu;
    std::string onGpu; ///< The GPU's name with its article.
    /// low: the time to move each byte once at full bandwidth, or to compute at the peak of the
    /// multiprocessors that have a block, whichever is longer. high: every sector comes from DRAM
    /// at the rate of a copy, no further multiply-add is fused, and nothing overlaps. Latency,
    /// barriers and divergence count in neither, so a bad kernel may take longer than high.
    Interval seconds;
    Interval memory;     ///< The memory traffic's part of both ends.
    Interval arithmetic; ///< The arithmetic's part of both ends.
    /// Operations per byte: over moved bytes (low), over unique bytes (high).
    std::optional<Interval> intensity;
    double operations = 0; ///< Floating-point operations of a launch; 0 if not counted.
    Balance ridge;         ///< The balance for the precision of most operations.
    RooflinePosition position = RooflinePosition::Unknown;
    /// If true, data that L2 still holds from before takes less than low.
    bool fitsInCache = false;
    bool operationsAreStatic = false;
    bool operationsAreIncomplete = false;
    bool isScaled = false;
};

/// "measured" or "of the datasheet's peaks"
[[nodiscard]] std::string_view basisOf(const Balance& balance);

[[nodiscard]] Roofline rooflineOf(const RooflineCounts& counts, const Gpu& gpu);

/// "at least 14 us on an H200 (roofline of the counts, not measured); 0.08 to 0.33 FLOP per byte,
/// balance 11.9 (measured): memory-bound". The later end is no bound, and not told.
[[nodiscard]] std::string describe(const Roofline& roofline);

} // namespace kernelskill::engine
