/// Finds a host function in another version of its file.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <optional>

namespace kernelskill::engine {

/// Returns the index in `to` of the function of `from` at the index `function`: of the same name
/// and file, with as many functions of that name before it. nullopt if `to` has none.
[[nodiscard]] std::optional<std::uint32_t>
counterpart(const analysis::FileModel& from, std::uint32_t function, const analysis::FileModel& to);

} // namespace kernelskill::engine
