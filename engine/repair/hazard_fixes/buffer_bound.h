/// Which of a kernel's values says how long a buffer is.
#pragma once

#include "engine/execution/job.h"
#include "engine/repair/hazard_fixes/hazard_code.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The number of elements of the buffer passed for a parameter; nullopt when the launch does not
/// say.
[[nodiscard]] std::optional<std::uint64_t> elementsOf(const LaunchSpec& launch,
                                                      const std::string& parameter);
/// The value passed for an integral parameter.
[[nodiscard]] std::optional<std::int64_t> integerOf(const LaunchSpec& launch,
                                                    const std::string& parameter);

/// The one integral parameter that, times `width` (a parameter or constant of the code; noId: 1),
/// is the length of `buffer` in every launch. Empty when there is none or it is not the only one.
[[nodiscard]] std::string boundOf(const HazardCode& code, const std::vector<LaunchSpec>& launches,
                                  const std::string& buffer, analysis::ExprId width);

/// The access that touched `element` of `buffer` in one thread of `launch`, among `candidates`
/// (indices into the kernel's accesses); nullopt when it cannot be told.
[[nodiscard]] std::optional<std::uint32_t>
accessTouching(const HazardCode& code, const LaunchSpec& launch, const Dim3& block,
               const Dim3& thread, std::int64_t element,
               const std::vector<std::uint32_t>& candidates);

} // namespace kernelskill::engine
