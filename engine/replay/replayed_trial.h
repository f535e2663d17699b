/// Judges a kernel by its trial inside a program.
#pragma once

#include "engine/replay/replay_wire.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// The order is from the best to the worst.
enum class TrialOutcome : std::uint8_t {
    Same,      ///< All memory is as the original leaves it, byte for byte.
    Rounded,   ///< Numbers differ, each by no more than rounding does.
    NotJudged, ///< Numbers differ by more than that, or the original's own results vary.
    NotLoaded, ///< The candidate was not run.
    Different, ///< Memory is not as the original leaves it.
    Failed     ///< The candidate faulted or did not end.
};
/// "same", "rounded", "not-judged", "not-loaded", "different", "failed"
[[nodiscard]] std::string_view spelling(TrialOutcome outcome);
/// Whether the candidate computes what the original does.
[[nodiscard]] constexpr bool agrees(TrialOutcome outcome) {
    return outcome <= TrialOutcome::Rounded;
}

struct ReplayedTrial {
    TrialOutcome outcome = TrialOutcome::NotJudged;
    std::string sentence; ///< Says where and by how much it differs; has no full stop.
    std::vector<MemoryDifference> differences;
    std::vector<double> original; ///< The time of each round in microseconds.
    std::vector<double> candidate;
    std::vector<std::string> notes;
};

/// The trial of candidate `index`. With `isExact`, results have to agree byte for byte; else
/// numbers of a known type may differ by what another order of operations makes of them.
[[nodiscard]] ReplayedTrial judgeTrial(const HeldDescription& held, const TryAnswer& answer,
                                       std::size_t index, bool isExact);

/// The trial of a candidate that ended the program.
[[nodiscard]] ReplayedTrial failedTrial(const Error& error);

/// "the allocation of 4000 bytes at 0x7f…, parameter 3: 12 bytes differ from offset 400 on"
[[nodiscard]] std::string describe(const MemoryDifference& difference, const HeldDescription& held);

/// The relative difference of two results of one computation up to which they count as rounding.
[[nodiscard]] double roundingOf(MemoryElement element);

} // namespace kernelskill::engine
