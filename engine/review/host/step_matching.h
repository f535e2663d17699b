/// Which step of one trace is which of another.
#pragma once

#include "engine/review/host/host_steps.h"

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace kernelskill::engine {

inline constexpr std::uint32_t noStep = 0xffffffffu;

struct StepMatching {
    /// Of each step of the first trace its like in the second; noStep for those that only order
    /// others, and for what the host does not read any more.
    std::vector<std::uint32_t> partner;
    std::size_t works = 0; ///< Launches, copies, records and other calls of both.
    std::size_t moved = 0; ///< Of these, those that are in another stream afterwards.
};

/// The n-th of several steps that are the same is matched with the n-th. An error says where the
/// two first ask for something else. Waits may be others, events of its own may order `after`, and
/// it may read more.
[[nodiscard]] std::expected<StepMatching, std::string> matchSteps(const HostTrace& before,
                                                                  const HostTrace& after);

} // namespace kernelskill::engine
