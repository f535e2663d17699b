/// Judges edits that make updates of memory less indivisible, by whether any updates met.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/execution/profile.h"
#include "engine/verdict/check_result.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// Where no two atomics of different threads met, neither results nor races show whether they are
/// needed.
class AtomicContention {
public:
    AtomicContention(KernelRef original, KernelRef candidate);

    /// Whether the edit removes or narrows an atomic that check() is about.
    [[nodiscard]] bool isNeeded() const { return !lost_.empty(); }
    /// Adds what a run of the original saw.
    void add(const std::vector<Contention>& seen);

    /// Performs the check that in each object with an atomic that the edit removes or narrows to
    /// the block, threads, or for the latter blocks, met. An atomic is left out if its place
    /// follows from the thread's index and the arguments alone: then runs of some sizes show
    /// whether threads meet there.
    [[nodiscard]] CheckResult check() const;

private:
    struct Lost {
        std::string object; ///< Empty if unknown.
        std::string call;   ///< "atomicAdd"
        bool isNarrowed = false;
    };

    std::vector<Lost> lost_;
    std::vector<Contention> seen_;
};

} // namespace kernelskill::engine
