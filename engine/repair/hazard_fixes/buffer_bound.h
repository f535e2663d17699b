/// Finds the kernel parameter that gives a buffer's length.
#pragma once

#include "engine/execution/job.h"
#include "engine/repair/hazard_fixes/hazard_code.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The number of elements of the buffer passed for a parameter; nullopt if the launch does not
/// tell.
[[nodiscard]] std::optional<std::uint64_t> elementsOf(const LaunchSpec& launch,
                                                      const std::string& parameter);
/// The value passed for an integral parameter.
[[nodiscard]] std::optional<std::int64_t> integerOf(const LaunchSpec& launch,
                                                    const std::string& parameter);

/// The integral parameter that, multiplied by `width` (a parameter or constant of the code; noId:
/// 1), is the length of `buffer` in every launch. Empty unless exactly one parameter is.
[[nodiscard]] std::string boundOf(const HazardCode& code, const std::vector<LaunchSpec>& launches,
                                  const std::string& buffer, analysis::ExprId width);

/// The access that touched `element` of `buffer` in one thread of `launch`, among `candidates`
/// (indices into the kernel's accesses); nullopt if it is ambiguous.
[[nodiscard]] std::optional<std::uint32_t>
accessTouching(const HazardCode& code, const LaunchSpec& launch, const Dim3& block,
               const Dim3& thread, std::int64_t element,
               const std::vector<std::uint32_t>& candidates);

} // namespace kernelskill::engine
