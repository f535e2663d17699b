/// The messages between the server and a program that is held at a launch: one frame each, with one
/// answer to each request but the last.
#pragma once

#include "analysis/source/error.h"
#include "engine/capture/captured_launch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kernelskill::engine {

/// The type of the numbers in a range of memory.
enum class MemoryElement : std::uint8_t { Bytes, Float16, BFloat16, Float32, Float64 };
/// "bytes", "float16", "bfloat16", "float32", "float64"
[[nodiscard]] std::string_view spelling(MemoryElement element);

struct TypedRange {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    MemoryElement element = MemoryElement::Bytes;
};

/// A kernel that is tried in the place of the held launch's, with its arguments and more behind
/// them.
struct ReplayCandidate {
    std::string cubin;
    std::string symbol; ///< Its name in the cubin.
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint64_t sharedBytes = 0; ///< Dynamic shared memory.
    /// The bytes of each parameter that it takes behind those of the held launch.
    std::vector<std::vector<std::uint8_t>> added;
};

struct DescribeHeldRequest {};

/// Compares each candidate with the original, then times all of them in turns.
struct TryRequest {
    std::vector<ReplayCandidate> candidates;
    std::vector<TypedRange> elements; ///< Types of memory; the rest is compared as bytes.
    /// Addresses of memory that the original only writes, each up to the end of its allocation. The
    /// candidates are compared once more with other contents there, so that contents from an
    /// earlier launch do not pass for results.
    std::vector<std::uint64_t> onlyWritten;
    std::uint32_t checks = 3;  ///< Runs of each candidate that are compared.
    std::uint32_t rounds = 20; ///< Timed rounds; 0: nothing is timed.
    /// The time limit of the first run of a candidate, which gets at least four times the
    /// original's time. See limitOfLaterRun() for those that follow.
    std::chrono::milliseconds limit{10'000};
};

/// Restores the memory and lets the program go on. There is no answer.
struct ResumeRequest {};

using ReplayRequest = std::variant<DescribeHeldRequest, TryRequest, ResumeRequest>;

/// A part of memory that is not as the original leaves it.
struct MemoryDifference {
    std::string where;             ///< "the allocation at 0x7f…", "the variable 'table'"
    std::uint64_t address = 0;     ///< The part's address; 0 for a variable.
    std::uint64_t bytes = 0;       ///< The part's size.
    std::uint64_t firstOffset = 0; ///< The offset of the first byte that differs.
    std::uint64_t differingBytes = 0;
    /// Counts the differing bytes of elements that the original leaves as they were; of the bytes
    /// themselves where the type is not known.
    std::uint64_t strayBytes = 0;
    MemoryElement element = MemoryElement::Bytes; ///< The type that the range was given.
    /// The largest |a - b| / max(|a|, |b|, the root mean square of the expected numbers of the type
    /// on the same page of 64 KiB), as float32 where the type is not known; infinite if one is not
    /// a finite number and the other is another one.
    double maxRelative = 0;
    /// Whether it is page-locked memory of the host, which the program's own threads may have
    /// written as well.
    bool isOfHost = false;
};

struct HeldDescription {
    CapturedLaunch launch; ///< Its buffers have addresses and sizes, but no data.
    std::uint32_t capabilityMajor = 0;
    std::uint32_t capabilityMinor = 0;
    std::uint64_t allocations = 0; ///< The allocations that the kernel may write to.
    std::uint64_t allocatedBytes = 0;
    std::uint64_t variables = 0;  ///< The `__device__` and `__constant__` variables of its module.
    std::uint64_t savedBytes = 0; ///< The memory that the pause takes.
    std::uint64_t writtenBytes = 0;            ///< The bytes that the original changes.
    std::chrono::milliseconds originalTime{0}; ///< The time of a run of the original, rounded up.
    /// The differences of a second run of the original from the first; empty: none.
    std::vector<MemoryDifference> variation;
};

/// The result of one candidate.
struct CandidateResult {
    std::optional<Error> refusal; ///< The reason why it could not be run; then the rest is empty.
    std::vector<MemoryDifference> differences;
    /// Whether the differences are those with other contents in the memory that is only written.
    bool isByStaleMemory = false;
    /// The time of each round; empty if it writes where the original does not. Fewer than those of
    /// the original if it is `farSlower`, and a single one, of another run, if that took longer
    /// than longestRun().
    std::vector<double> microseconds;
    std::vector<std::string> notes;
};

struct TryAnswer {
    std::vector<double> original; ///< The time of each round in microseconds.
    /// The greatest differences of more runs of the original from the first, by part, with the
    /// types of the request; empty if the description has none.
    std::vector<MemoryDifference> variation;
    std::vector<CandidateResult> candidates;
    std::vector<std::string> notes;
};

struct ReplayFailure {
    Error error;
    bool isFatal = false; ///< The program's context is lost: end it.
    /// The number of the candidate that is at fault; nullopt: none of them.
    std::optional<std::uint32_t> candidate;
    TryAnswer soFar; ///< The results of the candidates before that one, perhaps without times.
};

/// The time limit of the first run of a candidate.
[[nodiscard]] inline std::chrono::milliseconds limitOf(const TryRequest& request,
                                                       const HeldDescription& held) {
    return std::max(request.limit, 4 * held.originalTime);
}

/// A candidate that takes longer in its first run is neither compared nor timed again.
[[nodiscard]] inline std::chrono::milliseconds longestRun(const HeldDescription& held) {
    constexpr std::chrono::milliseconds always{500};
    return std::max(always, 20 * held.originalTime);
}

/// The time limit of a further run of a candidate that took no longer than longestRun() before: it
/// does not wait as long for a run that does not end.
[[nodiscard]] inline std::chrono::milliseconds limitOfLaterRun(const TryRequest& request,
                                                               const HeldDescription& held) {
    return std::min(limitOf(request, held), 4 * longestRun(held));
}

/// A candidate whose runs all take so many times the original's slowest one is not timed any more.
inline constexpr double farSlower = 4;

using ReplayAnswer = std::variant<HeldDescription, TryAnswer, ReplayFailure>;

/// Whole frames with their length.
[[nodiscard]] std::vector<std::byte> encode(const ReplayRequest& request);
[[nodiscard]] std::vector<std::byte> encode(const ReplayAnswer& answer);

/// Reads a frame's payload. Returns an Internal error for malformed data.
[[nodiscard]] Result<ReplayRequest> decodeReplayRequest(std::span<const std::byte> payload);
[[nodiscard]] Result<ReplayAnswer> decodeReplayAnswer(std::span<const std::byte> payload);

} // namespace kernelskill::engine
