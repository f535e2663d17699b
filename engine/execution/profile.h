/// The result of a run. Metrics have Nsight Compute's names if Nsight Compute has the same
/// quantity.
#pragma once

#include "engine/execution/job.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

using Metrics = std::map<std::string, double>;

[[nodiscard]] inline std::optional<double> findMetric(const Metrics& metrics,
                                                      const std::string& name) {
    const auto found = metrics.find(name);
    return found == metrics.end() ? std::nullopt : std::optional(found->second);
}
/// 0 if the metric is absent.
[[nodiscard]] inline double metricValue(const Metrics& metrics, const std::string& name) {
    return findMetric(metrics, name).value_or(0);
}

struct LineMetrics {
    std::string file;
    std::uint32_t line = 0; ///< Zero-based.
    Metrics metrics;
};

enum class HazardKind : std::uint8_t {
    Race,
    OutOfBounds,
    BarrierDivergence,
    UninitializedRead,
    Misaligned
};
/// "race", "out-of-bounds", "barrier-divergence", "uninitialized-read", "misaligned".
[[nodiscard]] std::string_view spelling(HazardKind kind);

/// A thread of a launch.
struct ThreadPlace {
    Dim3 block;
    Dim3 thread;
    bool operator==(const ThreadPlace&) const = default;
};

/// The distance between the two threads of a race.
enum class RaceScope : std::uint8_t { Warp, Block, Grid };

/// The two accesses of a race.
enum class RacePair : std::uint8_t {
    ReadWrite,
    WriteWrite,
    AtomicRead,   ///< An atomic, and a plain read.
    AtomicWrite,  ///< An atomic, and a plain write.
    AtomicScopes, ///< Atomics of which one reaches only its own block.
};

/// Why a race is only suspected.
enum class RaceDoubt : std::uint8_t {
    None,           ///< It is certain.
    GuessedIndices, ///< Real indices may never collide.
    LockStep,       ///< Lanes of a warp that runs in lock-step are in order.
    AtomicBeside,   ///< An old value may be as good as a new one.
    PossibleFlag,   ///< An atomic or volatile flag without a fence may be meant to order them.
    Unfenced,       ///< In order but for a fence after the atomic that was waited for.
    Volatile,       ///< A volatile read of what was written so too: flags are, and need no order.
    BetweenBlocks,  ///< Blocks may be launched one by one, or the algorithm may bear it.
};

/// The data behind a hazard's message, for code that repairs it.
struct HazardDetails {
    std::optional<ThreadPlace> other; ///< The thread of the other side, if known.
    std::string object; ///< The buffer, array or variable that was accessed; empty if unknown.
    /// The element's index, for an out-of-bounds access of a buffer.
    std::optional<std::int64_t> element;
    /// Whether that is before the buffer's first element.
    [[nodiscard]] bool isInFront() const { return element.value_or(0) < 0; }
    // Only for a race:
    RaceScope scope = RaceScope::Block;
    RacePair pair = RacePair::ReadWrite;
    RaceDoubt doubt = RaceDoubt::None;
    bool operator==(const HazardDetails&) const = default;
};

struct Hazard {
    HazardKind kind = HazardKind::Race;
    bool certain = true; ///< If false, a suspicion, shown as information.
    std::string file;
    std::uint32_t line = 0; ///< Zero-based.
    std::string otherFile;  ///< The other side of a race or of a barrier; empty if there is none.
    std::uint32_t otherLine = 0;
    std::string message; ///< Names the array, the thread and the block of a witness.
    Dim3 block;
    Dim3 thread;
    HazardDetails details;
};

/// The values that a watched condition had, and those that the compiler left possible.
struct ConditionOutcomes {
    bool canBeTrue = false;
    bool canBeFalse = false;
    bool wasTrue = false;
    bool wasFalse = false;
    ConditionOutcomes& operator|=(const ConditionOutcomes& other) {
        canBeTrue |= other.canBeTrue;
        canBeFalse |= other.canBeFalse;
        wasTrue |= other.wasTrue;
        wasFalse |= other.wasFalse;
        return *this;
    }
    bool operator==(const ConditionOutcomes&) const = default;
};
/// By index into ProgramSource::watched. Those at the end that were compiled away are missing.
using Outcomes = std::vector<ConditionOutcomes>;
/// Adds what `more` saw.
void unite(Outcomes& all, const Outcomes& more);

/// An object in which atomics of different threads met at one address.
struct Contention {
    std::string object;       ///< The buffer, array or variable; empty if unknown.
    bool amongBlocks = false; ///< Threads of different blocks met.
    bool operator==(const Contention&) const = default;
};

struct BufferExtent {
    std::string name;
    std::uint64_t elements = 0;
    bool read = false;
    bool written = false;
};

struct BufferContents {
    std::string name;
    analysis::ScalarKind element = analysis::ScalarKind::Float;
    std::uint32_t elementBytes = 4;
    std::vector<std::byte> bytes;
};

struct Profile {
    std::string kernel;
    std::string executor; ///< "emulator", "gpu", "slurm"
    LaunchSpec launch;
    Metrics metrics;
    std::vector<LineMetrics> lines;
    std::vector<Hazard> hazards;
    /// Accesses out of bounds that are no hazards, because made-up indices or numbers may cause
    /// them; `notes` names them. A review compares them with those of the other kernel on the same
    /// input. Not kept in files.
    std::vector<Hazard> excused;
    std::vector<BufferExtent> extents; ///< The elements that each pointer accessed.
    std::uint64_t blocksRun = 0;       ///< Less than the grid if sampled.
    std::vector<std::string> notes;
    std::vector<Contention> contentions; ///< At most one for each object.
    Outcomes conditions;                 ///< Of the program's watched conditions.
};

struct RunResult {
    Profile profile;
    std::vector<BufferContents> outputs;
    std::string printed;
};

} // namespace kernelskill::engine
