/// Whether another guess of a launch leads to another diagnosis.
#pragma once

#include "engine/execution/executor.h"
#include "engine/execution/profile.h"

#include <optional>
#include <stop_token>

namespace kernelskill::engine {

/// Profiles the kernel at a smaller size than the guessed launch of `first`. nullopt if that launch
/// is no guess, cannot be made smaller, or does not run in the time that `first` may take.
[[nodiscard]] std::optional<Profile> secondGuess(Executor& executor, KernelRef kernel,
                                                 const Profile& first, const std::stop_token& stop);

} // namespace kernelskill::engine
