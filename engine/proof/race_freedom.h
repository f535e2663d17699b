/// Proves that a kernel has no data race: two symbolic threads that differ are compared.
///
/// Without a proof, nothing is known: the kernel may be free of races all the same. Two atomics do
/// not race.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"
#include "engine/proof/proof.h"

#include <cstdint>
#include <expected>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The launches that a proof is about.
enum class ProvedLaunches : std::uint8_t {
    AllSizes,   ///< All that have several threads, or blocks, only along the axes where one has.
    ThisLaunch, ///< One, with its grid, block and integers, for all other inputs.
};

struct RaceFreedom {
    ProvedLaunches launches = ProvedLaunches::AllSizes;
    /// Assumed beside the inputs and sizes, as clauses: "out, x do not overlap".
    std::vector<std::string> conditions;
    /// Whether all conditions are that arrays do not overlap.
    bool needsOnlyDistinctArrays = true;

    /// "shown for all inputs and sizes, if out, x do not overlap"; "of this launch" for "and
    /// sizes".
    [[nodiscard]] std::string sentence() const;
};

/// `launch` is the one that ProvedLaunches speaks of. `stop` ends it as it ends prove().
[[nodiscard]] std::expected<RaceFreedom, Unproved>
proveNoRace(KernelRef kernel, const LaunchSpec& launch, const std::stop_token& stop,
            ProvedLaunches launches = ProvedLaunches::AllSizes);

} // namespace kernelskill::engine
