/// Whether launches have threads for all elements that a kernel counts to.
#pragma once

#include "engine/proof/launch_text.h"
#include "engine/proof/terms.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace kernelskill::engine {

/// Whether there is a thread for each number below `count`, of which each thread does `width`.
/// `count` is made of parameters ("$parameter2") and constants; false if it is not.
[[nodiscard]] bool covers(const TermTable& terms, const LaunchText& launch, Term count,
                          std::int64_t width = 1);

/// Whether each launch in the kernel's file does. False if there is none.
[[nodiscard]] bool launchesCover(const TermTable& terms, KernelRef kernel, Term count,
                                 std::int64_t width = 1);

/// The number of the kernel's parameter that the term is; -1 if it is none.
[[nodiscard]] int parameterOf(const TermTable& terms, Term term);

/// "n", or "the elements" for what is no parameter alone.
[[nodiscard]] std::string nameOfCount(const TermTable& terms, KernelRef kernel, Term count);

/// Stands for the number of a thread along x; for TermTable::placeThreads().
[[nodiscard]] Term numberOfThread(TermTable& terms, LaunchAssumptions assumptions);
/// The largest number that a thread may have.
[[nodiscard]] Wide lastThread(LaunchAssumptions assumptions);

/// Whether a term has atoms that tell a thread's place: blockIdx, threadIdx, blockDim and gridDim.
/// `allowsTotal` leaves out the number of all threads along x.
[[nodiscard]] bool hasPlace(const TermTable& terms, Term term, bool allowsTotal,
                            std::set<Term>& seen);

} // namespace kernelskill::engine
