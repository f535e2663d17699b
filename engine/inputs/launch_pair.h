/// The launches of an original and of a candidate that solve the same problem.
#pragma once

#include "engine/execution/job.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernelskill::engine {

/// Sets the value and the bytes of an integer argument.
void setInteger(ScalarSpec& scalar, std::int64_t value);

[[nodiscard]] double threadsOf(const LaunchSpec& launch);

/// "n=1023", by its integral scalars; without any, "grid 4x1x1".
[[nodiscard]] std::string labelOf(const LaunchSpec& launch);

/// The candidate's launch of the problem that `original` solves; nullopt if the two are about
/// different sizes, and if the candidate's instance is for other integers. `isLaunched`: the
/// candidate's program launches the kernel.
[[nodiscard]] std::optional<LaunchSpec> paired(const LaunchSpec& original, LaunchSpec candidate,
                                               bool isLaunched);

/// Whether the integers that the candidate's instance is for are those that `original` passes, as
/// far as it passes any.
[[nodiscard]] bool isMadeFor(const LaunchSpec& candidate, const LaunchSpec& original);

/// `candidate` with the grid, the block and the arguments of `other`, and the symbols of it that
/// both have.
[[nodiscard]] LaunchSpec withShapeOf(LaunchSpec candidate, const LaunchSpec& other);

/// Whether each buffer of `candidate` is one of `original`, whose run tells its extent.
[[nodiscard]] bool takesBuffersOf(const LaunchSpec& candidate, const LaunchSpec& original);

/// Whether `original` has each number that `candidate` passes: then its value at another size of
/// the problem is known.
[[nodiscard]] bool takesNumbersOf(const LaunchSpec& candidate, const LaunchSpec& original);

/// `candidate` with those arguments and symbols of `original` that it takes as well.
[[nodiscard]] LaunchSpec withArgumentsOf(LaunchSpec candidate, const LaunchSpec& original);

} // namespace kernelskill::engine
