/// How much a search may read, which a run that finds something early does not show.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace kernelskill::engine {

/// The value of the parameter at an index of KernelModel::parameters, if it is known.
using ParameterValue = std::function<std::optional<std::int64_t>(std::size_t)>;

/// For each parameter the elements that its buffer has at least, because a loop that may end early
/// loads one in each round up to its limit; 0 where no such loop tells.
[[nodiscard]] std::vector<std::uint64_t> searchedLengths(const analysis::KernelModel& kernel,
                                                         const ParameterValue& valueOf);

} // namespace kernelskill::engine
