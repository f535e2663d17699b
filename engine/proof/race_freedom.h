/// Proves that a kernel has no data race: two symbolic threads that differ are compared.
///
/// Without a proof, nothing is known: the kernel may be free of races all the same. Two atomics do
/// not race.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"
#include "engine/proof/proof.h"

#include <expected>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct RaceFreedom {
    /// Assumed beside the inputs and sizes, as clauses: "out, x do not overlap".
    std::vector<std::string> conditions;
    /// Whether all conditions are that arrays do not overlap.
    bool needsOnlyDistinctArrays = true;

    /// "shown for all inputs and sizes, if out, x do not overlap".
    [[nodiscard]] std::string sentence() const;
};

/// The proof holds for all sizes of launches that have several threads, or several blocks, only
/// along the axes where `launch` has several. `stop` ends it as it ends prove().
[[nodiscard]] std::expected<RaceFreedom, Unproved>
proveNoRace(KernelRef kernel, const LaunchSpec& launch, const std::stop_token& stop);

} // namespace kernelskill::engine
