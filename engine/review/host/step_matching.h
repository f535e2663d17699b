/// Matches the steps of one trace with those of another.
#pragma once

#include "engine/review/host/host_steps.h"

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace kernelskill::engine {

inline constexpr std::uint32_t noStep = 0xffffffffu;

struct StepMatching {
    /// The match of each step of the first trace in the second; noStep for steps that only order
    /// others, and for reads that the host does not do any more.
    std::vector<std::uint32_t> partner;
    std::size_t works = 0; ///< Launches, copies, records and other calls of both.
    std::size_t moved = 0; ///< The works that are in another stream afterwards.
};

/// The n-th of several equal steps is matched with the n-th. An error names the first step that
/// differs. `after` may wait elsewhere, order its work by events of its own, and read more.
[[nodiscard]] std::expected<StepMatching, std::string> matchSteps(const HostTrace& before,
                                                                  const HostTrace& after);

} // namespace kernelskill::engine
