/// Shows of two threads of which nothing is known but that they are two that they do not race.
///
/// Without a proof, nothing is known: the kernel may be free of races all the same. What atomics do
/// to each other is no race.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"
#include "engine/proof/proof.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct RaceFreedom {
    /// Assumed beside the inputs and sizes, as clauses: "out, x do not overlap".
    std::vector<std::string> conditions;

    /// "shown for all inputs and sizes, if out, x do not overlap".
    [[nodiscard]] std::string sentence() const;
};

/// Of launches that have more than one thread or block only along the axes that `launch` has.
[[nodiscard]] std::expected<RaceFreedom, Unproved> proveNoRace(KernelRef kernel,
                                                               const LaunchSpec& launch);

} // namespace kernelskill::engine
