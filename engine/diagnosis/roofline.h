/// How long a kernel takes at least on a GPU, and how long if nothing goes well, from counts alone.
/// Always an interval, never one time: counts do not say what the caches keep, nor what overlaps.
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

/// Floating-point operations, a multiply-add as two.
struct OperationCounts {
    double single = 0;
    double dbl = 0;
    double half = 0;          ///< Of 16-bit types; at which rate depends on the GPU and the code.
    double singleFused = 0;   ///< Of `single`, those of multiply-adds.
    double doubleFused = 0;   ///< Of `dbl`.
    double unknown = 0;       ///< Of a precision that is not told apart: estimates from the source.
    bool mayBeDouble = false; ///< The unknown ones.
    bool mayBeHalf = false;   ///< The unknown ones.
    bool isIncomplete = false; ///< Calls of functions whose operations nobody knows are left out.
    [[nodiscard]] double sum() const { return single + dbl + half + unknown; }
};

/// What a run did, as far as a roofline asks.
struct RooflineCounts {
    double uniqueBytes =
        0;                 ///< Of distinct sectors: DRAM moves at least so many, once, caches cold.
    double movedBytes = 0; ///< Of all sectors: L2 gives at most so many to the multiprocessors.
    std::optional<OperationCounts> operations; ///< nullopt: not counted.
    std::uint64_t blocks = 0;                  ///< Of the grid.
    bool isScaled = false;                     ///< Counted on a part of the grid's blocks.
};

/// nullopt when the profile counts no global memory.
[[nodiscard]] std::optional<RooflineCounts> rooflineCounts(const analysis::KernelModel& kernel,
                                                           const analysis::Features& features,
                                                           const Profile& profile);

enum class RooflinePosition : std::uint8_t {
    MemoryBound,  ///< Even if every byte is moved once only.
    ComputeBound, ///< Even if every access goes to DRAM.
    Between,      ///< What the caches keep decides.
    Unknown,      ///< Operations were not counted.
};
/// "memory-bound", "compute-bound", "depends-on-caches", "unknown"
[[nodiscard]] std::string_view spelling(RooflinePosition position);

struct Roofline {
    std::string gpu;
    std::string onGpu; ///< With its article.
    /// low: each byte moved once at full bandwidth, or the operations at the peak of the
    /// multiprocessors that have a block, whichever takes longer. high: each sector from DRAM at
    /// what a copy reaches, no further multiply-add fused, nothing overlapped. Latency, barriers
    /// and divergence are in neither, so that a bad kernel may take longer than high.
    Interval seconds;
    Interval memory;                   ///< The part of both ends that moving bytes takes.
    Interval arithmetic;               ///< And operations.
    std::optional<Interval> intensity; ///< Operations per byte: over moved, over unique bytes.
    double operations = 0;             ///< Floating-point, of a launch; 0 where not counted.
    Balance ridge;                     ///< Of the precision that most operations have.
    RooflinePosition position = RooflinePosition::Unknown;
    bool fitsInCache = false; ///< Data that L2 still holds takes less than low.
    bool operationsAreStatic = false;
    bool operationsAreIncomplete = false;
    bool isScaled = false;
};

/// "measured" or "of the datasheet's peaks"
[[nodiscard]] std::string_view basisOf(const Balance& balance);

[[nodiscard]] Roofline rooflineOf(const RooflineCounts& counts, const Gpu& gpu);

/// "estimate from counts, not measured: 14 us to 56 us on an H200; 0.08 to 0.33 FLOP per
/// byte, balance 11.9 (measured): memory-bound"
[[nodiscard]] std::string describe(const Roofline& roofline);

} // namespace kernelskill::engine
